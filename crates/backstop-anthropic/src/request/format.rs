//! How the answer is held to JSON: by the vendor's output format, by a tool that must be called, or by the prompt.

use backstop_core::{Attempt, Output, OutputSchema, Role, StructuredOutput, ToolChoice};
use backstop_http::schema::{Dialect, Form};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::tools::{InputSchema, WireTool, can_force};
use crate::{models::ModelTraits, options::AnthropicOptions};

/// What holds the answer to JSON.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Nothing: any text will do.
    Text,
    /// The prompt asks for JSON.
    Json,
    /// The vendor's own output format.
    Schema(Form),
    /// A tool whose input is the answer.
    Tool {
        name: String,
        form: Form,
        /// The caller's tools may be called instead.
        among_others: bool,
    },
    /// A schema in the prompt.
    Prompt(Form),
}

impl Format {
    /// The `format` field of `output_config`.
    pub(super) fn wire(&self) -> Option<Wire<'_>> {
        match self {
            Self::Schema(form) => Some(Wire(form)),
            _ => None,
        }
    }

    /// The tool that takes the answer.
    pub(super) fn tool(&self) -> Option<WireTool<'_>> {
        let Self::Tool { name, form, .. } = self else { return None };
        let description = Some("Takes the answer. Call it once, with the whole answer.");
        Some(WireTool { name, description, input_schema: InputSchema(form.schema()) })
    }

    /// The name of the tool that takes the answer.
    pub(crate) fn answer_tool(&self) -> Option<&str> {
        match self {
            Self::Tool { name, .. } => Some(name),
            _ => None,
        }
    }

    /// What the instructions have to add.
    pub(super) fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema(_) | Self::Tool { .. } => None,
            Self::Json => Some("Answer with JSON only.".to_owned()),
            Self::Prompt(form) => {
                let schema = serde_json::to_string(form).unwrap_or_default();
                Some(format!("Answer with nothing but JSON that follows this JSON Schema:\n{schema}"))
            }
        }
    }

    /// Whether the vendor was given a schema, so that it may have refused it.
    pub(crate) fn has_schema(&self) -> bool {
        matches!(self, Self::Schema(_) | Self::Tool { .. })
    }

    /// The answer's text in the form of the caller's schema.
    pub(crate) fn restore(&self, text: String) -> String {
        match self {
            Self::Schema(form) | Self::Tool { form, .. } | Self::Prompt(form) => form.restore(text),
            Self::Text | Self::Json => text,
        }
    }
}

/// What the choice depends on.
struct Case<'a> {
    attempt: &'a Attempt<'a>,
    wanted: &'a OutputSchema,
    can_force: bool,
    streaming: bool,
}

/// Chooses the strongest form that model, schema and way of answering allow.
pub(super) fn choose(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    options: &AnthropicOptions,
    streaming: bool,
    notes: &mut Vec<String>,
) -> Format {
    let wanted = match &attempt.request.output {
        Output::Schema(wanted) => wanted,
        Output::Json => return Format::Json,
        _ => return Format::Text,
    };
    let case = Case { attempt, wanted, can_force: can_force(traits, options), streaming };
    let able = traits.capabilities.structured_output.unwrap_or(StructuredOutput::Strict);
    let ways: &[Way<'_>] = match able {
        StructuredOutput::Strict => &[Case::by_vendor, Case::by_tool],
        StructuredOutput::Tool => &[Case::by_tool],
        _ => &[],
    };
    if attempt.prompt_only() {
        return Format::Prompt(Form::as_is(wanted));
    }
    // A schema that the vendor has refused is given to it in the next weaker form.
    let mut refused = attempt.json_mode();
    for way in ways {
        match way(&case) {
            Ok(_) if refused => refused = false,
            Ok(format) => return format,
            Err(why) => notes.push(why),
        }
    }
    Format::Prompt(Form::as_is(wanted))
}

/// One of the forms, or why it is not to be had.
type Way<'a> = fn(&Case<'a>) -> Result<Format, String>;

impl Case<'_> {
    fn by_vendor(&self) -> Result<Format, String> {
        let form = self.render(&Dialect::ANTHROPIC);
        form.map(Format::Schema).map_err(|why| format!("the schema is not enforced by the vendor: {why}"))
    }

    fn by_tool(&self) -> Result<Format, String> {
        self.try_tool().map_err(|why| format!("the schema went into the prompt: {why}"))
    }

    fn try_tool(&self) -> Result<Format, String> {
        let request = self.attempt.request;
        let own_tools = !request.tools.is_empty();
        if !self.can_force {
            return Err("the model cannot be made to call a tool".to_owned());
        }
        if own_tools && matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_)) {
            return Err("the request forces a tool of its own".to_owned());
        }
        let form = self.render(&Dialect::ANTHROPIC_TOOL)?;
        let among_others = own_tools && request.tool_choice == ToolChoice::Auto;
        Ok(Format::Tool { name: self.tool_name(), form, among_others })
    }

    fn render(&self, dialect: &Dialect) -> Result<Form, String> {
        if self.attempt.messages().last().is_some_and(|message| message.role == Role::Assistant) {
            return Err("the last message has begun the answer".to_owned());
        }
        Form::render(self.wanted, dialect, self.streaming)
    }

    /// The vendor takes letters, digits, `_` and `-`, and no name twice.
    fn tool_name(&self) -> String {
        let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let mut name: String = self.wanted.name.chars().map(fit).take(48).collect();
        if name.is_empty() {
            name.push_str("answer");
        }
        while self.attempt.request.tools.iter().any(|tool| tool.name == name) {
            name.push('_');
        }
        name
    }
}

/// The `format` field of `output_config`.
pub(super) struct Wire<'a>(&'a Form);

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "json_schema")?;
        map.serialize_entry("schema", self.0)?;
        map.end()
    }
}
