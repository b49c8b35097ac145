//! How the answer is held to JSON: by a schema that the server enforces, by JSON mode, or by the prompt.

use std::sync::Arc;

use backstop_core::{Attempt, Output, OutputSchema, StructuredOutput, ToolChoice};
use backstop_http::{
    Fields,
    schema::{self, Dialect, Wire},
};
use serde::ser::SerializeMap;
use serde_json::Value;

use crate::models::{ModelTraits, SchemaField};

/// What holds the answer to JSON.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// Nothing: any text will do.
    Text,
    /// JSON mode, or only the prompt where it cannot be had.
    Json { mode: bool },
    /// A schema that the server enforces.
    Schema { field: SchemaField, rendered: Arc<schema::Rendered> },
    /// A schema in the prompt, with JSON mode or without.
    Prompt { mode: bool, schema: Arc<Value> },
}

impl Format {
    /// Writes its fields of `generationConfig`.
    pub(super) fn write<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        match self {
            Self::Text | Self::Json { mode: false } | Self::Prompt { mode: false, .. } => return Ok(()),
            Self::Json { .. } | Self::Prompt { .. } => {}
            Self::Schema { field: SchemaField::JsonSchema, rendered } => {
                fields.put("responseJsonSchema", &rendered.wire())?;
            }
            Self::Schema { field: SchemaField::OpenApi, rendered } => {
                fields.put("responseSchema", &rendered.wire())?;
            }
        }
        fields.put("responseMimeType", "application/json")
    }

    /// What the instructions have to add.
    pub(super) fn instructions(&self) -> Option<String> {
        match self {
            Self::Text | Self::Schema { .. } => None,
            Self::Json { .. } => Some("Answer with JSON only.".to_owned()),
            Self::Prompt { schema, .. } => {
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

/// Chooses the strongest form that model, schema and tools allow.
pub(super) fn choose(attempt: &Attempt<'_>, traits: &ModelTraits, notes: &mut Vec<String>) -> Format {
    use StructuredOutput::{JsonObject, Strict};
    let request = attempt.request;
    let able = traits.capabilities.structured_output.unwrap_or(Strict);
    let beside_tools = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
    let alone = traits.json_with_tools || !beside_tools;
    // Beside tools, what was refused may have been the mode and not the schema.
    let refused = attempt.prompt_only() || beside_tools && attempt.json_mode();
    let mode = alone && !refused && matches!(able, Strict | JsonObject);
    let wanted = match &request.output {
        Output::Json => return Format::Json { mode },
        Output::Schema(wanted) => wanted,
        _ => return Format::Text,
    };
    let in_prompt = || Format::Prompt { mode, schema: Arc::clone(&wanted.schema) };
    if !alone {
        notes.push(format!("the schema went into the prompt: {} takes none beside tools", attempt.model));
        return in_prompt();
    }
    if able != Strict || attempt.json_mode() {
        return in_prompt();
    }
    by_schema(wanted, traits.schema_field).unwrap_or_else(|why| {
        notes.push(format!("the schema went into the prompt: {why}"));
        in_prompt()
    })
}

fn by_schema(wanted: &OutputSchema, field: SchemaField) -> Result<Format, String> {
    let dialect = dialect(field);
    let rendered = schema::render_shared(&wanted.schema, dialect).map_err(|why| why.to_string())?;
    // Neither dialect wraps or widens; the text of a stream, which is on its way already, could not be changed back.
    if rendered.changes_answers() {
        return Err(format!("it would change answers in {}", dialect.name));
    }
    Ok(Format::Schema { field, rendered })
}

pub(super) fn dialect(field: SchemaField) -> &'static Dialect {
    match field {
        SchemaField::JsonSchema => &Dialect::GEMINI_JSON,
        SchemaField::OpenApi => &Dialect::GEMINI_OPENAPI,
    }
}
