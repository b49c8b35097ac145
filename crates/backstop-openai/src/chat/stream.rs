//! The events of a stream of Chat Completions.

use std::borrow::Cow;

use backstop_core::{Chunk, ProviderError, Response};
use backstop_http::{
    Reply, SseEvent, lenient,
    recognise::{Asked, is_error},
    streaming::malformed,
};
use serde::Deserialize;
use serde_json::Value;

use super::response::{self, WireUsage};
use crate::stream::{Events, Out};

/// Every event is a piece of the same answer, so there is nothing to remember.
pub(crate) struct ChatEvents;

impl Events for ChatEvents {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Out) -> Result<(), ProviderError> {
        let event = serde_json::from_str::<Event<'_>>(event.data).map_err(|_| {
            // Without its cause, which may quote the answer.
            malformed("an event of the stream is not a chunk of a chat completion")
        })?;
        if let Some(error) = event.error.filter(is_error) {
            return Err(out.in_band(error));
        }
        out.meet(event.model.as_deref(), event.id.as_deref());
        let mut choices = event.choices.unwrap_or_default().into_iter();
        if let Some(choice) = choices.find(|choice| choice.index.unwrap_or(0) == 0) {
            choice.read(out)?;
        }
        let usage = event.usage.or(event.x_groq.and_then(|groq| groq.usage));
        if let Some(usage) = usage.and_then(|usage| usage.counts()) {
            out.count(usage);
        }
        Ok(())
    }

    fn whole(&self, reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        response::read(reply, false, asked)
    }
}

impl Choice<'_> {
    fn read(self, out: &mut Out) -> Result<(), ProviderError> {
        let delta = self.delta.unwrap_or_default();
        out.say(delta.reasoning_content.or(delta.reasoning), Chunk::Reasoning);
        out.say(delta.content, Chunk::Text);
        out.say(delta.refusal, Chunk::Refusal);
        let some = |text: Option<Cow<'_, str>>| text.filter(|text| !text.is_empty()).map(Cow::into_owned);
        for (place, call) in delta.tool_calls.unwrap_or_default().into_iter().enumerate() {
            let function = call.function.unwrap_or_default();
            out.push(Chunk::ToolCall {
                index: call.index.and_then(|index| usize::try_from(index).ok()).unwrap_or(place),
                id: some(call.id),
                name: some(function.name),
                arguments: function.arguments.unwrap_or_default(),
            });
        }
        if self.finish_reason.is_some() || self.error.is_some() {
            let finish = response::finish(self.finish_reason.as_deref(), self.error, &out.asked())?;
            out.stop(finish);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    // Boxed, because most events have none and all are moved.
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Box<WireUsage>>,
    #[serde(default, deserialize_with = "lenient::object")]
    x_groq: Option<Box<Groq>>,
    error: Option<Value>,
}

/// Groq puts the token counts here.
#[derive(Deserialize)]
struct Groq {
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Box<WireUsage>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    finish_reason: Option<Cow<'a, str>>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta<'a> {
    /// A list of typed pieces at Mistral.
    #[serde(borrow, deserialize_with = "lenient::texts")]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "lenient::word")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionDelta<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    name: Option<Cow<'a, str>>,
    arguments: Option<String>,
}

#[cfg(test)]
mod tests;
