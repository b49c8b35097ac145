//! From a body that is read as it comes to the chunks of an answer: what is the same for all vendors.

use std::{
    collections::BTreeMap,
    pin::Pin,
    task::{Context, Poll, ready},
};

use backstop_core::{Chunk, ChunkStream, FailureKind, FinishKind, ProviderError, Response, ToolCall};
use futures_util::Stream;

use crate::{
    exchange::{Opened, Reply},
    lines::{DecodeError, StreamLimits},
    ndjson::NdjsonDecoder,
    sse::{SseDecoder, SseItem},
};

/// Cuts bytes into the items of a stream, wherever the bytes are cut.
pub trait Decoder: Send + Unpin {
    /// An event, or a line, as the decoder holds it.
    type Item<'a>: Copy
    where
        Self: 'a;

    /// A decoder at the beginning of a body.
    fn new(limits: StreamLimits) -> Self;

    /// Takes the next bytes.
    fn push(&mut self, bytes: &[u8]);

    /// The body is over.
    fn finish(&mut self);

    /// The next item that is complete.
    fn next_item(&mut self) -> Option<Result<Self::Item<'_>, DecodeError>>;
}

impl Decoder for SseDecoder {
    type Item<'a> = SseItem<'a>;

    fn new(limits: StreamLimits) -> Self {
        Self::new(limits)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    fn finish(&mut self) {
        self.finish();
    }

    fn next_item(&mut self) -> Option<Result<SseItem<'_>, DecodeError>> {
        self.next_item()
    }
}

impl Decoder for NdjsonDecoder {
    type Item<'a> = &'a str;

    fn new(limits: StreamLimits) -> Self {
        Self::new(limits)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    fn finish(&mut self) {
        self.finish();
    }

    fn next_item(&mut self) -> Option<Result<&str, DecodeError>> {
        self.next_line()
    }
}

/// Reads the items of one vendor's streams into chunks; knows nothing of where the bytes come from.
pub trait StreamReader: Send + Unpin + 'static {
    /// What cuts the bytes.
    type Decoder: Decoder;

    /// Takes an item.
    fn item(&mut self, item: Result<<Self::Decoder as Decoder>::Item<'_>, DecodeError>);

    /// The body is over. If the answer is not, it was cut, and there is no [`Chunk::End`].
    fn finish(&mut self);

    /// The next chunk that is ready. An error is the last one.
    fn next(&mut self) -> Option<Result<Chunk, ProviderError>>;

    /// Whether no more chunks are to come, whatever the body still brings.
    fn is_done(&self) -> bool;
}

/// Turns a body into chunks, as they come.
pub fn chunks<R: StreamReader>(opened: Opened, reader: R) -> ChunkStream {
    let decoder = R::Decoder::new(opened.limits());
    Box::pin(Chunks { opened, decoder, reader, ended: false, failed: false })
}

struct Chunks<R: StreamReader> {
    opened: Opened,
    decoder: R::Decoder,
    reader: R,
    ended: bool,
    /// An error was given out, which ends the stream.
    failed: bool,
}

impl<R: StreamReader> Stream for Chunks<R> {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let body = self.get_mut();
        loop {
            if body.failed {
                return Poll::Ready(None);
            }
            if let Some(chunk) = body.reader.next() {
                body.failed = chunk.is_err();
                return Poll::Ready(Some(chunk));
            }
            if body.reader.is_done() {
                return Poll::Ready(None);
            }
            if let Some(item) = body.decoder.next_item() {
                body.reader.item(item);
                continue;
            }
            if body.ended {
                body.reader.finish();
                continue;
            }
            match ready!(body.opened.poll_chunk(cx)) {
                Some(Ok(bytes)) => body.decoder.push(&bytes),
                Some(Err(error)) => {
                    body.failed = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    body.decoder.finish();
                    body.ended = true;
                }
            }
        }
    }
}

