//! From the JSON of Responses to a response.
//!
//! Only what is used is read, and of that only `output` is required.

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
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of a response");
    let (answer, raw) = if keep_raw {
        let raw: Value = serde_json::from_slice(&reply.body).map_err(no_json)?;
        (WireResponse::deserialize(&raw).map_err(no_json)?, Some(raw))
    } else {
        (serde_json::from_slice::<WireResponse>(&reply.body).map_err(no_json)?, None)
    };
    let request_id = reply.request_id.clone().or_else(|| answer.id.clone());
    let usage = answer.usage();
    let mut response = answer.into_response(asked).map_err(|error| {
        let error = request_id.iter().fold(error, |error, id| error.with_request_id(id));
        usage.into_iter().fold(error, ProviderError::with_usage)
    })?;
    response.request_id = request_id;
    response.raw = raw.map(Box::new);
    Ok(response)
}

/// A whole answer, or the state of one that is not finished.
#[derive(Deserialize)]
pub(crate) struct WireResponse {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<String>,
    error: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    incomplete_details: Option<Incomplete>,
    output: Option<Vec<Item>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

/// One item of the output; those of a type that is not used here have only that.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Item {
    #[serde(deserialize_with = "lenient")]
    r#type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    phase: Option<String>,
    #[serde(deserialize_with = "lenient")]
    content: Option<Vec<Piece>>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    call_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(crate) name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    arguments: Option<Value>,
}

/// A piece of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Piece {
    #[serde(deserialize_with = "lenient")]
    r#type: Option<String>,
    #[serde(deserialize_with = "lenient")]
    text: Option<String>,
    #[serde(deserialize_with = "lenient")]
    refusal: Option<String>,
}

impl Item {
    fn is_reasoning(&self) -> bool {
        self.r#type.as_deref() == Some("reasoning")
    }

    fn is_message(&self) -> bool {
        self.r#type.as_deref() == Some("message")
    }

    /// A message on what the model is about to do, which is no part of the answer.
    pub(crate) fn is_aside(&self) -> bool {
        self.is_message() && self.phase.as_deref() == Some("commentary")
    }

    pub(crate) fn is_call(&self) -> bool {
        self.r#type.as_deref() == Some("function_call")
    }

    /// The id by which the call's result is given back.
    pub(crate) fn call_id(&self) -> Option<String> {
        [&self.call_id, &self.id].into_iter().flatten().find(|id| !id.is_empty()).cloned()
    }

    pub(crate) fn arguments(&self) -> String {
        match &self.arguments {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }
}

impl WireResponse {
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.usage.map(Usage::from)
    }

    /// # Errors
    /// The response has failed, is not finished, or has no output.
    pub(crate) fn into_response(self, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        let usage = self.usage();
        let status = self.status.as_deref();
        match self.error.filter(is_error) {
            Some(error) => return Err(in_band(error, asked)),
            None => unfinished(status)?,
        }
        let Some(output) = self.output else {
            return Err(malformed("the answer has no output"));
        };
        let reasoned = output.iter().any(Item::is_reasoning);
        let mut response = Response::new("");
        for (index, item) in output.into_iter().enumerate() {
            if item.is_call() {
                let id = item.call_id().unwrap_or_else(|| format!("call_{index}"));
                let call = ToolCall::new(id, item.name.clone().unwrap_or_default(), item.arguments());
                response.tool_calls.push(call);
            } else if item.is_message() && !item.is_aside() {
                item.content.unwrap_or_default().into_iter().for_each(|piece| piece.add_to(&mut response));
            }
        }
        let reason = self.incomplete_details.and_then(|details| details.reason);
        response.finish = finish(status, reason, !response.tool_calls.is_empty());
        response.model = self.model.filter(|model| !model.is_empty());
        response.usage = usage;
        let silent = response.text.is_empty() && response.refusal.is_none() && response.tool_calls.is_empty();
        if reasoned && silent {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        Ok(response)
    }
}

impl Piece {
    fn add_to(self, response: &mut Response) {
        match (self.r#type.as_deref(), self.text, self.refusal) {
            (Some("refusal"), _, Some(words)) if !words.is_empty() => {
                response.refusal.get_or_insert_default().push_str(&words);
            }
            // Some servers call it `text`.
            (Some("output_text" | "text") | None, Some(text), _) => response.text.push_str(&text),
            _ => {}
        }
    }
}

/// States in which there is no answer.
fn unfinished(status: Option<&str>) -> Result<(), ProviderError> {
    let (kind, message) = match status {
        Some("failed") => (FailureKind::Server, "the response failed, and the vendor does not say why"),
        Some("cancelled") => (FailureKind::Server, "the response was cancelled at the vendor"),
        Some("queued" | "in_progress") => {
            (FailureKind::MalformedResponse, "the response is not finished; `background` is not supported")
        }
        _ => return Ok(()),
    };
    let word = status.unwrap_or_default();
    Err(ProviderError::new(kind, message).with_status(200).with_code(word))
}

/// Why the model stopped.
fn finish(status: Option<&str>, reason: Option<String>, calls: bool) -> FinishReason {
    let word = |kind, word: &str| FinishReason::new(kind, Cow::Owned(word.to_owned()));
    match (status, reason.as_deref()) {
        (_, Some(reason @ ("max_output_tokens" | "max_tokens"))) => word(FinishKind::Length, reason),
        (_, Some(reason @ "content_filter")) => word(FinishKind::ContentFilter, reason),
        (Some("incomplete"), reason) => word(FinishKind::Other, reason.unwrap_or("incomplete")),
        (Some(status @ "completed"), _) if calls => word(FinishKind::ToolCalls, status),
        (Some(status @ "completed"), _) => word(FinishKind::Stop, status),
        (None | Some(""), _) => FinishReason::from(FinishKind::Unknown),
        (Some(status), _) => word(FinishKind::Other, status),
    }
}

fn malformed(message: &'static str) -> ProviderError {
    ProviderError::new(FailureKind::MalformedResponse, message).with_status(200)
}

/// Token counts.
#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let input = wire.input_tokens_details.unwrap_or_default();
        let output = wire.output_tokens_details.unwrap_or_default();
        Usage::new(wire.input_tokens.unwrap_or(0), wire.output_tokens.unwrap_or(0))
            .with_cached(input.cached_tokens.unwrap_or(0))
            .with_cache_write(input.cache_write_tokens.unwrap_or(0))
            .with_reasoning(output.reasoning_tokens.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests;
