//! From lines of JSON to chunks.

use std::collections::VecDeque;

use backstop_core::{Chunk, ChunkStream, FailureKind, Progress, ProviderError, Response};
use backstop_http::{ApiKey, DecodeError, NdjsonDecoder, Opened, recognise::Asked};
use futures_util::{StreamExt, stream};

use crate::{
    error,
    response::{self, Chat, WireMessage},
};

/// What one line of the body brings.
type Step = Result<Chunk, ProviderError>;

/// What of the request matters for reading its answer.
pub(crate) struct Question {
    pub(crate) model: String,
    /// A schema went with it.
    pub(crate) schema: bool,
    pub(crate) key: Option<ApiKey>,
}

/// Turns a body into chunks.
pub(crate) fn chunks(opened: Opened, progress: Progress, question: Question) -> ChunkStream {
    let decoder = NdjsonDecoder::new(opened.limits());
    let reader = Reader::new(opened.request_id.clone(), progress, question);
    let open = Open { opened, decoder, reader };
    stream::unfold(Some(open), |open| async move {
        let mut open = open?;
        match open.next().await {
            // An error ends the stream.
            Some(Err(error)) => Some((Err(error), None)),
            Some(chunk) => Some((chunk, Some(open))),
            None => None,
        }
    })
    .boxed()
}

/// A whole answer as chunks, for a server that answers a stream request without a stream.
pub(crate) fn whole(response: Response) -> ChunkStream {
    let chunks: Vec<Step> = pieces(response).map(Ok).collect();
    stream::iter(chunks).boxed()
}

struct Open {
    opened: Opened,
    decoder: NdjsonDecoder,
    reader: Reader,
}

impl Open {
    async fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(step) = self.reader.waiting.pop_front() {
                return Some(step);
            }
            if self.reader.done {
                return None;
            }
            match self.decoder.next_line() {
                Some(line) => self.reader.line(line),
                None if self.reader.ended => self.reader.done = true,
                None => match self.opened.chunk().await {
                    Ok(Some(bytes)) => self.decoder.push(&bytes),
                    Ok(None) => {
                        self.decoder.finish();
                        self.reader.ended = true;
                    }
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

/// Reads lines into chunks; knows nothing of where the bytes come from. A body that ends before the line that says
/// `done` was cut, and has no end.
struct Reader {
    waiting: VecDeque<Step>,
    progress: Progress,
    request_id: Option<String>,
    question: Question,
    met: bool,
    /// Tool calls so far.
    calls: usize,
    /// The body has ended.
    ended: bool,
    /// Nothing more is to come.
    done: bool,
}

impl Reader {
    fn new(request_id: Option<String>, progress: Progress, question: Question) -> Self {
        Self {
            waiting: VecDeque::new(),
            progress,
            request_id,
            question,
            met: false,
            calls: 0,
            ended: false,
            done: false,
        }
    }

    fn line(&mut self, line: Result<String, DecodeError>) {
        let chat = match line {
            // The parser's own error is left out: it may quote the answer.
            Ok(line) => serde_json::from_str(&line)
                .map_err(|_| malformed("a line of the stream is not the JSON of `/api/chat`")),
            Err(error) => Err(malformed("the stream cannot be decoded").with_source(error)),
        };
        match chat {
            Ok(chat) => self.chat(chat),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: ProviderError) {
        self.waiting.push_back(Err(error));
        self.done = true;
    }

    fn chat(&mut self, mut chat: Chat) {
        if let Some(error) = chat.error.take().filter(error::is_error) {
            let asked = Asked::new(self.question.schema, &[], self.question.key.as_ref());
            let error = error::in_band(error, &asked, &self.question.model);
            return self.fail(error);
        }
        let before = self.waiting.len();
        if !std::mem::replace(&mut self.met, true) {
            let request_id = self.request_id.take();
            self.waiting.push_back(Ok(Chunk::Meta { model: chat.model.take(), request_id }));
        }
        if let Some(message) = chat.message.take() {
            self.message(message);
        }
        if let Some(usage) = chat.usage() {
            self.progress.usage(usage);
            self.waiting.push_back(Ok(Chunk::Usage(usage)));
        }
        if chat.done == Some(true) {
            self.waiting.push_back(Ok(Chunk::End(response::finish(chat.done_reason, self.calls > 0))));
            self.done = true;
        } else if self.waiting.len() == before {
            self.waiting.push_back(Ok(Chunk::Ping));
        }
    }

    fn message(&mut self, message: WireMessage) {
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        self.waiting.extend(some(message.thinking).map(|text| Ok(Chunk::Reasoning(text))));
        self.waiting.extend(some(message.content).map(|text| Ok(Chunk::Text(text))));
        for call in message.tool_calls.unwrap_or_default() {
            let index = self.calls;
            self.calls += 1;
            let call = call.into_call(index);
            let (id, name) = (Some(call.id), Some(call.name));
            self.waiting.push_back(Ok(Chunk::ToolCall { index, id, name, arguments: call.arguments }));
        }
    }
}

fn malformed(message: &'static str) -> ProviderError {
    ProviderError::new(FailureKind::MalformedResponse, message).with_status(200)
}

fn pieces(response: Response) -> impl Iterator<Item = Chunk> {
    let Response { text, tool_calls, finish, usage, model, request_id, .. } = response;
    let calls = tool_calls.into_iter().enumerate().map(|(index, call)| Chunk::ToolCall {
        index,
        id: Some(call.id),
        name: Some(call.name),
        arguments: call.arguments,
    });
    std::iter::once(Chunk::Meta { model, request_id })
        .chain((!text.is_empty()).then_some(Chunk::Text(text)))
        .chain(calls)
        .chain(usage.map(Chunk::Usage))
        .chain(std::iter::once(Chunk::End(finish)))
}

#[cfg(test)]
mod tests;