/// Reads a stream that came as the answer to a request for a whole answer.
///
/// # Errors
/// The stream holds an error, or was cut.
pub fn collect<R: StreamReader>(reply: &Reply, mut reader: R) -> Result<Response, ProviderError> {
    let mut decoder = R::Decoder::new(StreamLimits::new(reply.body.len(), reply.body.len()));
    decoder.push(&reply.body);
    decoder.finish();
    let mut answer = Collected::default();
    while !reader.is_done() {
        match decoder.next_item() {
            Some(item) => reader.item(item),
            None => reader.finish(),
        }
        while let Some(chunk) = reader.next() {
            answer.add(chunk?);
        }
    }
    answer.finished()
}

/// The failure of a stream with a success status.
pub fn malformed(message: &'static str) -> ProviderError {
    ProviderError::new(FailureKind::MalformedResponse, message).with_status(200)
}

/// An answer that is put together from its chunks.
struct Collected {
    response: Response,
    calls: BTreeMap<usize, ToolCall>,
    ended: bool,
}

impl Default for Collected {
    fn default() -> Self {
        let response = Response::new("").with_finish(FinishKind::Unknown);
        Self { response, calls: BTreeMap::new(), ended: false }
    }
}

impl Collected {
    fn add(&mut self, chunk: Chunk) {
        let response = &mut self.response;
        match chunk {
            Chunk::Text(text) => response.text.push_str(&text),
            Chunk::Refusal(text) => response.refusal.get_or_insert_default().push_str(&text),
            Chunk::Usage(usage) => response.usage = Some(usage),
            Chunk::Note(note) => response.notes.push(note),
            Chunk::Meta { model, request_id } => {
                response.model = model.or(response.model.take());
                response.request_id = request_id.or(response.request_id.take());
            }
            Chunk::ToolCall { index, id, name, arguments } => {
                let call = self.call(index);
                call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
                call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
                call.arguments.push_str(&arguments);
            }
            Chunk::ToolSignature { index, signature } => self.call(index).signature = Some(signature),
            Chunk::End(finish) => (response.finish, self.ended) = (finish, true),
            _ => {}
        }
    }

    fn call(&mut self, index: usize) -> &mut ToolCall {
        self.calls.entry(index).or_insert_with(|| ToolCall::new(format!("call_{index}"), "", ""))
    }

    fn finished(mut self) -> Result<Response, ProviderError> {
        if !self.ended {
            return Err(malformed("the stream ended before the model was done"));
        }
        self.response.tool_calls = self.calls.into_values().collect();
        Ok(self.response)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use backstop_core::Usage;

    use super::*;

    /// Speaks a line as text; `end` is the end, `bad` an error.
    #[derive(Default)]
    struct Lines {
        waiting: VecDeque<Result<Chunk, ProviderError>>,
        done: bool,
    }

    impl StreamReader for Lines {
        type Decoder = NdjsonDecoder;

        fn item(&mut self, line: Result<&str, DecodeError>) {
            match line.unwrap() {
                "end" => self.waiting.extend(Chunk::all_of(whole_answer()).map(Ok)),
                "bad" => self.waiting.push_back(Err(malformed("bad"))),
                line => self.waiting.push_back(Ok(Chunk::Text(line.to_owned()))),
            }
        }

        fn finish(&mut self) {
            self.done = true;
        }

        fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
            self.waiting.pop_front()
        }

        fn is_done(&self) -> bool {
            self.done
        }
    }

    fn whole_answer() -> Response {
        Response::new("last")
            .with_model("m")
            .with_usage(Usage::new(1, 2))
            .with_refusal("no")
            .with_note("by the way")
            .with_tool_call(ToolCall::new("1", "f", "{}").with_signature("sealed"))
    }

    fn collected(body: &str) -> Result<Response, ProviderError> {
        collect(&Reply::new(200, Default::default(), body.to_owned()), Lines::default())
    }

    #[test]
    fn chunks_add_up_to_the_answer_they_were_made_of() {
        let mut response = collected("one\ntwo\nend\n").unwrap();
        assert_eq!(response.text, "onetwolast");
        response.text = "last".to_owned();
        assert!(response == whole_answer(), "{response:?}");
    }

    #[test]
    fn a_stream_without_its_end_is_no_answer() {
        assert_eq!(collected("one\n").unwrap_err().kind(), FailureKind::MalformedResponse);
        assert_eq!(collected("one\nbad\nend\n").unwrap_err().message(), "bad");
    }
}
