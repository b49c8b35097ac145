//! What the server is told to answer.

use std::time::Duration;

use serde_json::Value;

use super::{
    ApiError, Completion, End, Gate, Streaming,
    fault::{After, Cut, Faults, Framing, Hold, Pace},
    part::Chunk,
};

/// One scripted reply: what it says (a [`Completion`], an [`ApiError`], raw bytes), how it is streamed, and what goes
/// wrong on its way. Faults compose; each method says which part of the way it touches, and the last call wins where
/// two touch the same. Without faults the reply is sent at once and the connection is kept alive.
///
/// ```
/// use std::time::Duration;
/// use backstop_mock::server::{ApiError, Completion, End, Gate, Reply};
///
/// let gate = Gate::new();
/// let good = Reply::text(r#"{"number":"A-1"}"#);
/// let late_and_torn = Reply::text("never complete").after(&gate).cut_at(5, End::Reset);
/// let drip = Reply::text("slowly").slow_body(1, Duration::from_millis(5));
/// let throttled = Reply::from(ApiError::rate_limited()).retry_after("Fri, 31 Dec 2100 23:59:59 GMT");
/// let from_a_proxy = Reply::html(502, "<h1>Bad Gateway</h1>");
/// # let _ = (good, late_and_torn, drip, throttled, from_a_proxy);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a reply does nothing until it is pushed to a server"]
pub struct Reply {
    pub(super) content: Content,
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) blank_lines: usize,
    pub(super) streaming: Streaming,
    pub(super) faults: Faults,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Completion(Box<Completion>),
    Error(Box<ApiError>),
    InBand(Box<ApiError>),
    Body { status: u16, content_type: Option<String>, parts: Vec<Chunk>, streamed: bool },
    Garbage(Vec<u8>),
}

impl From<Completion> for Reply {
    fn from(completion: Completion) -> Self {
        Self::of(Content::Completion(Box::new(completion)))
    }
}

impl From<ApiError> for Reply {
    fn from(error: ApiError) -> Self {
        Self::of(Content::Error(Box::new(error)))
    }
}

/// What the reply says.
impl Reply {
    fn of(content: Content) -> Self {
        let (headers, streaming, faults) = (Vec::new(), Streaming::new(), Faults::default());
        Self { content, status: None, headers, blank_lines: 0, streaming, faults }
    }

    fn body_of(status: u16, content_type: Option<&str>, parts: Vec<Chunk>, streamed: bool) -> Self {
        let content_type = content_type.map(str::to_owned);
        Self::of(Content::Body { status, content_type, parts, streamed })
    }

    /// A plain answer: short for `Completion::text(text).into()`.
    pub fn text(text: impl Into<String>) -> Self {
        Completion::text(text).into()
    }

    /// The model declines: short for `Completion::refusal(words).into()`.
    pub fn refusal(words: impl Into<String>) -> Self {
        Completion::refusal(words).into()
    }

    /// An error inside a 200: the error body with the wrong status, a response that failed, or the first and only
    /// event of a stream.
    pub fn in_band(error: ApiError) -> Self {
        Self::of(Content::InBand(Box::new(error)))
    }

    /// A 200 with this JSON, whatever the request was.
    pub fn json(body: &Value) -> Self {
        Self::bytes("application/json", body.to_string())
    }

    /// A 200 with these bytes.
    pub fn bytes(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::body_of(200, Some(content_type), vec![Chunk::Bytes(body.into())], false)
    }

    /// A 200 with these server-sent events or lines, sent as they are, one chunk each. The caller writes the framing
    /// (`data: …\n\n`).
    pub fn events<S: Into<String>>(events: impl IntoIterator<Item = S>) -> Self {
        let parts = events.into_iter().map(|event| Chunk::Bytes(event.into().into_bytes())).collect();
        Self::body_of(200, Some("text/event-stream"), parts, true)
    }

    /// An HTML page, as proxies and load balancers send it.
    pub fn html(status: u16, page: impl Into<String>) -> Self {
        Self::body_of(status, Some("text/html"), vec![Chunk::Bytes(page.into().into_bytes())], false)
    }

    /// A status without body and type.
    pub fn bare(status: u16) -> Self {
        Self::body_of(status, None, Vec::new(), false)
    }

    /// A redirect. A client that follows it shows a second request.
    pub fn redirect(status: u16, location: impl Into<String>) -> Self {
        Self::bare(status).header("location", location)
    }

