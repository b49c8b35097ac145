//! The JSON of Responses.

mod input;

use backstop_core::ToolChoice;
use backstop_http::{Fields, schema::Form};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::json;

use input::Input;

use crate::{
    format::Format,
    params::Param,
    parts::{Parameters, Parts},
};

/// The body of a request.
pub(crate) struct Respond<'a>(pub(crate) &'a Parts<'a>);

impl Serialize for Respond<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0;
        let mut fields = Fields::of_body(serializer.serialize_map(None)?, parts.attempt);
        fields.put("model", parts.attempt.model)?;
        fields.maybe("instructions", parts.request().system.as_deref())?;
        fields.put("input", &Input(parts))?;
        for (name, value) in parts.params.iter() {
            // These two stand inside of others.
            if !matches!(name, "reasoning_effort" | "verbosity") {
                fields.put(name, &value)?;
            }
        }
        let effort = parts.params.get("reasoning_effort");
        fields.maybe("reasoning", effort.map(|effort| Reasoning { effort }))?;
        let text = Text { format: text_format(parts.format), verbosity: parts.params.get("verbosity") };
        fields.maybe("text", Some(text).filter(|text| !text.is_empty()))?;
        // OpenAI keeps answers for a month unless it is told not to; nothing here ever refers to an earlier one.
        if parts.options.store.is_none() && !parts.server.lacks("store") {
            fields.put("store", &false)?;
        }
        self.tools(&mut fields)?;
        fields.maybe("provider", parts.routing())?;
        if parts.streaming {
            fields.put("stream", &true)?;
        }
        for (name, value) in parts.server.body() {
            fields.put(name, value)?;
        }
        fields.end()
    }
}

impl Respond<'_> {
    fn tools<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        let tools = self.0.tools();
        if tools.is_empty() {
            return Ok(());
        }
        // Strict unless it says otherwise, and a caller's schema need not be in the strict subset.
        let wire = tools.iter().map(|tool| WireTool {
            r#type: "function",
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters,
            strict: false,
        });
        fields.put("tools", &wire.collect::<Vec<_>>())?;
        match self.0.tool_choice().as_ref() {
            ToolChoice::None => fields.put("tool_choice", "none"),
            ToolChoice::Required => fields.put("tool_choice", "required"),
            ToolChoice::Tool(name) => fields.put("tool_choice", &json!({ "type": "function", "name": name })),
            _ => Ok(()),
        }
    }
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: Param<'a>,
}

/// The `text` field.
#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<TextFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<Param<'a>>,
}

impl Text<'_> {
    fn is_empty(&self) -> bool {
        self.format.is_none() && self.verbosity.is_none()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextFormat<'a> {
    JsonObject,
    JsonSchema { name: &'a str, strict: bool, schema: &'a Form },
}

fn text_format(format: &Format) -> Option<TextFormat<'_>> {
    match format {
        Format::Json { mode: true } | Format::Prompt { mode: true, .. } => Some(TextFormat::JsonObject),
        Format::Schema { name, strict, form, .. } => {
            Some(TextFormat::JsonSchema { name, strict: *strict, schema: form })
        }
        _ => None,
    }
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: Parameters<'a>,
    strict: bool,
}

#[cfg(test)]
mod tests;
