//! From an attempt to the JSON of the Messages API.
//!
//! Everything is serialised from borrowed parts straight into the bytes that are sent: the prompt is copied once,
//! however large it is. Documents of plain text are copied twice, because they are kept in base64 and sent as text.

mod cache;
mod content;
mod format;
mod messages;
mod sampling;
mod tools;

use backstop_core::{Attempt, FailureKind, ProviderError, Request};
use backstop_http::{CacheControl, Fields, check_numbers};
use serde::{Serialize, Serializer, ser::SerializeMap};

pub(crate) use format::Format;

use crate::{
    models::ModelTraits,
    options::{AnthropicOptions, FALLBACK_BETA, Thinking},
};
use cache::Marks;
use messages::{System, Turn};
use sampling::Sampled;
use tools::{Choice, WireTool};

/// Parameters without which a request is still the same request, by the vendor's names for them.
pub(crate) const OPTIONAL: &[&str] = &[
    "cache_control",
    "inference_geo",
    "metadata",
    "service_tier",
    "speed",
    "stop_sequences",
    "temperature",
    "thinking",
    "top_k",
    "top_p",
];

/// A request that is ready to be sent.
pub(crate) struct Rendered {
    pub(crate) body: Vec<u8>,
    /// How the answer is to be read.
    pub(crate) format: Format,
    /// Entries of the `anthropic-beta` header that it needs.
    pub(crate) betas: Vec<String>,
    /// What of the request could not be honoured.
    pub(crate) notes: Vec<String>,
}

/// Renders an attempt.
pub(crate) fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    streaming: bool,
) -> Result<Rendered, ProviderError> {
    check_numbers(attempt)?;
    let mut options: AnthropicOptions = attempt
        .request
        .options_of()
        .map_err(|error| invalid(format!("the options for `anthropic` cannot be read: {error}")))?
        .unwrap_or_default();
    let mut notes = Vec::new();
    drop_thinking(attempt, &mut options, &mut notes);
    let marks = Marks::place(attempt, traits, &options, &mut notes);
    let turns = messages::turns(attempt, traits, &marks)?;
    let format = format::choose(attempt, traits, &options, streaming, &mut notes);
    let tools = tools::all(attempt, &format)?;
    let choice = Choice::of(attempt, traits, &options, &format)?;
    let sampled = Sampled::of(attempt, traits, &options, &mut notes);
    note_omissions(attempt.request, &mut notes);
    let body = Body {
        attempt,
        traits,
        options: &options,
        format: &format,
        marks,
        turns,
        tools,
        choice,
        sampled,
        streaming,
    };
    let mut bytes = Vec::with_capacity(body.room());
    serde_json::to_writer(&mut bytes, &body)
        .map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
    let betas = betas(&options);
    Ok(Rendered { body: bytes, format, betas, notes })
}

fn invalid(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message.into())
}

fn unsupported(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::Unsupported, message.into())
}

/// With thinking on, the vendor wants the thinking before each tool call back, which a neutral conversation lacks.
fn drop_thinking(attempt: &Attempt<'_>, options: &mut AnthropicOptions, notes: &mut Vec<String>) {
    if options.thinks() && attempt.messages().any(messages::calls_a_tool) {
        options.thinking = None;
        notes.push(
            "`thinking` was left out: the conversation has tool calls without their thinking".to_owned(),
        );
    }
}

/// The texts that end the answer; the vendor refuses those of white space only.
fn stops(request: &Request) -> Vec<&str> {
    request.stop.iter().map(String::as_str).filter(|stop| !stop.trim().is_empty()).collect()
}

fn note_omissions(request: &Request, notes: &mut Vec<String>) {
    if request.stop.iter().any(|stop| stop.trim().is_empty()) {
        notes.push("`stop` texts of white space only were left out: the vendor takes none".to_owned());
    }
    if request.seed.is_some() {
        notes.push("`seed` was left out: the vendor has none".to_owned());
    }
    if request.metadata.keys().any(|key| key != "user_id") {
        notes.push("`metadata` was left out but for `user_id`: the vendor takes nothing else".to_owned());
    }
}

fn betas(options: &AnthropicOptions) -> Vec<String> {
    let mut betas = options.betas.clone();
    if options.fallbacks.is_some() {
        betas.push(FALLBACK_BETA.to_owned());
    }
    betas
}

struct Body<'a> {
    attempt: &'a Attempt<'a>,
    traits: &'a ModelTraits,
    options: &'a AnthropicOptions,
    format: &'a Format,
    marks: Marks,
    turns: Vec<Turn<'a>>,
    tools: Vec<WireTool<'a>>,
    choice: Option<Choice<'a>>,
    sampled: Sampled,
    streaming: bool,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.attempt.request;
        let mut fields = Fields::of_body(serializer.serialize_map(None)?, self.attempt);
        fields.put("model", self.attempt.model)?;
        fields.put("max_tokens", &self.max_tokens())?;
        let added = self.format.instructions();
        fields
            .maybe("system", System::of(request.system.as_deref(), added.as_deref(), self.marks.system()))?;
        fields.put("messages", &self.turns)?;
        fields.maybe("tools", Some(&self.tools).filter(|tools| !tools.is_empty()))?;
        fields.maybe("tool_choice", self.choice.as_ref())?;
        let output = OutputConfig { effort: self.options.effort.as_deref(), format: self.format.wire() };
        fields.maybe("output_config", Some(output).filter(|output| !output.is_empty()))?;
        fields.maybe("temperature", self.sampled.temperature)?;
        fields.maybe("top_p", self.sampled.top_p)?;
        fields.maybe("top_k", self.sampled.top_k)?;
        fields.maybe("stop_sequences", Some(stops(request)).filter(|stops| !stops.is_empty()))?;
        self.extras(&mut fields)?;
        if self.streaming {
            fields.put("stream", &true)?;
        }
        fields.end()
    }
}

impl Body<'_> {
    /// Enough room for the body, so that a large prompt is not moved from buffer to buffer while it is written.
    fn room(&self) -> usize {
        let system = self.attempt.request.system.as_ref().map_or(0, String::len);
        let text: usize = self.turns.iter().map(Turn::bytes).sum::<usize>() + system;
        // Something for what JSON escapes, and for all the rest.
        text + text / 8 + 4_096
    }

    /// Thinking counts towards the limit, so a default limit is for what comes after it.
    fn max_tokens(&self) -> u32 {
        let thought = match self.options.thinking {
            Some(Thinking::Enabled { budget_tokens }) => budget_tokens,
            _ => 0,
        };
        self.attempt.max_tokens().unwrap_or(self.traits.max_tokens.saturating_add(thought))
    }

    fn extras<M: SerializeMap>(&self, fields: &mut Fields<'_, M>) -> Result<(), M::Error> {
        let options = self.options;
        fields.maybe("thinking", options.thinking)?;
        fields.maybe("cache_control", self.marks.automatic().map(CacheControl))?;
        fields.maybe("service_tier", options.service_tier.as_deref())?;
        fields.maybe("speed", options.speed.as_deref())?;
        fields.maybe("inference_geo", options.inference_geo.as_deref())?;
        fields.maybe("fallbacks", options.fallbacks.as_ref())?;
        let user_id = self.attempt.request.metadata.get("user_id");
        fields.maybe("metadata", user_id.map(|user_id| Metadata { user_id }))
    }
}

#[derive(Serialize)]
struct Metadata<'a> {
    user_id: &'a str,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<format::Wire<'a>>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[cfg(test)]
mod tests;
