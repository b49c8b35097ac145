//! How the answer is held to JSON: by a schema that the server enforces, by a tool that must be called, by JSON mode,
//! or by the prompt.
//!
//! The strongest form that model, server and schema allow is asked for first. A form that the server has refused is
//! not asked for again: then it is JSON mode with the schema in the prompt, and in the end the prompt alone.
//!
//! A schema is rendered anew for each attempt: 22 µs for one of 12 fields, 0.2 ms for 100 fields (strict, release
//! build), which no model's answer is fast enough to notice. So there is no cache to go stale.

use std::borrow::Cow;

use backstop_core::{
    Attempt, Chunk, FinishKind, FinishReason, Output, OutputSchema, Response, StructuredOutput, ToolChoice,
};
use backstop_http::schema::{Dialect, Form};

use crate::{models::ModelTraits, params::wire_name, preset::Schemas};

/// What holds the answer to JSON.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Nothing: any text will do.
    Text,
    /// JSON mode, or only the prompt where the server has none.
    Json { mode: bool },
    /// A schema that the server is given.
    Schema {
        name: String,
        strict: bool,
        form: Form,
        /// It stands in the prompt as well.
        shown: bool,
    },
    /// A tool whose arguments are the answer.
    Tool {
        name: String,
        form: Form,
        /// The caller's tools may be called instead.
        among_others: bool,
    },
    /// A schema in the prompt, with JSON mode or without.
    Prompt { mode: bool, form: Form },
}

impl Format {
    /// What the instructions have to add.
    pub(crate) fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema { shown: false, .. } | Self::Tool { .. } => None,
            // OpenAI refuses JSON mode unless the prompt speaks of JSON.
            Self::Json { .. } => Some("Answer with JSON only.".to_owned()),
            Self::Schema { form, .. } | Self::Prompt { form, .. } => {
                let schema = serde_json::to_string(form).unwrap_or_default();
                Some(format!("Answer only with JSON that follows this JSON Schema:\n{schema}"))
            }
        }
    }

    /// Whether the server was told what the answer must be, so that it may have refused that.
    pub(crate) fn refusable(&self) -> bool {
        match self {
            Self::Schema { .. } | Self::Tool { .. } => true,
            Self::Json { mode } | Self::Prompt { mode, .. } => *mode,
            Self::Text => false,
        }
    }

    /// The name and the arguments' schema of the tool that takes the answer.
    pub(crate) fn answer_tool(&self) -> Option<(&str, &Form)> {
        match self {
            Self::Tool { name, form, .. } => Some((name, form)),
            _ => None,
        }
    }

    /// What the request says about calling tools, by what the caller says.
    pub(crate) fn tool_choice<'a>(&'a self, own: &'a ToolChoice) -> Cow<'a, ToolChoice> {
        match self {
            Self::Tool { among_others: true, .. } => Cow::Owned(ToolChoice::Required),
            Self::Tool { name, .. } => Cow::Owned(ToolChoice::Tool(name.clone())),
            _ => Cow::Borrowed(own),
        }
    }

    /// A whole answer with its text where the caller expects it, in the form of the caller's schema.
    pub(crate) fn restore(&self, mut response: Response) -> Response {
        if let Self::Tool { name, .. } = self {
            take_answer(&mut response, name);
        }
        match self {
            Self::Schema { form, .. } | Self::Tool { form, .. } | Self::Prompt { form, .. } => {
                let text = std::mem::take(&mut response.text);
                response.text = form.restore(text);
            }
            Self::Text | Self::Json { .. } => {}
        }
        response
    }

    /// The same for the chunks of a stream.
    pub(crate) fn restorer(&self) -> Option<AnswerChunks> {
        let (name, _) = self.answer_tool()?;
        Some(AnswerChunks { name: name.to_owned(), index: None, others: false })
    }
}

/// Makes the arguments of the first call of the answer's tool the text.
fn take_answer(response: &mut Response, name: &str) {
    let (mut answers, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut response.tool_calls).into_iter().partition(|call| call.name == name);
    response.tool_calls = others;
    if answers.is_empty() {
        return;
    }
    response.text = answers.swap_remove(0).arguments;
    if response.tool_calls.is_empty() {
        stopped(&mut response.finish);
    }
}

