//! From a body of server-sent events to chunks: what both APIs have in common.

use std::{borrow::Cow, collections::VecDeque};

use backstop_core::{Chunk, FinishReason, Progress, ProviderError, Response, Usage};
use backstop_http::{
    ApiKey, DecodeError, Reply, SseDecoder, SseEvent, SseItem,
    recognise::Asked,
    streaming::{StreamReader, malformed},
};

use crate::{error, format::AnswerChunks};

/// What one event of the body brings.
pub(crate) type Step = Result<Chunk, ProviderError>;

/// The events of one API.
pub(crate) trait Events: Send {
    /// Takes an event that has data.
    ///
    /// # Errors
    /// The event is an error, or not one of this API; the stream ends with it.
    fn event(&mut self, event: SseEvent<'_>, out: &mut Out) -> Result<(), ProviderError>;

    /// Reads a whole answer that stands in the body without a stream around it.
    ///
    /// # Errors
    /// It is an error, or no answer.
    fn whole(&self, reply: &Reply, asked: &Asked<'_>) -> Result<Response, ProviderError>;
}

/// Reads events into chunks; knows nothing of where the bytes come from.
pub(crate) struct Reader {
    events: Box<dyn Events>,
    out: Out,
}

impl Reader {
    pub(crate) fn new(
        events: Box<dyn Events>,
        request_id: Option<String>,
        progress: Progress,
        schema: bool,
        key: Option<ApiKey>,
    ) -> Self {
        let out = Out {
            waiting: VecDeque::new(),
            progress,
            request_id,
            met: false,
            named: false,
            schema,
            key,
            answer: None,
            stop: None,
            done: false,
        };
        Self { events, out }
    }

    /// The answer is the arguments of a tool, to be passed on as text.
    pub(crate) fn with_answer(mut self, answer: Option<AnswerChunks>) -> Self {
        self.out.answer = answer;
        self
    }
}

impl StreamReader for Reader {
    type Decoder = SseDecoder;

    fn item(&mut self, item: Result<SseItem<'_>, DecodeError>) {
        let step = match item {
            Ok(SseItem::Event(event)) if event.data.trim() == "[DONE]" => {
                // Some servers say that the stream is over without a reason.
                let finish = self.out.stop.take().unwrap_or_default();
                self.out.end(finish);
                Ok(())
            }
            Ok(SseItem::Event(event)) => self.event(event),
            Ok(SseItem::Stray(text)) => self.stray(text),
            Ok(_) => {
                self.out.push(Chunk::Ping);
                Ok(())
            }
            Err(error) => Err(malformed("the stream cannot be decoded").with_source(error)),
        };
        if let Err(error) = step {
            self.out.waiting.push_back(Err(error));
            self.out.done = true;
        }
    }

    fn finish(&mut self) {
        self.out.finish();
    }

    fn next(&mut self) -> Option<Step> {
        self.out.waiting.pop_front()
    }

    fn is_done(&self) -> bool {
        self.out.done
    }
}

impl Reader {
    /// Every event is a sign of life, also one that brings nothing.
    fn event(&mut self, event: SseEvent<'_>) -> Result<(), ProviderError> {
        let before = self.out.waiting.len();
        self.events.event(event, &mut self.out)?;
        let only_meta = self.out.waiting.len() == before + 1
            && matches!(self.out.waiting.back(), Some(Ok(Chunk::Meta { .. })));
        if self.out.waiting.len() == before || only_meta {
            self.out.push(Chunk::Ping);
        }
        Ok(())
    }

    /// JSON outside of any event: an error, or a whole answer without a stream around it.
    fn stray(&mut self, text: &str) -> Result<(), ProviderError> {
        let reply = Reply::new(200, Default::default(), text.to_owned());
        let response = self.events.whole(&reply, &self.out.asked())?;
        Chunk::all_of(response).for_each(|chunk| self.out.push(chunk));
        self.out.done = true;
        Ok(())
    }
}

/// What the events have brought so far.
pub(crate) struct Out {
    waiting: VecDeque<Step>,
    progress: Progress,
    request_id: Option<String>,
    /// Meta was passed on, and the model with it.
    met: bool,
    named: bool,
    schema: bool,
    key: Option<ApiKey>,
    answer: Option<AnswerChunks>,
    /// Why the model stopped, once it has said so, while counts may still follow.
    stop: Option<FinishReason>,
    /// Nothing more is to come.
    done: bool,
}

impl Out {
    pub(crate) fn push(&mut self, chunk: Chunk) {
        let chunk = match &mut self.answer {
            Some(answer) => answer.restore(chunk),
            None => chunk,
        };
        self.waiting.push_back(Ok(chunk));
    }

    /// A piece of text, unless it is empty.
    pub(crate) fn say(&mut self, text: Option<Cow<'_, str>>, chunk: fn(String) -> Chunk) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.push(chunk(text.into_owned()));
        }
    }

    /// Model and id of the answer, which are passed on when they become known.
    pub(crate) fn meet(&mut self, model: Option<&str>, id: Option<&str>) {
        let model = model.filter(|model| !model.is_empty());
        if self.met && (self.named || model.is_none()) {
            return;
        }
        (self.met, self.named) = (true, model.is_some());
        let model = model.map(str::to_owned);
        self.request_id = self.request_id.take().or_else(|| id.map(str::to_owned));
        if let Some(id) = &self.request_id {
            self.progress.request_id(id);
        }
        self.push(Chunk::Meta { model, request_id: self.request_id.clone() });
    }

    pub(crate) fn count(&mut self, usage: Usage) {
        self.progress.usage(usage);
        self.push(Chunk::Usage(usage));
    }

    /// The model has stopped; the stream goes on.
    pub(crate) fn stop(&mut self, finish: FinishReason) {
        self.stop = Some(finish);
    }

    /// The stream is over.
    pub(crate) fn end(&mut self, finish: FinishReason) {
        self.push(Chunk::End(finish));
        self.done = true;
    }

    /// The body is over. Without a reason why the model stopped it was cut, and there is no end.
    fn finish(&mut self) {
        if let Some(finish) = self.stop.take() {
            self.end(finish);
        }
        self.done = true;
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        Asked::new(self.schema, &[], self.key.as_ref())
    }

    /// The failure that an event's `error` is.
    pub(crate) fn in_band(&self, error: serde_json::Value) -> ProviderError {
        error::in_band(error, &self.asked())
    }
}
