//! From the JSON of Chat Completions to a response.
//!
//! Only what is used is read, and almost nothing is required: compatible servers leave out, add and retype fields.

use std::borrow::Cow;

use backstop_core::{FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply,
    recognise::{self, Asked},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    error::{in_band, is_error},
    json::lenient,
};

/// Reads a success body.
pub(crate) fn read(reply: &Reply, keep_raw: bool, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of a chat completion");
    let (completion, raw) = if keep_raw {
        let raw: Value = serde_json::from_slice(&reply.body).map_err(no_json)?;
        (Completion::deserialize(&raw).map_err(no_json)?, Some(raw))
    } else {
        (serde_json::from_slice::<Completion>(&reply.body).map_err(no_json)?, None)
    };
    let request_id = reply.request_id.clone().or_else(|| completion.id.clone());
    let usage = completion.usage.map(Usage::from);
    let mut response = completion.into_response(asked).map_err(|error| {
        let error = request_id.iter().fold(error, |error, id| error.with_request_id(id));
        usage.into_iter().fold(error, ProviderError::with_usage)
    })?;
    response.usage = usage;
    response.request_id = request_id;
    response.raw = raw.map(Box::new);
    Ok(response)
}

/// A whole answer.
#[derive(Deserialize)]
struct Completion {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<WireMessage>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireMessage {
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Vec<WireCall>>,
    /// OpenRouter sends both names, others one of them.
    #[serde(deserialize_with = "lenient")]
    reasoning: Option<String>,
    #[serde(deserialize_with = "lenient")]
    reasoning_content: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireCall {
    id: Option<String>,
    function: WireFunction,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireFunction {
    name: Option<String>,
    arguments: Option<Value>,
}

/// A text, or (Mistral) a list of typed pieces.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Pieces(Vec<Piece>),
    /// A later form; there is no text in it that we know of.
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(crate) struct Piece {
    text: Option<String>,
}

impl Content {
    /// The text of all pieces that are text; those that are reasoning have none at their top.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Pieces(pieces) => pieces.into_iter().filter_map(|piece| piece.text).collect(),
            Self::Other(_) => String::new(),
        }
    }
}

impl Completion {
    fn into_response(self, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        if let Some(error) = self.error.filter(is_error) {
            return Err(in_band(error, asked));
        }
        let Some(choice) = self.choices.unwrap_or_default().into_iter().next() else {
            return Err(ProviderError::new(FailureKind::MalformedResponse, "the answer has no choice")
                .with_status(200));
        };
        let finish = finish(choice.finish_reason.as_deref(), choice.error, asked)?;
        let message = choice.message.unwrap_or_default();
        let text = message.content.map(Content::into_text).unwrap_or_default();
        let mut response = Response::new(text).with_finish(finish);
        response.model = self.model.filter(|model| !model.is_empty());
        response.refusal = message.refusal.filter(|text| !text.is_empty());
        let calls = message.tool_calls.unwrap_or_default().into_iter().enumerate();
        response.tool_calls = calls.map(|(index, call)| call.into_call(index)).collect();
        let mut reasoning = message.reasoning.iter().chain(&message.reasoning_content);
        if response.text.is_empty() && reasoning.any(|text| !text.is_empty()) {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        Ok(response)
    }
}

impl WireCall {
    fn into_call(self, index: usize) -> ToolCall {
        let arguments = match self.function.arguments {
            Some(Value::String(text)) => text,
            // Some servers send the arguments as JSON instead of as a text.
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let id = self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{index}"));
        ToolCall::new(id, self.function.name.unwrap_or_default(), arguments)
    }
}

/// What a `finish_reason` means; some are failures of the server behind.
pub(crate) fn finish(
    word: Option<&str>,
    error: Option<Value>,
    asked: &Asked<'_>,
) -> Result<FinishReason, ProviderError> {
    if let Some(error) = error.filter(is_error) {
        return Err(in_band(error, asked));
    }
    let kind = match word {
        None | Some("") => return Ok(FinishReason::from(FinishKind::Unknown)),
        // Together says `eos`.
        Some("stop" | "eos") => FinishKind::Stop,
        // Mistral says `model_length` when the context is full.
        Some("length" | "model_length") => FinishKind::Length,
        Some("tool_calls" | "function_call") => FinishKind::ToolCalls,
        Some("content_filter") => FinishKind::ContentFilter,
        Some(word @ ("error" | "abort")) => {
            let message = "the server broke the answer off";
            return Err(ProviderError::new(FailureKind::Server, message).with_code(word));
        }
        // DeepSeek under load.
        Some(word @ "insufficient_system_resource") => {
            let message = "the server ran out of resources during the answer";
            return Err(ProviderError::new(FailureKind::Overloaded, message).with_code(word));
        }
        Some(_) => FinishKind::Other,
    };
    let word = word.unwrap_or_default().to_owned();
    Ok(FinishReason::new(kind, Cow::Owned(word)))
}

/// Token counts; servers leave out what they do not count.
#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
pub(crate) struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for what came from the cache.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let prompt = wire.prompt_tokens_details.unwrap_or_default();
        let completion = wire.completion_tokens_details.unwrap_or_default();
        Usage::new(wire.prompt_tokens.unwrap_or(0), wire.completion_tokens.unwrap_or(0))
            .with_cached(prompt.cached_tokens.or(wire.prompt_cache_hit_tokens).unwrap_or(0))
            .with_cache_write(prompt.cache_write_tokens.unwrap_or(0))
            .with_reasoning(completion.reasoning_tokens.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests;
