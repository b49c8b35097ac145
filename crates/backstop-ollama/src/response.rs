//! From the JSON of `/api/chat` to a response.
//!
//! Only what is used is read, and almost nothing is required. Words that we do not know are kept.

use std::borrow::Cow;

use backstop_core::{FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply,
    recognise::{self, Asked},
};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

use crate::error;

/// Reads a success body: one answer, or the lines of one, which is what a server sends that streams unasked.
pub(crate) fn read(
    reply: &Reply,
    keep_raw: bool,
    asked: &Asked<'_>,
    model: &str,
) -> Result<Response, ProviderError> {
    let no_json = |_| recognise::malformed(reply, "the body is not the JSON of `/api/chat`");
    let mut all: Option<Chat> = None;
    for part in serde_json::Deserializer::from_slice(&reply.body).into_iter::<Chat>() {
        let part = part.map_err(no_json)?;
        all = Some(match all {
            Some(before) => before.and(part),
            None => part,
        });
    }
    let chat = all.ok_or_else(|| recognise::malformed(reply, ""))?;
    let mut response = chat.into_response(asked, model)?;
    response.request_id = reply.request_id.clone();
    if keep_raw {
        response.raw = raw(&reply.body).map(Box::new);
    }
    Ok(response)
}

/// The whole answer, in an array if it came in lines.
fn raw(body: &[u8]) -> Option<Value> {
    let mut values: Vec<Value> =
        serde_json::Deserializer::from_slice(body).into_iter().collect::<Result<_, _>>().ok()?;
    if values.len() == 1 { values.pop() } else { Some(Value::Array(values)) }
}

/// A whole answer, or a line of one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chat {
    #[serde(deserialize_with = "word")]
    pub(crate) model: Option<String>,
    pub(crate) message: Option<WireMessage>,
    #[serde(deserialize_with = "flag")]
    pub(crate) done: Option<bool>,
    #[serde(deserialize_with = "word")]
    pub(crate) done_reason: Option<String>,
    #[serde(deserialize_with = "count")]
    prompt_eval_count: Option<u64>,
    #[serde(deserialize_with = "count")]
    eval_count: Option<u64>,
    pub(crate) error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireMessage {
    pub(crate) content: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(crate) thinking: Option<String>,
    pub(crate) tool_calls: Option<Vec<WireCall>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireCall {
    #[serde(deserialize_with = "word")]
    id: Option<String>,
    function: WireFunction,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFunction {
    #[serde(deserialize_with = "word")]
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

impl WireCall {
    /// `index` counts the calls of the answer.
    pub(crate) fn into_call(self, index: usize) -> ToolCall {
        let id = self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{index}"));
        let arguments = match self.function.arguments {
            // Some models write their arguments as a text.
            Some(text) if text.get().starts_with('"') => {
                serde_json::from_str(text.get()).unwrap_or_else(|_| text.get().to_owned())
            }
            Some(json) => String::from(Box::<str>::from(json)),
            None => "{}".to_owned(),
        };
        ToolCall::new(id, self.function.name.unwrap_or_default(), arguments)
    }
}

impl Chat {
    /// This line and the next as one.
    fn and(self, next: Self) -> Self {
        let message = match (self.message, next.message) {
            (Some(one), Some(more)) => Some(one.and(more)),
            (one, more) => one.or(more),
        };
        Self {
            model: self.model.or(next.model),
            message,
            done: next.done.or(self.done),
            done_reason: next.done_reason.or(self.done_reason),
            prompt_eval_count: next.prompt_eval_count.or(self.prompt_eval_count),
            eval_count: next.eval_count.or(self.eval_count),
            error: self.error.or(next.error),
        }
    }

    /// The token counts; the server leaves out those that are 0.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let (input, output) = (self.prompt_eval_count, self.eval_count);
        input.or(output).map(|_| Usage::new(input.unwrap_or(0), output.unwrap_or(0)))
    }

    fn into_response(mut self, asked: &Asked<'_>, model: &str) -> Result<Response, ProviderError> {
        if let Some(error) = self.error.take().filter(error::is_error) {
            return Err(error::in_band(error, asked, model));
        }
        let usage = self.usage();
        let malformed = |message: &'static str| {
            let error = ProviderError::new(FailureKind::MalformedResponse, message).with_status(200);
            usage.into_iter().fold(error, ProviderError::with_usage)
        };
        let Some(message) = self.message else { return Err(malformed("the answer has no message")) };
        if self.done == Some(false) {
            return Err(malformed("the answer ended before the model was done"));
        }
        let thought = message.thinking.is_some_and(|text| !text.is_empty());
        let mut response = Response::new(message.content.unwrap_or_default());
        let calls = message.tool_calls.unwrap_or_default().into_iter().enumerate();
        response.tool_calls = calls.map(|(index, call)| call.into_call(index)).collect();
        response.finish = finish(self.done_reason, !response.tool_calls.is_empty());
        response.usage = usage;
        response.model = self.model.filter(|model| !model.is_empty());
        if thought && response.text.is_empty() {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        if response.finish.raw.as_deref() == Some("load") {
            response.notes.push(Cow::Borrowed("Ollama has loaded the model and asked it nothing"));
        }
        Ok(response)
    }
}

impl WireMessage {
    fn and(mut self, next: Self) -> Self {
        match (&mut self.content, next.content) {
            (Some(text), Some(more)) => text.push_str(&more),
            (none, more) => *none = none.take().or(more),
        }
        self.thinking = self.thinking.take().or(next.thinking);
        match (&mut self.tool_calls, next.tool_calls) {
            (Some(calls), Some(more)) => calls.extend(more),
            (none, more) => *none = none.take().or(more),
        }
        self
    }
}

/// What a `done_reason` means. It is missing where the engine went away, and at old servers.
pub(crate) fn finish(word: Option<String>, calls: bool) -> FinishReason {
    let kind = match word.as_deref() {
        None | Some("") => return FinishReason::from(FinishKind::Unknown),
        // Ollama has no word of its own for an answer that waits for its tools.
        Some("stop") if calls => FinishKind::ToolCalls,
        Some("stop") => FinishKind::Stop,
        Some("length") => FinishKind::Length,
        // `load`, `unload`: nothing was asked.
        Some(_) => FinishKind::Other,
    };
    FinishReason::new(kind, Cow::Owned(word.unwrap_or_default()))
}

/// What has another type than it should is not there: an answer is still an answer without it.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(word) => Some(word),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64())
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_bool())
}

#[cfg(test)]
mod tests;