    /// A 200 with so many bytes of filler (the letter `a`), made while they are sent and never held in memory. For a
    /// huge but valid answer see [`Completion::huge`].
    pub fn filler(content_type: &str, bytes: u64) -> Self {
        Self::body_of(200, Some(content_type), vec![Chunk::Fill(bytes)], false)
    }

    /// These bytes instead of an HTTP response, then the end of the connection.
    pub fn garbage(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            faults: Faults { after: After::Close, ..Faults::default() },
            ..Self::of(Content::Garbage(bytes.into()))
        }
    }

    /// No answer at all: the connection ends so after the request was read. Short for a text with
    /// [`cut_response_at`](Self::cut_response_at)`(0, end)`.
    pub fn nothing(end: End) -> Self {
        Self::text("").cut_response_at(0, end)
    }

    /// Overrides the HTTP status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds a header, or replaces one that the server sends of its own accord (`content-type`, the request id). It is
    /// sent as it is, even if it is no valid header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds `Retry-After` as it stands: seconds, a fraction, an HTTP date or nonsense.
    pub fn retry_after(self, value: impl ToString) -> Self {
        self.header("retry-after", value.to_string())
    }

    /// Sends so many empty lines before the body, as DeepSeek does to keep a waiting connection alive. They count as
    /// body: with [`gate_body_at`](Self::gate_body_at) the answer proper can be held back behind them.
    pub fn blank_lines(mut self, lines: usize) -> Self {
        self.blank_lines = lines;
        self
    }

    /// How a completion is streamed if the request asks for a stream.
    pub fn streamed(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }
}

/// What goes wrong on the way.
impl Reply {
    /// Waits before the first byte. Several waits (gates too) are waited for in turn.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.faults.before.push(Hold::Time(delay));
        self
    }

    /// Waits at the gate before the first byte.
    pub fn after(mut self, gate: &Gate) -> Self {
        self.faults.before.push(Hold::Gate(gate.clone()));
        self
    }

    /// Sends the head so many bytes (at least 1) at a time, with a pause after each.
    pub fn slow_head(mut self, bytes: usize, pause: Duration) -> Self {
        self.faults.head_pace = Some(Pace { bytes: bytes.max(1), pause });
        self
    }

    /// Sends the body so many bytes (at least 1) at a time, with a pause after each.
    pub fn slow_body(mut self, bytes: usize, pause: Duration) -> Self {
        self.faults.body_pace = Some(Pace { bytes: bytes.max(1), pause });
        self
    }

    /// Waits at the gate when so many bytes of the body are sent; 0 is between head and body.
    pub fn gate_body_at(mut self, bytes: u64, gate: &Gate) -> Self {
        self.faults.body_gates.push((bytes, gate.clone()));
        self.faults.body_gates.sort_by_key(|(at, _)| *at);
        self
    }

    /// Cuts the reply when so many bytes of the body are sent; 0 sends the head alone. The length that was announced
    /// stays that of the whole. In a chunked body the framing does not count, and a cut at the full length leaves out
    /// the last chunk. Beyond the body's length nothing is cut.
    pub fn cut_at(mut self, bytes: u64, end: End) -> Self {
        self.faults.cut = Some((Cut::Body(bytes), end));
        self
    }

    /// Cuts the reply when so many bytes are sent, head included; 0 sends nothing.
    pub fn cut_response_at(mut self, bytes: u64, end: End) -> Self {
        self.faults.cut = Some((Cut::Whole(bytes), end));
        self
    }

    /// Announces this length, whatever the body has, and closes the connection after the body.
    pub fn content_length(mut self, bytes: u64) -> Self {
        self.faults.framing = Framing::Claimed(bytes);
        self
    }

    /// Sends the body in chunks of HTTP/1.1 even if its length is known.
    pub fn chunked(mut self) -> Self {
        self.faults.framing = Framing::Chunked;
        self
    }

    /// Announces no length: the body ends with the connection, as in HTTP/1.0.
    pub fn until_close(mut self) -> Self {
        self.faults.framing = Framing::UntilClose;
        self
    }

    /// Closes the connection after the reply, and says so in the head.
    pub fn close_after(mut self) -> Self {
        self.faults.after = After::Close;
        self
    }

    /// Closes the connection after the reply without saying so: what a client's pool meets when a server's idle time
    /// is over.
    pub fn close_unannounced(mut self) -> Self {
        self.faults.after = After::CloseUnannounced;
        self
    }
}
