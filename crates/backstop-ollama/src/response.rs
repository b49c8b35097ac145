//! From the JSON of `/api/chat` to a response.
//!
//! Only what is used is read, and almost nothing is required. Words that we do not know are kept.

use std::borrow::Cow;

use backstop_core::{FailureKind, FinishKind, FinishReason, ProviderError, Response, ToolCall, Usage};
use backstop_http::{
    Reply, lenient,
    recognise::{self, Asked},
};
use serde::Deserialize;
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
    let mut all: Option<Chat<'_>> = None;
    for part in serde_json::Deserializer::from_slice(&reply.body).into_iter::<Chat<'_>>() {
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
pub(crate) struct Chat<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) message: Option<WireMessage<'a>>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(crate) done: Option<bool>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) done_reason: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "lenient::count")]
    prompt_eval_count: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    eval_count: Option<u64>,
    pub(crate) error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireMessage<'a> {
    pub(crate) content: Option<String>,
    #[serde(borrow, deserialize_with = "lenient::word")]
    pub(crate) thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<WireCall<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireCall<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: WireFunction<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFunction<'a> {
    #[serde(borrow, deserialize_with = "lenient::word")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl WireCall<'_> {
    /// `index` counts the calls of the answer.
    pub(crate) fn into_call(self, index: usize) -> ToolCall {
        let id = self.id.filter(|id| !id.is_empty()).map(Cow::into_owned);
        let arguments = match self.function.arguments {
            // Some models write their arguments as a text.
            Some(text) if text.get().starts_with('"') => {
                serde_json::from_str(text.get()).unwrap_or_else(|_| text.get().to_owned())
            }
            Some(json) => json.get().to_owned(),
            None => "{}".to_owned(),
        };
        let name = self.function.name.unwrap_or_default();
        ToolCall::new(id.unwrap_or_else(|| format!("call_{index}")), name, arguments)
    }
}

impl Chat<'_> {
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
        if let Some(error) = self.error.take().filter(recognise::is_error) {
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
        response.model = self.model.filter(|model| !model.is_empty()).map(Cow::into_owned);
        if thought && response.text.is_empty() {
            response.notes.push(Cow::Borrowed(recognise::ONLY_REASONING));
        }
        if response.finish.raw.as_deref() == Some("load") {
            response.notes.push(Cow::Borrowed("Ollama has loaded the model and asked it nothing"));
        }
        Ok(response)
    }
}

impl WireMessage<'_> {
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
pub(crate) fn finish(word: Option<Cow<'_, str>>, calls: bool) -> FinishReason {
    let kind = match word.as_deref() {
        None | Some("") => return FinishReason::from(FinishKind::Unknown),
        // Ollama has no word of its own for an answer that waits for its tools.
        Some("stop") if calls => FinishKind::ToolCalls,
        Some("stop") => FinishKind::Stop,
        Some("length") => FinishKind::Length,
        // `load`, `unload`: nothing was asked.
        Some(_) => FinishKind::Other,
    };
    FinishReason::new(kind, Cow::Owned(word.unwrap_or_default().into_owned()))
}

#[cfg(test)]
mod tests;
