//! For tests of an adapter: its decoders, held to what they must keep whatever a server sends.
//!
//! | on any bytes | because |
//! | --- | --- |
//! | nothing panics | bytes come from outside |
//! | a stream gives the same chunks, wherever it is cut | the network cuts where it likes |
//! | an end or an error is the last chunk | the engine decides by it |
//! | the answer is not larger than a few times the body | a limit of bytes is a limit of memory |
//! | no error shows the key | servers quote it |
//!
//! Property tests of the adapters and the fuzz targets feed [`check`]. With the feature `testing`, or under a fuzzer.

use std::error::Error;

use backstop_core::{Chunk, ProviderError, Request, Response};
use serde_json::json;

use crate::{
    exchange::Reply,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
    lines::StreamLimits,
    streaming::{Decoder, StreamReader},
};

/// The key that the adapter is to be built with. A `@` in what [`check`] is given stands for it.
pub const KEY: &str = "sk-test-0123456789";

/// The limits of the streams that [`check`] decodes, low enough to be met.
pub const LIMITS: StreamLimits = StreamLimits { event: 2 << 10, total: 16 << 10 };

/// Statuses of error bodies.
const STATUSES: &[u16] = &[302, 400, 401, 402, 403, 404, 408, 413, 422, 429, 498, 500, 503, 529];

/// The requests whose answers are read: for a text, and for an object by a schema.
pub fn questions() -> [Request; 2] {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    [Request::new("x"), Request::new("x").json_schema("answer", schema)]
}

/// How an adapter reads the answer to one request.
pub trait Decoders {
    /// What reads its streams.
    type Reader: StreamReader;

    /// Reads a whole body with any status.
    ///
    /// # Errors
    /// It is an error, or no answer.
    fn read(&self, reply: &Reply) -> Result<Response, ProviderError>;

    /// A reader at the beginning of a stream.
    fn reader(&self) -> Self::Reader;
}

/// Decodes `data`, and holds the outcome to the rules above.
///
/// The first byte says which of the `forms` of an answer is read, and whether the rest is a body, a stream where a body
/// was due, an error body (a byte of status first) or a stream (eight sizes of pieces first).
///
/// # Panics
/// A rule is broken.
pub fn check(forms: &[impl Decoders], data: &[u8]) {
    let Some((pick, data)) = data.split_first() else { return };
    let Some(form) = forms.get(usize::from(pick >> 4) % forms.len().max(1)) else { return };
    match pick % 4 {
        0 => body(form, 200, "application/json", data),
        1 => body(form, 200, "text/event-stream", data),
        2 => {
            let Some((status, data)) = data.split_first() else { return };
            let status = STATUSES.get(usize::from(*status) % STATUSES.len()).copied().unwrap_or(500);
            body(form, status, "application/json", data);
        }
        _ => {
            let (sizes, data) = data.split_at(data.len().min(8));
            stream(form, sizes, data);
        }
    }
}

/// Decodes a stream that repeats `event` for ever, and one that repeats it without ever ending an event, with the
/// limits [`LIMITS`]. What memory it takes is for the caller to measure.
///
/// # Panics
/// A stream does not end with an error.
pub fn check_endless(form: &impl Decoders, event: &str) {
    let open = event.trim_end();
    for event in [event, open] {
        let times = 256 * LIMITS.total / event.len().max(1);
        let chunks = chunks(form.reader(), LIMITS, std::iter::repeat_n(event.as_bytes(), times));
        assert!(chunks.last().is_some_and(Result::is_err), "the limit is not held");
    }
}

/// The chunks of a stream that comes in these pieces.
pub fn chunks<'a, R: StreamReader>(
    mut reader: R,
    limits: StreamLimits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Chunk, ProviderError>> {
    let mut decoder = R::Decoder::new(limits);
    let mut pieces = pieces.into_iter();
    let (mut chunks, mut ended) = (Vec::new(), false);
    loop {
        chunks.extend(std::iter::from_fn(|| reader.next()));
        if reader.is_done() {
            return chunks;
        }
        match decoder.next_item() {
            Some(item) => reader.item(item),
            None if ended => reader.finish(),
            None => match pieces.next() {
                Some(piece) => decoder.push(piece),
                None => {
                    decoder.finish();
                    ended = true;
                }
            },
        }
    }
}

fn body(form: &impl Decoders, status: u16, media_type: &'static str, data: &[u8]) {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    let data = with_key(data);
    let most = most(data.len());
    match form.read(&Reply::new(status, headers, data)) {
        Ok(response) => {
            let calls: usize = response.tool_calls.iter().map(|call| call.arguments.len()).sum();
            let refusal = response.refusal.as_ref().map_or(0, String::len);
            assert!(response.text.len() + calls + refusal <= most, "the answer is larger than its body");
        }
        Err(error) => {
            // An error inside a success has the status that it names.
            assert!(status == 200 || error.status() == Some(status), "the status is lost");
            assert_hidden(&error);
        }
    }
}

fn stream(form: &impl Decoders, sizes: &[u8], data: &[u8]) {
    let data = with_key(data);
    let whole = chunks(form.reader(), LIMITS, [data.as_slice()]);
    let cut = chunks(form.reader(), LIMITS, pieces(sizes, &data));
    assert_eq!(comparable(&whole), comparable(&cut), "the cuts make a difference");
    assert!(written(&whole) <= most(data.len().min(LIMITS.total)), "the answer is larger than its body");
    for (at, chunk) in whole.iter().enumerate() {
        let is_last = at + 1 == whole.len();
        match chunk {
            Ok(Chunk::End(_)) => assert!(is_last, "something comes after the end"),
            Ok(_) => {}
            Err(error) => {
                assert!(is_last, "something comes after an error");
                assert_hidden(error);
            }
        }
    }
}

/// JSON escapes make a text shorter, numbers and defaults may make it longer.
fn most(bytes: usize) -> usize {
    8 * bytes + 256
}

fn with_key(data: &[u8]) -> Vec<u8> {
    let mut parts = data.split(|byte| *byte == b'@');
    let mut whole = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        whole.extend_from_slice(KEY.as_bytes());
        whole.extend_from_slice(part);
    }
    whole
}

/// `data` in pieces of these sizes, over and over.
fn pieces<'a>(sizes: &'a [u8], mut data: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().map(|size| usize::from(*size % 64) + 1).cycle();
    std::iter::from_fn(move || {
        let size = sizes.next().unwrap_or(1).min(data.len());
        let (piece, rest) = data.split_at(size);
        data = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Errors are compared by what they say.
fn comparable(chunks: &[Result<Chunk, ProviderError>]) -> Vec<Result<&Chunk, String>> {
    chunks.iter().map(|chunk| chunk.as_ref().map_err(|error| format!("{:?} {error}", error.kind()))).collect()
}

fn written(chunks: &[Result<Chunk, ProviderError>]) -> usize {
    chunks
        .iter()
        .map(|chunk| match chunk {
            Ok(Chunk::Text(text) | Chunk::Reasoning(text) | Chunk::Refusal(text)) => text.len(),
            Ok(Chunk::ToolCall { arguments, .. }) => arguments.len(),
            _ => 0,
        })
        .sum()
}

fn assert_hidden(error: &ProviderError) {
    // An id is looked for word by word at the vendor's, so it stays what the server says.
    let by_id = error.request_id().is_some_and(|id| id.contains(KEY));
    assert!(by_id || !format!("{error:?}").contains(KEY), "an error shows the key");
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        assert!(!error.to_string().contains(KEY), "an error shows the key");
        cause = error.source();
    }
}
