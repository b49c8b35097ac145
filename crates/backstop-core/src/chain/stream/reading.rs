//! One vendor's stream, read chunk by chunk into a response.

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    task::{Context, Poll},
};

use futures_util::StreamExt;
use tokio::time::Instant;

use super::{event::StreamEvent, mailbox::Side, meter::Meter};
use crate::{
    chunk::{Chunk, ChunkStream},
    error::{FailureKind, ProviderError},
    response::{FinishKind, Response},
    target::TargetId,
    tool::ToolCall,
};

/// So many chunks are read before others have a turn: a timer beside a stream that always has a chunk ready would
/// never be looked at.
const AT_ONCE: u32 = 64;

pub(crate) struct Reading {
    chunks: ChunkStream,
    /// Chunks since the others' last turn.
    read: u32,
    pub(crate) meter: Meter,
    target: TargetId,
    /// The answer so far.
    pub(crate) response: Response,
    /// Where in the answer the tool call with one of the vendor's indexes is.
    calls: BTreeMap<usize, usize>,
    /// What the consumer has not been given yet.
    pub(crate) held: VecDeque<StreamEvent>,
    /// It goes on with another target's text.
    pub(crate) continues: bool,
    /// Blanks at the end of that text were not sent, so those at the beginning of this one are theirs.
    skips_blanks: bool,
    announced: bool,
    /// The answer is complete and was accepted.
    pub(crate) accepted: bool,
}

/// What a chunk brought.
pub(crate) enum Read {
    Content(StreamEvent),
    /// Text without a visible character, which may be shown but is no content.
    Blanks(StreamEvent),
    Reasoning(String),
    /// A sign of life, or something that is no content.
    Nothing,
    /// The vendor says that the model declines.
    Refused,
    /// The model is done.
    Ended,
}

impl Read {
    /// What the consumer is shown of it.
    pub(crate) fn event(self, reasoning: bool) -> Option<StreamEvent> {
        match self {
            Self::Content(event) | Self::Blanks(event) => Some(event),
            Self::Reasoning(text) => reasoning.then_some(StreamEvent::Reasoning(text)),
            Self::Nothing | Self::Refused | Self::Ended => None,
        }
    }
}

impl Reading {
    pub(crate) fn new(chunks: ChunkStream, meter: Meter, target: TargetId, beginning: Option<&str>) -> Self {
        let beginning = beginning.unwrap_or_default();
        Self {
            chunks,
            read: 0,
            meter,
            target,
            response: Response::new(beginning).with_finish(FinishKind::Unknown),
            calls: BTreeMap::new(),
            held: VecDeque::new(),
            continues: !beginning.is_empty(),
            skips_blanks: beginning.ends_with(char::is_whitespace),
            announced: false,
            accepted: false,
        }
    }

    /// The next chunk. Giving up on it loses nothing: the stream keeps its place.
    pub(crate) async fn next(&mut self) -> Result<Read, ProviderError> {
        if self.read >= AT_ONCE {
            // Dropped here, the next call waits in its place.
            give_way().await;
            self.read = 0;
        }
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next chunk if it is there, and if others have had their turn, for which [`next`](Self::next) sees. Without
    /// the end mark a stream was cut, wherever its body ends.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Read, ProviderError>> {
        if self.read >= AT_ONCE {
            return Poll::Pending;
        }
        let Poll::Ready(chunk) = self.chunks.poll_next_unpin(cx) else {
            self.read = 0;
            return Poll::Pending;
        };
        self.read += 1;
        Poll::Ready(match chunk {
            Some(Ok(chunk)) => Ok(self.take(chunk)),
            Some(Err(error)) => Err(error),
            None => Err(ProviderError::new(
                FailureKind::MalformedResponse,
                "the stream ended before the model was done",
            )),
        })
    }

    fn take(&mut self, chunk: Chunk) -> Read {
        match chunk {
            Chunk::Text(text) => self.text(text),
            Chunk::ToolCall { index, id, name, arguments } => self.tool_call(index, id, name, arguments),
            Chunk::ToolSignature { index, signature } => self.signature(index, signature),
            Chunk::Reasoning(text) => {
                self.meter.output(&text);
                Read::Reasoning(text)
            }
            Chunk::Refusal(text) => {
                self.meter.output(&text);
                self.response.refusal.get_or_insert_default().push_str(&text);
                Read::Refused
            }
            Chunk::Usage(usage) => {
                self.meter.vendor(usage);
                Read::Nothing
            }
            Chunk::Meta { model, request_id } => {
                if let Some(id) = &request_id {
                    self.meter.request_id(id);
                }
                self.response.model = model.or(self.response.model.take());
                self.response.request_id = request_id.or(self.response.request_id.take());
                Read::Nothing
            }
            Chunk::End(finish) => {
                self.response.finish = finish;
                self.meter.complete();
                self.response.usage = self.meter.usage();
                Read::Ended
            }
            Chunk::Note(note) => {
                self.response.notes.push(note);
                Read::Nothing
            }
            Chunk::Ping => Read::Nothing,
        }
    }

    fn text(&mut self, mut text: String) -> Read {
        self.meter.output(&text);
        if self.skips_blanks {
            text = text.trim_start().to_owned();
        }
        if text.is_empty() {
            return Read::Nothing;
        }
        self.skips_blanks = false;
        self.response.text.push_str(&text);
        let blank = text.chars().all(char::is_whitespace);
        let event = StreamEvent::Delta(text);
        if blank { Read::Blanks(event) } else { Read::Content(event) }
    }

    fn tool_call(
        &mut self,
        index: usize,
        id: Option<String>,
        name: Option<String>,
        arguments: String,
    ) -> Read {
        self.meter.output(&arguments);
        let calls = &mut self.response.tool_calls;
        let place = *self.calls.entry(index).or_insert_with(|| {
            calls.push(ToolCall::new(format!("call_{index}"), "", ""));
            calls.len() - 1
        });
        if let Some(call) = calls.get_mut(place) {
            if let Some(id) = &id {
                call.id.clone_from(id);
            }
            if let Some(name) = &name {
                call.name.clone_from(name);
            }
            call.arguments.push_str(&arguments);
        }
        Read::Content(StreamEvent::ToolCall { index, id, name, arguments })
    }

    fn signature(&mut self, index: usize, signature: String) -> Read {
        let place = self.calls.get(&index);
        if let Some(call) = place.and_then(|place| self.response.tool_calls.get_mut(*place)) {
            call.signature = Some(signature);
        }
        Read::Nothing
    }

    /// Hands an event over, and before the first one says whose it is. Comes back when the consumer wants more.
    pub(crate) async fn emit(&mut self, side: &Side, event: StreamEvent, since: Instant) -> Instant {
        let since = self.announce(side, since).await;
        side.emit(event, since).await
    }

    /// Says whose answer it is, once.
    pub(crate) async fn announce(&mut self, side: &Side, since: Instant) -> Instant {
        if std::mem::replace(&mut self.announced, true) {
            return since;
        }
        side.emit(side.announcement(self.target.clone(), self.continues), since).await
    }
}

/// Lets timers, other branches and other tasks have their turn.
async fn give_way() {
    let mut given = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
