//! The events of a stream of Chat Completions.

use backstop_core::{Chunk, ProviderError, Response};
use backstop_http::{Reply, SseEvent, recognise::Asked, streaming::malformed};
use serde::Deserialize;
use serde_json::Value;

use super::response::{self, Content, WireUsage};
use crate::{
    error::is_error,
    json::lenient,
    stream::{Events, Out},
};

/// Every event is a piece of the same answer, so there is nothing to remember.
pub(crate) struct ChatEvents;

impl Events for ChatEvents {
    fn event(&mut self, event: SseEvent, out: &mut Out) -> Result<(), ProviderError> {
        let event = serde_json::from_str::<Event>(&event.data).map_err(|_| {
            // Without its cause, which may quote the answer.
            malformed("an event of the stream is not a chunk of a chat completion")
        })?;
        if let Some(error) = event.error.filter(is_error) {
            return Err(out.in_band(error));
        }
        out.meet(event.model, event.id);
        let mut choices = event.choices.unwrap_or_default().into_iter();
        if let Some(choice) = choices.find(|choice| choice.index.unwrap_or(0) == 0) {
            choice.read(out)?;
        }
        if let Some(usage) = event.usage.or(event.x_groq.and_then(|groq| groq.usage)) {
            out.count(usage.into());
        }
        Ok(())
    }

    fn whole(&self, reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        response::read(reply, false, asked)
    }
}

impl Choice {
    fn read(self, out: &mut Out) -> Result<(), ProviderError> {
        let delta = self.delta.unwrap_or_default();
        out.say(delta.reasoning_content.or(delta.reasoning), Chunk::Reasoning);
        out.say(delta.content.map(Content::into_text), Chunk::Text);
        out.say(delta.refusal, Chunk::Refusal);
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        for (place, call) in delta.tool_calls.unwrap_or_default().into_iter().enumerate() {
            let function = call.function.unwrap_or_default();
            out.push(Chunk::ToolCall {
                index: call.index.unwrap_or(place),
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
struct Event {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
    #[serde(default, deserialize_with = "lenient")]
    x_groq: Option<Groq>,
    error: Option<Value>,
}

/// Groq puts the token counts here.
#[derive(Deserialize)]
struct Groq {
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta {
    content: Option<Content>,
    refusal: Option<String>,
    reasoning: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[cfg(test)]
mod tests;
