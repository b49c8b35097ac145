//! How the answer is held to JSON: by a grammar that the server makes of the schema, by JSON mode, or by the prompt.

use std::sync::Arc;

use backstop_core::{Attempt, Output, OutputSchema, StructuredOutput};
use backstop_http::schema::{self, Dialect, Wire};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::models::ModelTraits;

/// What holds the answer to JSON.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Nothing: any text will do.
    Text,
    /// JSON mode, or only the prompt where it cannot be had.
    Json { mode: bool },
    /// A schema that the server enforces, and that the prompt repeats or not.
    Schema { rendered: Arc<schema::Rendered>, prompt: Option<Arc<Value>> },
    /// A schema in the prompt, with JSON mode or without.
    Prompt { mode: bool, schema: Arc<Value> },
}

impl Format {
    /// The field `format`.
    pub(super) fn wire(&self) -> Option<WireFormat<'_>> {
        match self {
            Self::Text | Self::Json { mode: false } | Self::Prompt { mode: false, .. } => None,
            Self::Json { .. } | Self::Prompt { .. } => Some(WireFormat::Json),
            Self::Schema { rendered, .. } => Some(WireFormat::Schema(rendered.wire())),
        }
    }

    /// What the instructions have to add.
    pub(super) fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema { prompt: None, .. } => None,
            // Without a word about JSON, JSON mode makes some models write blanks for ever.
            Self::Json { .. } => Some("Answer with JSON only.".to_owned()),
            Self::Schema { prompt: Some(schema), .. } | Self::Prompt { schema, .. } => {
                let schema = serde_json::to_string(&Wire(schema)).unwrap_or_default();
                Some(format!("Answer only with JSON that follows this JSON Schema:\n{schema}"))
            }
        }
    }

    /// Whether the server was given a schema, so that it may have refused it.
    pub(crate) fn has_schema(&self) -> bool {
        matches!(self, Self::Schema { .. })
    }
}

/// The field `format`.
pub(super) enum WireFormat<'a> {
    Json,
    Schema(Wire<'a>),
}

impl Serialize for WireFormat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json => serializer.serialize_str("json"),
            Self::Schema(schema) => schema.serialize(serializer),
        }
    }
}

/// Chooses the strongest form that model and schema allow.
pub(super) fn choose(attempt: &Attempt<'_>, traits: &ModelTraits, notes: &mut Vec<String>) -> Format {
    use StructuredOutput::{JsonObject, Strict};
    let able = traits.capabilities.structured_output.unwrap_or(Strict);
    let mode = matches!(able, Strict | JsonObject) && !attempt.prompt_only();
    let wanted = match &attempt.request.output {
        Output::Json => return Format::Json { mode },
        Output::Schema(wanted) => wanted,
        _ => return Format::Text,
    };
    // JSON mode gives objects only.
    let object = wanted.schema.get("type").is_some_and(|kind| kind == "object");
    let in_prompt = || Format::Prompt { mode: mode && object, schema: Arc::clone(&wanted.schema) };
    if able != Strict || attempt.json_mode() {
        return in_prompt();
    }
    by_schema(wanted, traits).unwrap_or_else(|why| {
        notes.push(format!("the schema went into the prompt: {why}"));
        in_prompt()
    })
}

fn by_schema(wanted: &OutputSchema, traits: &ModelTraits) -> Result<Format, String> {
    let rendered = schema::render_shared(&wanted.schema, &Dialect::GRAMMAR).map_err(|why| why.to_string())?;
    // The dialect neither wraps nor widens; the text of a stream, which is on its way already, could not be changed
    // back.
    if rendered.changes_answers() {
        return Err("it would change answers".to_owned());
    }
    let prompt = traits.schema_in_prompt.then(|| Arc::clone(&wanted.schema));
    Ok(Format::Schema { rendered, prompt })
}
