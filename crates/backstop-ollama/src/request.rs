//! From an attempt to the JSON of `/api/chat`.
//!
//! Everything is serialised from borrowed parts straight into the bytes that are sent: the prompt is copied once,
//! however large it is, unless a message has several texts, which have to be joined.

mod format;
mod messages;

use std::time::Duration;

use backstop_core::{Attempt, CacheHint, FailureKind, ProviderError, Request, Tool, ToolChoice};
use backstop_http::{Fields, check_numbers, room_for};
use serde::{Serialize, Serializer};
use serde_json::Value;

pub(crate) use format::Format;
use messages::Messages;

use crate::{
    models::ModelTraits,
    options::{KeepAlive, OllamaOptions},
};

/// A request that is ready to be sent.
pub(crate) struct Rendered {
    pub(crate) body: Vec<u8>,
    /// How the answer is held to JSON.
    pub(crate) format: Format,
    /// What of the request could not be honoured.
    pub(crate) notes: Vec<String>,
}

/// What a provider says where a request says nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) num_ctx: Option<u32>,
    pub(crate) keep_alive: Option<KeepAlive>,
}

/// Renders an attempt.
pub(crate) fn render(
    attempt: &Attempt<'_>,
    traits: &ModelTraits,
    defaults: Defaults,
    stream: bool,
) -> Result<Rendered, ProviderError> {
    check_numbers(attempt)?;
    messages::check(attempt)?;
    let mut options: OllamaOptions = attempt
        .request
        .options_of()
        .map_err(|error| invalid(format!("the options for `ollama` cannot be read: {error}")))?
        .unwrap_or_default();
    options.num_ctx = options.num_ctx.or(defaults.num_ctx);
    options.keep_alive = options.keep_alive.or(defaults.keep_alive).or_else(|| kept(attempt.request));
    let mut notes = Vec::new();
    let format = format::choose(attempt, traits, &mut notes);
    let tools = tools(attempt.request, &mut notes);
    let chat = Chat { attempt, options: &options, format: &format, tools, stream };
    let mut body = Vec::with_capacity(room_for(attempt));
    serde_json::to_writer(&mut body, &chat)
        .map_err(|error| invalid(format!("the request cannot be written as JSON: {error}")))?;
    Ok(Rendered { body, format, notes })
}

/// What was read of a prompt is kept as long as the model stays loaded, five minutes unless it is told otherwise.
fn kept(request: &Request) -> Option<KeepAlive> {
    let long = request.longest_cache() == Some(CacheHint::Long);
    long.then_some(KeepAlive::For(Duration::from_secs(3_600)))
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

/// The tools that the model is shown. Ollama has no `tool_choice`: whether one is called is the model's decision.
fn tools<'a>(request: &'a Request, notes: &mut Vec<String>) -> Vec<WireTool<'a>> {
    let shown = |tool: &&Tool| match &request.tool_choice {
        ToolChoice::None => false,
        ToolChoice::Tool(name) => tool.name == *name,
        _ => true,
    };
    let demanded = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    if demanded && !request.tools.is_empty() {
        notes.push("a tool call cannot be demanded: Ollama leaves it to the model".to_owned());
    }
    request.tools.iter().filter(shown).map(WireTool::from).collect()
}

struct Chat<'a> {
    attempt: &'a Attempt<'a>,
    options: &'a OllamaOptions,
    format: &'a Format,
    tools: Vec<WireTool<'a>>,
    stream: bool,
}

impl Serialize for Chat<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { attempt, options, format, tools, stream } = self;
        let mut fields = Fields::of_body(serializer.serialize_map(None)?, attempt);
        fields.put("model", attempt.model)?;
        fields.put("messages", &Messages { attempt, added: format.instructions() })?;
        fields.put("stream", stream)?;
        fields.maybe("format", format.wire())?;
        fields.maybe("tools", Some(tools).filter(|tools| !tools.is_empty()))?;
        fields.maybe("think", options.think.as_ref())?;
        fields.maybe("keep_alive", options.keep_alive)?;
        // The server would drop parts of the conversation without a word.
        fields.put("truncate", &options.truncate.unwrap_or(false))?;
        fields.put("shift", &options.shift.unwrap_or(false))?;
        fields.object("options", &Sampling(self))?;
        fields.end()
    }
}

/// The field `options`.
struct Sampling<'a>(&'a Chat<'a>);

impl Serialize for Sampling<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Chat { attempt, options, .. } = self.0;
        let request = attempt.request;
        let map = serializer.serialize_map(None)?;
        let mut fields =
            Fields::of_object(map, attempt, "options").with_names(&[("num_predict", "max_tokens")]);
        fields.maybe("num_ctx", options.num_ctx)?;
        fields.maybe("num_predict", attempt.max_tokens())?;
        fields.maybe("temperature", request.temperature)?;
        fields.maybe("top_p", request.top_p)?;
        fields.maybe("top_k", options.top_k)?;
        fields.maybe("min_p", options.min_p)?;
        fields.maybe("repeat_penalty", options.repeat_penalty)?;
        fields.maybe("stop", Some(&request.stop).filter(|stop| !stop.is_empty()))?;
        // The server reads it as a number with a sign.
        fields.maybe("seed", request.seed.map(|seed| seed & (u64::MAX >> 1)))?;
        fields.end()
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
        let description = tool.description.as_deref();
        Self {
            r#type: "function",
            function: Function { name: &tool.name, description, parameters: &tool.parameters },
        }
    }
}

#[cfg(test)]
mod tests;
