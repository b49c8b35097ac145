//! From an attempt to the JSON of Chat Completions.
//!
//! Everything is serialised from borrowed parts straight into the bytes that are sent: the prompt is copied once,
//! however large it is.

mod format;
mod messages;

use backstop_core::{Attempt, FailureKind, ProviderError, Request, Tool, ToolChoice};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

pub(crate) use format::Format;
use messages::Messages;

use crate::{
    models::{ModelTraits, TokenLimit},
    options::OpenAiOptions,
};

/// Parameters without which a request is still the same request.
pub(crate) const OPTIONAL: &[&str] = &[
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream_options",
    "temperature",
    "top_p",
    "verbosity",
];

/// A request that is ready to be sent.
pub(crate) struct Rendered {
    pub(crate) body: Vec<u8>,
    /// How the answer is to be read.
    pub(crate) format: Format,
    /// What of the request could not be honoured.
    pub(crate) notes: Vec<String>,
}

/// Renders an attempt.
pub(crate) fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    streaming: Option<StreamUsage>,
) -> Result<Rendered, ProviderError> {
    messages::check(attempt)?;
    let options: OpenAiOptions = attempt
        .request
        .options_of()
        .map_err(|error| invalid(format!("the options for `openai` cannot be read: {error}")))?
        .unwrap_or_default();
    let mut notes = Vec::new();
    let format = format::choose(attempt, traits, streaming.is_some(), &mut notes);
    // With reasoning switched off, a reasoning model samples like any other.
    let sampling = traits.sampling || options.reasoning_effort.as_deref() == Some("none");
    let chat = Chat { attempt, traits, options: &options, format: &format, streaming, sampling };
    chat.note_omissions(&mut notes);
    let mut body = Vec::with_capacity(messages::room(attempt));
    serde_json::to_writer(&mut body, &chat)
        .map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
    Ok(Rendered { body, format, notes })
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

/// Whether a stream is asked for its token counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamUsage {
    Asked,
    NotAsked,
}

struct Chat<'a> {
    attempt: &'a Attempt<'a>,
    traits: &'a ModelTraits,
    options: &'a OpenAiOptions,
    format: &'a Format,
    streaming: Option<StreamUsage>,
    sampling: bool,
}

impl Chat<'_> {
    fn request(&self) -> &Request {
        self.attempt.request
    }

    fn note_omissions(&self, notes: &mut Vec<String>) {
        let request = self.request();
        let left_out = [
            ("temperature", request.temperature.is_some() && !self.sampling),
            ("top_p", request.top_p.is_some() && !self.sampling),
            ("stop", !request.stop.is_empty() && !self.traits.stop),
        ];
        for (name, _) in left_out.iter().filter(|(_, left_out)| *left_out) {
            notes.push(format!("`{name}` was left out: {} does not take it", self.attempt.model));
        }
    }
}

impl Serialize for Chat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request();
        let mut fields = Fields { map: serializer.serialize_map(None)?, attempt: self.attempt };
        fields.put("model", self.attempt.model)?;
        fields
            .put("messages", &Messages { attempt: self.attempt, traits: self.traits, format: self.format })?;
        let limit = match self.traits.token_limit {
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
            TokenLimit::MaxTokens => "max_tokens",
        };
        fields.maybe(limit, self.attempt.max_tokens())?;
        fields.maybe("temperature", request.temperature.filter(|_| self.sampling))?;
        fields.maybe("top_p", request.top_p.filter(|_| self.sampling))?;
        fields.maybe("stop", Some(&request.stop).filter(|stop| !stop.is_empty() && self.traits.stop))?;
        fields.maybe("seed", request.seed)?;
        fields.maybe("response_format", self.format.wire())?;
        self.tools(&mut fields)?;
        self.extras(&mut fields)?;
        if let Some(usage) = self.streaming {
            fields.put("stream", &true)?;
            if usage == StreamUsage::Asked {
                fields.put("stream_options", &json!({ "include_usage": true }))?;
            }
        }
        for (key, value) in &request.extra_body {
            fields.map.serialize_entry(key, value)?;
        }
        fields.map.end()
    }
}

impl Chat<'_> {
    fn tools<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        let request = self.request();
        if request.tools.is_empty() {
            return Ok(());
        }
        let tools: Vec<WireTool<'_>> = request.tools.iter().map(WireTool::from).collect();
        fields.put("tools", &tools)?;
        match &request.tool_choice {
            ToolChoice::None => fields.put("tool_choice", "none"),
            ToolChoice::Required => fields.put("tool_choice", "required"),
            ToolChoice::Tool(name) => {
                fields.put("tool_choice", &json!({ "type": "function", "function": { "name": name } }))
            }
            // The default of every server, and some do not know the field.
            _ => Ok(()),
        }
    }

    fn extras<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        let options = self.options;
        fields.maybe("reasoning_effort", options.reasoning_effort.as_deref())?;
        fields.maybe("verbosity", options.verbosity.as_deref())?;
        fields.maybe("service_tier", options.service_tier.as_deref())?;
        fields.maybe("parallel_tool_calls", options.parallel_tool_calls)?;
        fields.maybe("store", options.store)?;
        fields.maybe("prompt_cache_key", options.prompt_cache_key.as_deref())?;
        fields.maybe("safety_identifier", options.safety_identifier.as_deref())?;
        fields.maybe("presence_penalty", options.presence_penalty)?;
        fields.maybe("frequency_penalty", options.frequency_penalty)?;
        // OpenAI takes metadata only with answers that it keeps.
        let metadata =
            Some(&self.request().metadata).filter(|map| !map.is_empty() && options.store == Some(true));
        fields.maybe("metadata", metadata)
    }
}

/// The fields of the body. What `extra_body` sets, or a vendor has refused before, is not written.
struct Fields<'a, M> {
    map: M,
    attempt: &'a Attempt<'a>,
}

impl<M: SerializeMap> Fields<'_, M> {
    fn put<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), M::Error> {
        if self.attempt.request.extra_body.contains_key(key) || self.attempt.is_dropped(key) {
            return Ok(());
        }
        self.map.serialize_entry(key, value)
    }

    fn maybe<T: Serialize>(&mut self, key: &'static str, value: Option<T>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.put(key, &value))
    }
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
    parameters: &'a Value,
}

impl<'a> From<&'a Tool> for WireTool<'a> {
    fn from(tool: &'a Tool) -> Self {
        let function = Function {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: &tool.parameters,
        };
        Self { r#type: "function", function }
    }
}

#[cfg(test)]
mod tests;