/// To the caller, who knows nothing of the tool, the model was just done.
fn stopped(finish: &mut FinishReason) {
    if finish.kind == FinishKind::ToolCalls {
        finish.kind = FinishKind::Stop;
    }
}

/// Turns the pieces of the answer's tool call into pieces of text.
#[derive(Clone, Debug)]
pub(crate) struct AnswerChunks {
    name: String,
    /// Which call it is, once it has begun.
    index: Option<usize>,
    /// Other tools are called as well.
    others: bool,
}

impl AnswerChunks {
    pub(crate) fn restore(&mut self, chunk: Chunk) -> Chunk {
        match chunk {
            Chunk::ToolCall { index, name, arguments, id } => {
                if self.index.is_none() && name.as_ref() == Some(&self.name) {
                    self.index = Some(index);
                }
                if self.index == Some(index) {
                    return if arguments.is_empty() { Chunk::Ping } else { Chunk::Text(arguments) };
                }
                self.others = true;
                Chunk::ToolCall { index, id, name, arguments }
            }
            Chunk::End(mut finish) => {
                if self.index.is_some() && !self.others {
                    stopped(&mut finish);
                }
                Chunk::End(finish)
            }
            other => other,
        }
    }
}

/// Chooses the strongest form that model, server, schema and way of answering allow.
pub(crate) fn choose(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    schemas: Schemas,
    streaming: bool,
    notes: &mut Vec<String>,
) -> Format {
    use StructuredOutput::{JsonObject, Strict, Tool};
    let able = traits.capabilities.structured_output.unwrap_or(Strict);
    let mode = able != StructuredOutput::None && traits.json_object && !attempt.prompt_only();
    let wanted = match &attempt.request.output {
        Output::Json => return Format::Json { mode },
        Output::Schema(wanted) => wanted,
        _ => return Format::Text,
    };
    if attempt.json_mode() {
        // What was refused was a schema or a tool, or for those that have neither, JSON mode.
        return in_prompt(wanted, mode && able != JsonObject, streaming);
    }
    let form = match able {
        Strict => by_schema(wanted, schemas, traits.schema_in_prompt, streaming, notes),
        Tool => by_tool(attempt, wanted, streaming),
        _ => return in_prompt(wanted, mode, streaming),
    };
    form.unwrap_or_else(|why| {
        notes.push(format!("the schema went into the prompt: {why}"));
        in_prompt(wanted, mode, streaming)
    })
}

fn by_schema(
    wanted: &OutputSchema,
    schemas: Schemas,
    shown: bool,
    streaming: bool,
    notes: &mut Vec<String>,
) -> Result<Format, String> {
    let (strict, form) = match schemas {
        Schemas::Grammar => (true, Form::render(wanted, &Dialect::GRAMMAR, streaming)?),
        Schemas::OpenAi => match Form::render(wanted, &Dialect::OPENAI_STRICT, streaming) {
            Ok(form) => (true, form),
            Err(why) => {
                notes.push(format!("the schema is not enforced by the server: {why}"));
                (false, Form::render(wanted, &Dialect::OPENAI_LOOSE, streaming)?)
            }
        },
    };
    Ok(Format::Schema { name: wire_name(&wanted.name).into_owned(), strict, form, shown })
}

fn by_tool(attempt: &Attempt<'_>, wanted: &OutputSchema, streaming: bool) -> Result<Format, String> {
    let request = attempt.request;
    let own_tools = !request.tools.is_empty();
    if own_tools && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_)) {
        return Err("the request forces a tool of its own".to_owned());
    }
    let form = Form::render(wanted, &Dialect::OPENAI_LOOSE, streaming)?;
    let mut name: String = wire_name(&wanted.name).chars().take(48).collect();
    while request.tools.iter().any(|tool| tool.name == name) {
        name.push('_');
    }
    let among_others = own_tools && request.tool_choice == ToolChoice::Auto;
    Ok(Format::Tool { name, form, among_others })
}

fn in_prompt(wanted: &OutputSchema, mode: bool, streaming: bool) -> Format {
    // JSON mode gives objects only.
    let object = if mode { Form::render(wanted, &Dialect::PROMPT, streaming).ok() } else { None };
    match object {
        Some(form) => Format::Prompt { mode, form },
        None => Format::Prompt { mode: false, form: Form::as_is(wanted) },
    }
}
