//! From the JSON of Chat Completions to a response.
//!
//! Only what is used is read, and almost nothing is required: compatible servers leave out, add and retype fields.

use std::borrow::Cow;

use backstop_core::{FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply, lenient,
    recognise::{self, Asked},
};
use serde::Deserialize;
use serde_json::Value;

use crate::error::in_band;

/// Reads a success body.
pub(crate) fn read(reply: &Reply, keep_raw: bool, asked: &Asked<'_>) -> Result<Response, ProviderError> {
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of a chat completion");
    let completion: Completion<'_> = reply.json().map_err(no_json)?;
    let raw: Option<Value> = if keep_raw { Some(reply.json().map_err(no_json)?) } else { None };
    let id = completion.id.as_deref().map(str::to_owned);
    let request_id = reply.request_id.clone().or(id);
    let usage = completion.usage.and_then(WireUsage::counts);
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
struct Completion<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<WireMessage<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    finish_reason: Option<Cow<'a, str>>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireMessage<'a> {
    /// A text, or (Mistral) a list of typed pieces. Those that are reasoning have no text at their top.
    #[serde(borrow, deserialize_with = "lenient::texts")]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<WireCall<'a>>>,
    /// OpenRouter sends both names, others one of them.
    #[serde(borrow, deserialize_with = "lenient::text")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    reasoning_content: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireCall<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: WireFunction<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireFunction<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    name: Option<Cow<'a, str>>,
    arguments: Option<Value>,
}

impl Completion<'_> {
    fn into_response(self, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        if let Some(error) = self.error.filter(recognise::is_error) {
            return Err(in_band(error, asked));
        }
        let Some(choice) = self.choices.unwrap_or_default().into_iter().next() else {
            return Err(ProviderError::new(FailureKind::MalformedResponse, "the answer has no choice")
                .with_status(200));
        };
        let finish = finish(choice.finish_reason.as_deref(), choice.error, asked)?;
        let message = choice.message.unwrap_or_default();
        let some = |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
        let mut response = Response::new(message.content.unwrap_or_default()).with_finish(finish);
        response.model = some(self.model);
        response.refusal = some(message.refusal);
        let calls = message.tool_calls.unwrap_or_default().into_iter().enumerate();
        response.tool_calls = calls.map(|(index, call)| call.into_call(index)).collect();
        let mut reasoning = message.reasoning.iter().chain(&message.reasoning_content);
        if response.text.is_empty() && reasoning.any(|text| !text.is_empty()) {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        Ok(response)
    }
}

impl WireCall<'_> {
    fn into_call(self, index: usize) -> ToolCall {
        let arguments = match self.function.arguments {
            Some(Value::String(text)) => text,
            // Some servers send the arguments as JSON instead of as a text.
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let id = self.id.filter(|id| !id.is_empty()).map(Cow::into_owned);
        let name = self.function.name.unwrap_or_default();
        ToolCall::new(id.unwrap_or_else(|| format!("call_{index}")), name, arguments)
    }
}

/// What a `finish_reason` means; some are failures of the server behind.
pub(crate) fn finish(
    word: Option<&str>,
    error: Option<Value>,
    asked: &Asked<'_>,
) -> Result<FinishReason, ProviderError> {
    if let Some(error) = error.filter(recognise::is_error) {
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
    #[serde(deserialize_with = "lenient::count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "lenient::object")]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for what came from the cache.
    #[serde(deserialize_with = "lenient::count")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// Nothing if neither the prompt nor the answer was counted.
    pub(crate) fn counts(self) -> Option<Usage> {
        let (input, output) = (self.prompt_tokens, self.completion_tokens);
        input.or(output)?;
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        let usage = Usage::new(input.unwrap_or(0), output.unwrap_or(0))
            .with_cached(prompt.cached_tokens.or(self.prompt_cache_hit_tokens).unwrap_or(0))
            .with_cache_write(prompt.cache_write_tokens.unwrap_or(0))
            .with_reasoning(completion.reasoning_tokens.unwrap_or(0));
        Some(usage)
    }
}

#[cfg(test)]
mod tests;
