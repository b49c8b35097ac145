//! The JSON of Chat Completions.

mod messages;

use backstop_core::{FailureKind, Media, MediaSource, Part, ProviderError, ToolChoice};
use backstop_http::{Fields, schema::Form};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::json;

use messages::Messages;

use crate::{
    format::Format,
    parts::{Parameters, Parts, ToolView},
};

/// The body of a request.
pub(crate) struct Chat<'a>(&'a Parts<'a>);

impl<'a> Chat<'a> {
    /// # Errors
    /// The request has something that Chat Completions has no form for.
    pub(crate) fn new(parts: &'a Parts<'a>) -> Result<Self, ProviderError> {
        let by_address =
            |part: &Part| matches!(part, Part::Document(Media { source: MediaSource::Url(_), .. }));
        if parts.attempt.messages().flat_map(|message| &message.parts).any(by_address) {
            let message = "Chat Completions takes documents as bytes only, not by address";
            return Err(ProviderError::new(FailureKind::Unsupported, message));
        }
        Ok(Self(parts))
    }
}

impl Serialize for Chat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0;
        let mut fields = Fields::of_body(serializer.serialize_map(None)?, parts.attempt);
        fields.put("model", parts.attempt.model)?;
        fields.put("messages", &Messages(parts))?;
        for (name, value) in parts.params.iter() {
            fields.put(name, &value)?;
        }
        fields.maybe("response_format", response_format(parts.format))?;
        self.tools(&mut fields)?;
        fields.maybe("provider", parts.routing())?;
        if parts.streaming {
            fields.put("stream", &true)?;
            if parts.server.stream_usage {
                fields.put("stream_options", &json!({ "include_usage": true }))?;
            }
        }
        for (name, value) in parts.server.body() {
            fields.put(name, value)?;
        }
        fields.end()
    }
}

impl Chat<'_> {
    fn tools<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        let tools: Vec<WireTool<'_>> = self.0.tools().into_iter().map(WireTool::from).collect();
        if tools.is_empty() {
            return Ok(());
        }
        fields.put("tools", &tools)?;
        match self.0.tool_choice().as_ref() {
            ToolChoice::None => fields.put("tool_choice", "none"),
            ToolChoice::Required => fields.put("tool_choice", "required"),
            ToolChoice::Tool(name) => {
                fields.put("tool_choice", &json!({ "type": "function", "function": { "name": name } }))
            }
            // The default of every server, and some do not know the field.
            _ => Ok(()),
        }
    }
}

fn response_format(format: &Format) -> Option<ResponseFormat<'_>> {
    match format {
        Format::Json { mode: true } | Format::Prompt { mode: true, .. } => Some(ResponseFormat::JsonObject),
        Format::Schema { name, strict, form, .. } => {
            let json_schema = Named { name, strict: *strict, schema: form };
            Some(ResponseFormat::JsonSchema { json_schema })
        }
        _ => None,
    }
}

/// The `response_format` field.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: Named<'a> },
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Form,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: Parameters<'a>,
}

impl<'a> From<ToolView<'a>> for WireTool<'a> {
    fn from(tool: ToolView<'a>) -> Self {
        let ToolView { name, description, parameters } = tool;
        Self { r#type: "function", function: Function { name, description, parameters } }
    }
}

#[cfg(test)]
mod tests;
