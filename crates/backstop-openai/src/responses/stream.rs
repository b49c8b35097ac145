//! The events of a stream of Responses.
//!
//! The answer comes in deltas, and whole once more in the last event. Deltas are what is passed on; what a server
//! leaves out of them is taken from the events that say how things ended.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use backstop_core::{Chunk, FailureKind, ProviderError, Response};
use backstop_http::{
    Reply, SseEvent, lenient,
    recognise::{Asked, is_error},
    streaming::malformed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::response::{self, Item, WireResponse};
use crate::stream::{Events, Out};

/// What has to be remembered from event to event.
#[derive(Default)]
pub(crate) struct ResponseEvents {
    /// The calls so far, by their item.
    calls: BTreeMap<Place, Call>,
    /// Messages that do not belong to the answer.
    asides: BTreeSet<Place>,
    /// Text or refusal was passed on.
    spoke: bool,
}

/// Which item of the output an event is about. llama.cpp gives no index.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Index(u64),
    Id(String),
    Unknown,
}

/// A call of a tool.
struct Call {
    /// Which call of the answer.
    index: usize,
    /// Id and name were passed on.
    named: bool,
    /// Arguments were passed on.
    begun: bool,
}

impl Events for ResponseEvents {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Out) -> Result<(), ProviderError> {
        let name = event.name;
        let mut event: Event<'_> = serde_json::from_str(event.data).map_err(|_| {
            // Without its cause, which may quote the answer.
            malformed("an event of the stream is not one of a response")
        })?;
        let kind = event.r#type.take().or(name.map(Cow::Borrowed)).unwrap_or_default();
        if kind == "error" || event.error.as_ref().is_some_and(is_error) {
            return Err(event.failure(out));
        }
        match kind.as_ref() {
            "response.output_item.added" => self.item(event, out, false),
            "response.output_item.done" => self.item(event, out, true),
            "response.output_text.delta" if !self.asides.contains(&event.place()) => {
                self.speak(event.delta, Chunk::Text, out);
            }
            "response.refusal.delta" => self.speak(event.delta, Chunk::Refusal, out),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                out.say(event.delta, Chunk::Reasoning);
            }
            "response.function_call_arguments.delta" => self.arguments(event, out),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.last(&kind, event.response, out);
            }
            _ => {
                if let Some(response) = event.response {
                    out.meet(response.model.as_deref(), response.id.as_deref());
                }
            }
        }
        Ok(())
    }

    fn whole(&self, reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError> {
        response::read(reply, false, asked)
    }
}

impl ResponseEvents {
    fn speak(&mut self, text: Option<Cow<'_, str>>, chunk: fn(String) -> Chunk, out: &mut Out) {
        self.spoke |= text.as_ref().is_some_and(|text| !text.is_empty());
        out.say(text, chunk);
    }

    /// An item has begun, or is whole.
    fn item(&mut self, event: Event<'_>, out: &mut Out, done: bool) {
        let place = event.place();
        let Some(item) = event.item else { return };
        if item.is_call() {
            self.call(place, &item, out, done);
        } else if item.is_aside() {
            self.asides.insert(place);
        }
    }

    fn call(&mut self, place: Place, item: &Item<'_>, out: &mut Out, done: bool) {
        let call = self.call_at(place);
        let arguments = if done && !call.begun { item.arguments() } else { String::new() };
        if call.named && arguments.is_empty() {
            return;
        }
        let (id, name) =
            if call.named { (None, None) } else { (item.call_id(), item.name.as_deref().map(str::to_owned)) };
        call.named = true;
        call.begun |= !arguments.is_empty();
        out.push(Chunk::ToolCall { index: call.index, id, name, arguments });
    }

    fn call_at(&mut self, place: Place) -> &mut Call {
        let index = self.calls.len();
        self.calls.entry(place).or_insert(Call { index, named: false, begun: false })
    }

    fn arguments(&mut self, event: Event<'_>, out: &mut Out) {
        let call = self.call_at(event.place());
        let Some(arguments) = event.delta.filter(|delta| !delta.is_empty()) else { return };
        call.begun = true;
        let arguments = arguments.into_owned();
        out.push(Chunk::ToolCall { index: call.index, id: None, name: None, arguments });
    }

    /// The last event, which has the whole response.
    fn last(
        &mut self,
        kind: &str,
        response: Option<WireResponse<'_>>,
        out: &mut Out,
    ) -> Result<(), ProviderError> {
        let Some(response) = response else {
            return Err(match kind {
                "response.failed" => {
                    let message = "the response failed, and the vendor does not say why";
                    ProviderError::new(FailureKind::Server, message).with_status(200)
                }
                _ => malformed("the last event of the stream has no response"),
            });
        };
        out.meet(response.model.as_deref(), response.id.as_deref());
        if let Some(usage) = response.usage() {
            out.count(usage);
        }
        let response = response.into_response(&out.asked())?;
        let finish = response.finish.clone();
        for chunk in Chunk::all_of(response) {
            let missing = match &chunk {
                Chunk::Text(_) | Chunk::Refusal(_) => !self.spoke,
                Chunk::ToolCall { .. } => self.calls.is_empty(),
                _ => false,
            };
            if missing {
                out.push(chunk);
            }
        }
        out.end(finish);
        Ok(())
    }
}

/// An event of any kind. Fields of another type than expected are not there.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "lenient::word")]
    item_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "lenient::object")]
    item: Option<Item<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::object")]
    response: Option<WireResponse<'a>>,
    // An error says it flat; gateways wrap it as everywhere else.
    error: Option<Value>,
    code: Option<Value>,
    message: Option<Value>,
    param: Option<Value>,
}

impl Event<'_> {
    fn place(&self) -> Place {
        let id = self.item_id.as_ref().or(self.item.as_ref().and_then(|item| item.id.as_ref()));
        match (self.output_index, id) {
            (Some(index), _) => Place::Index(index),
            (None, Some(id)) => Place::Id(id.clone().into_owned()),
            (None, None) => Place::Unknown,
        }
    }

    fn failure(self, out: &Out) -> ProviderError {
        let flat = || json!({ "code": self.code, "message": self.message, "param": self.param });
        out.in_band(self.error.filter(is_error).unwrap_or_else(flat))
    }
}

#[cfg(test)]
mod tests;
