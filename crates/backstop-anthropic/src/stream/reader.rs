//! Reads events into chunks; knows nothing of where the bytes come from.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
};

use backstop_core::{Chunk, FinishKind, Progress, ProviderError};
use backstop_http::{
    ApiKey, DecodeError, Reply, SseDecoder, SseEvent, SseItem,
    recognise::{self, Asked},
    streaming::{StreamReader, malformed},
};
use serde_json::value::RawValue;

use super::event::{Delta, Event};
use crate::{
    error,
    request::Format,
    response::{self, Block, Kind, StopDetails, WireMessage, WireUsage},
};

pub(crate) struct Reader {
    waiting: VecDeque<Result<Chunk, ProviderError>>,
    progress: Progress,
    request_id: Option<String>,
    schema: bool,
    key: Option<ApiKey>,
    answer_tool: Option<String>,
    /// The tool that takes the answer was called.
    answered: bool,
    /// Texts beside the answer, which count if that tool is not called at all.
    held: String,
    blocks: BTreeMap<u64, Open>,
    calls: usize,
    usage: WireUsage,
    /// Why the model stopped, once it has said so.
    stop_reason: Option<String>,
    stop_details: Option<StopDetails>,
    /// Nothing more is to come.
    done: bool,
}

/// A block that has begun.
enum Open {
    /// Deltas say themselves what they are.
    Plain,
    /// A call of a tool of the caller's. `input`: what it began with, until a delta comes.
    Call { index: usize, input: Option<String> },
    /// A call of the tool that takes the answer.
    Answer { input: Option<String> },
    /// Not for the caller.
    Ignored,
}

impl StreamReader for Reader {
    type Decoder = SseDecoder;

    fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        self.waiting.pop_front()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn item(&mut self, item: Result<SseItem<'_>, DecodeError>) {
        match item {
            Ok(SseItem::Event(event)) if event.data.trim() == "[DONE]" => self.complete(),
            Ok(SseItem::Event(event)) => self.data(event),
            Ok(SseItem::Stray(text)) => self.stray(text),
            Ok(_) => self.say(Chunk::Ping),
            Err(error) => self.fail(malformed("the stream cannot be decoded").with_source(error)),
        }
    }

    /// Without a reason why the model stopped the body was cut, and there is no end.
    fn finish(&mut self) {
        if self.stop_reason.is_some() {
            self.complete();
        }
        self.done = true;
    }
}

impl Reader {
    pub(crate) fn new(
        request_id: Option<String>,
        progress: Progress,
        format: &Format,
        key: Option<ApiKey>,
    ) -> Self {
        Self {
            waiting: VecDeque::new(),
            progress,
            request_id,
            schema: format.has_schema(),
            key,
            answer_tool: format.answer_tool().map(str::to_owned),
            answered: false,
            held: String::new(),
            blocks: BTreeMap::new(),
            calls: 0,
            usage: WireUsage::default(),
            stop_reason: None,
            stop_details: None,
            done: false,
        }
    }

