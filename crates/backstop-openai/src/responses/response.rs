//! From the JSON of Responses to a response.
//!
//! Only what is used is read, and of that only `output` is required.

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
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of a response");
    let answer: WireResponse<'_> = reply.json().map_err(no_json)?;
    let raw: Option<Value> = if keep_raw { Some(reply.json().map_err(no_json)?) } else { None };
    let id = answer.id.as_deref().map(str::to_owned);
    let request_id = reply.request_id.clone().or(id);
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
pub(crate) struct WireResponse<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    status: Option<Cow<'a, str>>,
    error: Option<Value>,
    #[serde(borrow, default, deserialize_with = "lenient::object")]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::list")]
    output: Option<Vec<Item<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    reason: Option<Cow<'a, str>>,
}

/// One item of the output; those of a type that is not used here have only that.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Item<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    phase: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::list")]
    content: Option<Vec<Piece<'a>>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(crate) name: Option<Cow<'a, str>>,
    arguments: Option<Value>,
}

/// A piece of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Piece<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    refusal: Option<Cow<'a, str>>,
}

impl Item<'_> {
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
        let mut ids = [&self.call_id, &self.id].into_iter().flatten();
        ids.find(|id| !id.is_empty()).map(|id| id.clone().into_owned())
    }

    pub(crate) fn arguments(&self) -> String {
        match &self.arguments {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }
}

impl WireResponse<'_> {
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.usage.and_then(WireUsage::counts)
    }

    /// # Errors
    /// The response has failed, is not finished, or has no output.
    pub(crate) fn into_response(self, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        let usage = self.usage();
        let status = self.status.as_deref();
        match self.error.filter(recognise::is_error) {
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
                let arguments = item.arguments();
                response.tool_calls.push(ToolCall::new(id, item.name.unwrap_or_default(), arguments));
            } else if item.is_message() && !item.is_aside() {
                item.content.unwrap_or_default().into_iter().for_each(|piece| piece.add_to(&mut response));
            }
        }
        let reason = self.incomplete_details.and_then(|details| details.reason);
        response.finish = finish(status, reason, !response.tool_calls.is_empty());
        response.model = self.model.filter(|model| !model.is_empty()).map(Cow::into_owned);
        response.usage = usage;
        let silent = response.text.is_empty() && response.refusal.is_none() && response.tool_calls.is_empty();
        if reasoned && silent {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        Ok(response)
    }
}

impl Piece<'_> {
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
fn finish(status: Option<&str>, reason: Option<Cow<'_, str>>, calls: bool) -> FinishReason {
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
    #[serde(deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct InputDetails {
    #[serde(deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// Nothing if neither the prompt nor the answer was counted.
    fn counts(self) -> Option<Usage> {
        let (input, output) = (self.input_tokens, self.output_tokens);
        input.or(output)?;
        let details = self.input_tokens_details.unwrap_or_default();
        let usage = Usage::new(input.unwrap_or(0), output.unwrap_or(0))
            .with_cached(details.cached_tokens.unwrap_or(0))
            .with_cache_write(details.cache_write_tokens.unwrap_or(0))
            .with_reasoning(self.output_tokens_details.unwrap_or_default().reasoning_tokens.unwrap_or(0));
        Some(usage)
    }
}

#[cfg(test)]
mod tests;
