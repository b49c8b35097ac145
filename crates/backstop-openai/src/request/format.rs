//! How the answer is held to JSON: by a schema that the server enforces, by JSON mode, or by the prompt.

use std::sync::Arc;

use backstop_core::{Attempt, Output, OutputSchema, StructuredOutput};
use backstop_http::schema::{self, Dialect, Unsupported};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::models::ModelTraits;

/// What holds the answer to JSON.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Nothing: any text will do.
    Text,
    /// JSON mode, or only the prompt where the server has none.
    Json { mode: bool },
    /// A schema that the server is given.
    Schema { name: String, strict: bool, form: Form },
    /// A schema in the prompt, with JSON mode or without.
    Prompt { mode: bool, form: Form },
}

/// A schema as it was sent and as the caller has it.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    rendered: schema::Rendered,
    original: Arc<Value>,
}

impl Format {
    /// The `response_format` field.
    pub(crate) fn wire(&self) -> Option<ResponseFormat<'_>> {
        match self {
            Self::Text | Self::Json { mode: false } | Self::Prompt { mode: false, .. } => None,
            Self::Json { mode: true } | Self::Prompt { mode: true, .. } => Some(ResponseFormat::JsonObject),
            Self::Schema { name, strict, form } => {
                Some(ResponseFormat::JsonSchema { name, strict: *strict, form })
            }
        }
    }

    /// What the instructions have to add.
    pub(crate) fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema { .. } => None,
            // OpenAI refuses JSON mode unless the prompt speaks of JSON.
            Self::Json { .. } => Some("Answer with JSON only.".to_owned()),
            Self::Prompt { form, .. } => {
                let schema = serde_json::to_string(&form.rendered.wire()).unwrap_or_default();
                Some(format!("Answer only with JSON that follows this JSON Schema:\n{schema}"))
            }
        }
    }

    /// Whether the server was given a format, so that it may have refused it.
    pub(crate) fn is_sent(&self) -> bool {
        self.wire().is_some()
    }

    /// The answer's text in the form of the caller's schema.
    pub(crate) fn restore(&self, text: String) -> String {
        match self {
            Self::Schema { form, .. } | Self::Prompt { form, .. } => {
                form.rendered.restore(&form.original, text)
            }
            Self::Text | Self::Json { .. } => text,
        }
    }
}

/// Chooses the strongest form that model, schema and way of answering allow.
pub(crate) fn choose(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    streaming: bool,
    notes: &mut Vec<String>,
) -> Format {
    use StructuredOutput::{JsonObject, Strict};
    let able = traits.capabilities.structured_output.unwrap_or(Strict);
    let mode = matches!(able, Strict | JsonObject) && !attempt.prompt_only();
    match &attempt.request.output {
        Output::Json => Format::Json { mode },
        Output::Schema(wanted) if able == Strict && !attempt.json_mode() => {
            by_schema(wanted, streaming, notes).unwrap_or_else(|why| {
                notes.push(format!("the schema went into the prompt: {why}"));
                in_prompt(wanted, mode, streaming)
            })
        }
        Output::Schema(wanted) => in_prompt(wanted, mode, streaming),
        _ => Format::Text,
    }
}

fn by_schema(wanted: &OutputSchema, streaming: bool, notes: &mut Vec<String>) -> Result<Format, Unsupported> {
    let strict = schema::render(&wanted.schema, &Dialect::OPENAI_STRICT);
    let (strict, rendered) = match strict {
        // A stream's text goes out as it comes, so it must need no change.
        Ok(rendered) if !(streaming && rendered.changes_answers()) => (true, rendered),
        other => {
            if let Err(why) = other {
                notes.push(format!("the schema is not enforced by the server: {why}"));
            }
            (false, schema::render(&wanted.schema, &Dialect::OPENAI_LOOSE)?)
        }
    };
    if streaming && rendered.changes_answers() {
        return Ok(in_prompt(wanted, false, streaming));
    }
    let form = Form { rendered, original: Arc::clone(&wanted.schema) };
    Ok(Format::Schema { name: wire_name(&wanted.name), strict, form })
}

fn in_prompt(wanted: &OutputSchema, mode: bool, streaming: bool) -> Format {
    // JSON mode gives objects only.
    match schema::render(&wanted.schema, &Dialect::PROMPT) {
        Ok(rendered) if mode && !(streaming && rendered.changes_answers()) => {
            Format::Prompt { mode, form: Form { rendered, original: Arc::clone(&wanted.schema) } }
        }
        _ => Format::Prompt { mode: false, form: as_is(wanted) },
    }
}

fn as_is(wanted: &OutputSchema) -> Form {
    let any_root = Dialect { object_root: false, ..Dialect::PROMPT };
    let rendered = schema::render(&wanted.schema, &any_root)
        .unwrap_or_else(|_| schema::Rendered::unchanged(Value::clone(&wanted.schema)));
    Form { rendered, original: Arc::clone(&wanted.schema) }
}

/// OpenAI takes 1 to 64 letters, digits, `_` and `-`.
fn wire_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(fit).take(64).collect();
    if name.is_empty() { "answer".to_owned() } else { name }
}

/// The `response_format` field.
pub(crate) enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { name: &'a str, strict: bool, form: &'a Form },
}

impl Serialize for ResponseFormat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::JsonObject => map.serialize_entry("type", "json_object")?,
            Self::JsonSchema { name, strict, form } => {
                map.serialize_entry("type", "json_schema")?;
                map.serialize_entry(
                    "json_schema",
                    &Named { name, strict: *strict, schema: form.rendered.wire() },
                )?;
            }
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    strict: bool,
    schema: schema::Wire<'a>,
}
