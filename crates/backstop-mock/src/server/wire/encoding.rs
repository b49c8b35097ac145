//! What a wire format must be able to do.

use serde_json::Value;

use super::super::{ApiError, Completion, ReceivedMessage};

/// The moment every reply claims to be from: 2026-01-01T00:00:00Z. Fixed, so that snapshots hold.
pub(super) const CREATED: u64 = 1_767_225_600;
/// [`CREATED`] for formats that write time out.
pub(super) const CREATED_TEXT: &str = "2026-01-01T00:00:00Z";

/// What a format may want to know about the exchange.
#[derive(Clone, Copy)]
pub(in super::super) struct Context<'a> {
    /// The request's number at this server, from 1; ids are made of it.
    pub(in super::super) number: usize,
    /// The model the request asked for.
    pub(in super::super) model: &'a str,
    /// The parsed request, `Null` if it is no JSON.
    pub(in super::super) request: &'a Value,
    /// Whether the client asked for server-sent events in the URL (Gemini).
    pub(in super::super) wants_sse: bool,
}

impl<'a> Context<'a> {
    /// The model a completion claims to be from.
    pub(super) fn served<'c>(&self, completion: &'c Completion) -> &'c str
    where
        'a: 'c,
    {
        completion.model.as_deref().unwrap_or(self.model)
    }
}

/// A completion cut into events, each complete with its framing.
pub(in super::super) struct StreamParts {
    pub(in super::super) content_type: &'static str,
    /// Before the first piece of text.
    pub(in super::super) lead: Vec<String>,
    /// The text, piece by piece.
    pub(in super::super) pieces: Vec<String>,
    /// What follows the text: tool calls, finish reason, usage.
    pub(in super::super) tail: Vec<String>,
    /// What tells the client that the stream is complete, if the format has such a thing.
    pub(in super::super) end: Option<String>,
    /// Something that says "still here" without content; empty if the format knows none.
    pub(in super::super) keep_alive: &'static str,
}

/// One wire format.
pub(in super::super) trait Encoding: Send + Sync {
    /// The body of an answer in one piece.
    fn completion(&self, completion: &Completion, context: &Context<'_>) -> Value;

    /// Status and body of an error.
    fn error(&self, error: &ApiError, context: &Context<'_>) -> (u16, Value);

    /// The body of an error that comes with status 200.
    fn in_band(&self, error: &ApiError, context: &Context<'_>) -> Value {
        self.error(error, context).1
    }

    /// The events of an answer whose text is cut into `pieces`.
    fn stream(&self, completion: &Completion, pieces: &[&str], context: &Context<'_>) -> StreamParts;

    /// An error inside a stream, after `sent` events.
    fn stream_error(&self, error: &ApiError, sent: usize, context: &Context<'_>) -> String;

    /// The conversation in a request, system text first.
    fn messages(&self, request: &Value) -> Vec<ReceivedMessage>;

    /// Whether the request asks for a stream.
    fn asks_for_stream(&self, request: &Value, _path: &str) -> bool {
        request.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The response header that carries the request id, if the vendor sends one.
    fn request_id_header(&self) -> Option<&'static str>;
}