    /// The model is done.
    fn complete(&mut self) {
        for block in std::mem::take(&mut self.blocks).into_values() {
            self.close(block);
        }
        if !self.answered && !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.say(Chunk::Text(held));
        }
        let finish = response::finish(self.stop_reason.as_deref(), self.answered && self.calls == 0);
        if finish.kind == FinishKind::Refusal {
            let words = self.stop_details.take().unwrap_or_default().words();
            self.say(Chunk::Refusal(words));
        }
        self.say(Chunk::End(finish));
        self.done = true;
    }

    fn say(&mut self, chunk: Chunk) {
        self.waiting.push_back(Ok(chunk));
    }

    fn fail(&mut self, error: backstop_core::ProviderError) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    fn data(&mut self, event: SseEvent<'_>) {
        match serde_json::from_str::<Event<'_>>(event.data) {
            Ok(read) => {
                let before = self.waiting.len();
                self.event(read, event.name);
                if self.waiting.len() == before {
                    self.say(Chunk::Ping);
                }
            }
            // Without its cause, which may quote the answer.
            Err(_) => self.fail(malformed("an event of the stream is not JSON of this API")),
        }
    }

    /// JSON outside of any event: an error, or a whole answer without a stream around it.
    fn stray(&mut self, text: &str) {
        let reply = Reply::new(200, Default::default(), text.to_owned());
        let asked = Asked::new(self.schema, &[], self.key.as_ref());
        match response::read(&reply, false, self.answer_tool.as_deref(), &asked) {
            Ok(response) => {
                self.waiting.extend(Chunk::all_of(response).map(Ok));
                self.done = true;
            }
            Err(error) => self.fail(error),
        }
    }

    fn event(&mut self, event: Event<'_>, name: Option<&str>) {
        if let Some(found) = event.error.filter(recognise::is_error) {
            let asked = Asked::new(self.schema, &[], self.key.as_ref());
            let error = error::in_band(&found, &asked);
            let error = self.request_id.iter().fold(error, |error, id| error.with_request_id(id));
            return self.fail(error);
        }
        let index = event.index.unwrap_or(0);
        match event.r#type.as_deref().or(name) {
            Some("message_start") => self.start(*event.message.unwrap_or_default()),
            Some("content_block_start") => self.open(index, event.content_block),
            Some("content_block_delta") => self.delta(index, event.delta.unwrap_or_default()),
            Some("content_block_stop") => {
                if let Some(block) = self.blocks.remove(&index) {
                    self.close(block);
                }
            }
            Some("message_delta") => {
                let delta = event.delta.unwrap_or_default();
                self.stop_reason = delta.stop_reason.map(Cow::into_owned).or(self.stop_reason.take());
                self.stop_details = delta.stop_details.map(|details| *details).or(self.stop_details.take());
                self.count(event.usage.map(|usage| *usage));
            }
            Some("message_stop") => self.complete(),
            Some("error") => self.fail(malformed("the stream has an error event without an error")),
            // New events may come at any time.
            _ => {}
        }
    }

    fn start(&mut self, message: WireMessage<'_>) {
        let id = self.request_id.take().or_else(|| message.id.map(|id| id.into_owned()));
        if let Some(id) = &id {
            self.progress.request_id(id);
        }
        self.request_id.clone_from(&id);
        let model = message.model.map(|model| model.into_owned());
        self.say(Chunk::Meta { model, request_id: id });
        self.count(message.usage);
    }

    fn count(&mut self, usage: Option<WireUsage>) {
        if let Some(usage) = usage {
            self.usage.update(usage);
            let usage = self.usage.clone().into();
            self.progress.usage(usage);
            self.say(Chunk::Usage(usage));
        }
    }

    fn open(&mut self, index: u64, block: Option<&RawValue>) {
        let Some(block) = block.and_then(Block::read) else { return };
        let open = match block.kind() {
            Kind::Text => {
                self.text(block.text);
                Open::Plain
            }
            Kind::Thinking => {
                self.reasoning(block.thinking);
                Open::Plain
            }
            Kind::ToolUse if block.name.is_some() && block.name.as_deref() == self.answer_tool.as_deref() => {
                // One answer was asked for; of several the first counts.
                if std::mem::replace(&mut self.answered, true) {
                    Open::Ignored
                } else {
                    Open::Answer { input: Some(block.input_text().to_owned()) }
                }
            }
            Kind::ToolUse => self.call(&block),
            Kind::Fallback => {
                let model = block.next_model().map(str::to_owned);
                self.say(Chunk::Meta { model, request_id: self.request_id.clone() });
                Open::Ignored
            }
            Kind::Other => Open::Ignored,
        };
        if let Some(replaced) = self.blocks.insert(index, open) {
            self.close(replaced);
        }
    }

    fn call(&mut self, block: &Block<'_>) -> Open {
        let index = self.calls;
        self.calls += 1;
        let id = Some(block.id_or(index));
        let name = block.name.as_deref().map(str::to_owned);
        self.say(Chunk::ToolCall { index, id, name, arguments: String::new() });
        Open::Call { index, input: Some(block.input_text().to_owned()) }
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>) {
        match self.blocks.get_mut(&index) {
            Some(Open::Ignored) => {}
            Some(Open::Call { index, input }) => {
                let Some(arguments) = delta.partial_json.filter(|part| !part.is_empty()) else { return };
                *input = None;
                let (index, arguments) = (*index, arguments.into_owned());
                self.say(Chunk::ToolCall { index, id: None, name: None, arguments });
            }
            Some(Open::Answer { input }) => {
                let Some(part) = delta.partial_json.filter(|part| !part.is_empty()) else { return };
                *input = None;
                self.say(Chunk::Text(part.into_owned()));
            }
            Some(Open::Plain) | None => {
                self.reasoning(delta.thinking);
                self.text(delta.text);
            }
        }
    }

    fn close(&mut self, block: Open) {
        match block {
            Open::Call { index, input: Some(arguments) } => {
                self.say(Chunk::ToolCall { index, id: None, name: None, arguments });
            }
            Open::Answer { input: Some(text) } => self.say(Chunk::Text(text)),
            _ => {}
        }
    }

    fn text(&mut self, text: Option<Cow<'_, str>>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return };
        if self.answer_tool.is_some() {
            self.held.push_str(&text);
        } else {
            self.say(Chunk::Text(text.into_owned()));
        }
    }

    fn reasoning(&mut self, text: Option<Cow<'_, str>>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.say(Chunk::Reasoning(text.into_owned()));
        }
    }
}
