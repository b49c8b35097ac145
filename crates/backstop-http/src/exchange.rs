//! One request and its response: the single place where bytes go over the wire.
//!
//! It makes one attempt, follows nothing, retries nothing, and notes in the attempt's [`Progress`] how far it has
//! come and which request id it was given, so that neither is lost when the attempt is cut short.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use backstop_core::{Attempt, FailureKind, Progress, ProviderError, Stage};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use reqwest::{
    Method, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::timeout;

use crate::{client::HttpClient, lines::StreamLimits, media_type, recognise::shortened, secret::scrub};

/// An error body is read up to here; what it has to say stands at its beginning.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// Memory is taken for a body of an announced length up to here; beyond it, as it comes.
const BELIEVED: usize = 1 << 20;
/// Longest request id that is kept, in characters. Vendors' have 40 at most.
const LONGEST_ID: usize = 200;
/// Some servers begin JSON with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One JSON request. `Debug` shows the size of its body only.
#[non_exhaustive]
pub struct Post {
    /// Where it goes.
    pub url: Url,
    /// Headers beside those that the client adds to every request. Credentials in it are to be marked sensitive.
    pub headers: HeaderMap,
    /// The JSON text.
    pub body: Vec<u8>,
    /// Response headers in which the vendor's request id may stand, first match first.
    pub request_id: &'static [&'static str],
}

impl Post {
    /// A request without headers of its own.
    pub fn new(url: Url, body: Vec<u8>) -> Self {
        Self { url, headers: HeaderMap::new(), body, request_id: &["x-request-id", "request-id"] }
    }

    /// Sets the headers.
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Adds the headers of the caller's request, in place of those of the same name.
    ///
    /// # Errors
    /// One of them cannot be sent. Its value is not shown.
    pub fn with_extra_headers(self, attempt: &Attempt<'_>) -> Result<Self, ProviderError> {
        let extra = attempt.request.extra_headers.iter();
        extra.into_iter().try_fold(self, |post, (name, value)| post.with_extra_header(name, value))
    }

    /// Adds one header of the caller's. Its value is treated as a secret.
    ///
    /// # Errors
    /// It cannot be sent. The value is not shown.
    pub fn with_extra_header(mut self, name: &str, value: &str) -> Result<Self, ProviderError> {
        let (Ok(key), Ok(mut value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        else {
            let message = format!("the extra header {name:?} cannot be sent: not a header name or value");
            return Err(ProviderError::new(FailureKind::InvalidRequest, message));
        };
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }
}

/// A response whose body has been read. `Debug` shows the size of its body only.
#[derive(Clone)]
#[non_exhaustive]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; that of an error may have been cut.
    pub body: Bytes,
    /// The vendor's request id.
    pub request_id: Option<String>,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Queries may hold keys.
        f.debug_struct("Post")
            .field("host", &self.url.host_str())
            .field("path", &self.url.path())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("request_id", &self.request_id)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Reply {
    /// A reply from its parts, for tests of an adapter.
    pub fn new(status: u16, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Self { status, headers, body: body.into(), request_id: None }
    }

    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON, of which texts may be borrowed.
    ///
    /// # Errors
    /// It is none, or not what `T` takes.
    pub fn json<'a, T: serde::Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        let body = self.body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.body);
        match std::str::from_utf8(body) {
            // Looking at it once costs less than at each text in it.
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(body),
        }
    }

    /// Whether the body is said to be server-sent events.
    pub fn is_events(&self) -> bool {
        media_type::is(&self.headers, "text/event-stream")
    }
}

/// A response whose body is still to be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The vendor's request id.
    pub request_id: Option<String>,
    response: reqwest::Response,
    limits: StreamLimits,
    error_wait: Duration,
    read: usize,
}

impl HttpClient {
    /// Sends a request and reads the whole response, whatever its status.
    ///
    /// # Errors
    /// Nothing came back, or a success body broke off or is over the limit.
    pub async fn send(&self, post: Post, progress: &Progress) -> Result<Reply, ProviderError> {
        self.open(post, progress).await?.read().await
    }

    /// Sends a request and waits for the head of the response.
    ///
    /// # Errors
    /// Nothing came back.
    pub async fn open(&self, post: Post, progress: &Progress) -> Result<Opened, ProviderError> {
        progress.enter(Stage::Connect);
        let mut request = reqwest::Request::new(Method::POST, post.url);
        *request.headers_mut() = post.headers;
        request.headers_mut().entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(reqwest::Body::wrap(Payload::new(post.body, progress.clone())));
        let opened_before = self.connections.as_ref().map(|connections| connections.opened());
        let mut response = self.client.execute(request).await.map_err(|error| {
            let reused =
                opened_before.is_some() && opened_before == self.connections.as_ref().map(|c| c.opened());
            unanswered(error, progress.stage(), reused)
        })?;
        progress.enter(Stage::Body);
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let id = post.request_id.iter().find_map(|name| headers.get(*name)?.to_str().ok());
        // It is printed in reports, and a server may put anything into it.
        let request_id = id.filter(|id| !id.is_empty()).map(|id| shortened(&scrub(id, None), LONGEST_ID));
        if let Some(id) = &request_id {
            progress.request_id(id);
        }
        let Self { limits, error_wait, .. } = *self;
        Ok(Opened { status, headers, request_id, response, limits, error_wait, read: 0 })
    }
}

impl Opened {
    /// Whether the status is a success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether a stream may follow: a success whose body is said to be neither one piece of JSON nor a page. Servers
    /// do not always name the type of a stream.
    pub fn is_stream(&self) -> bool {
        let is = |media_type| media_type::is(&self.headers, media_type);
        self.is_success() && !is("application/json") && !is("text/html")
    }

    /// The limits for decoding the body.
    pub fn limits(&self) -> StreamLimits {
        self.limits
    }

    /// The next piece of the body, or `None` at its end. Dropping the response cancels the request.
    ///
    /// # Errors
    /// The body broke off or is over the limit.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderError> {
        poll_fn(|cx| self.poll_chunk(cx)).await.transpose()
    }

    /// The same for a stream.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ProviderError>>> {
        // That future keeps nothing from one poll to the next, so it need not be kept either.
        let chunk = ready!(pin!(self.response.chunk()).poll(cx)).map_err(broken).transpose();
        let bytes = chunk.as_ref().and_then(|chunk| chunk.as_ref().ok());
        self.read = self.read.saturating_add(bytes.map_or(0, Bytes::len));
        Poll::Ready(if self.read > self.limits.total { Some(Err(self.too_large())) } else { chunk })
    }

    /// Reads the rest of the body. A body that belongs to an error is cut where it is too long, breaks off or hangs
    /// ([`ClientOptions::error_body_wait`](crate::ClientOptions::error_body_wait)): its status says more than a
    /// complaint about its body would.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), with a success status.
    pub async fn read(mut self) -> Result<Reply, ProviderError> {
        let body = if self.is_success() { self.success_body().await? } else { self.error_body().await };
        let Self { status, headers, request_id, .. } = self;
        Ok(Reply { status, headers, request_id, body: body.into() })
    }

    async fn success_body(&mut self) -> Result<Vec<u8>, ProviderError> {
        let announced =
            self.response.content_length().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        if announced > self.limits.total {
            return Err(self.too_large());
        }
        let mut body = Vec::with_capacity(announced.min(BELIEVED));
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// What comes of it in a short time: a server that is in trouble may never end it.
    async fn error_body(&mut self) -> Vec<u8> {
        let limit = self.limits.total.min(ERROR_BODY_LIMIT);
        let mut body = Vec::new();
        let read = async {
            while body.len() < limit {
                let Ok(Some(chunk)) = self.response.chunk().await else { break };
                body.extend_from_slice(&chunk);
            }
        };
        // If it was not enough, what has come has to do.
        let _ = timeout(self.error_wait, read).await;
        body.truncate(limit);
        body
    }

    fn too_large(&self) -> ProviderError {
        let message = format!(
            "the body is larger than {} bytes; raise `body_limit` if that is expected",
            self.limits.total
        );
        ProviderError::new(FailureKind::MalformedResponse, message)
            .with_status(self.status)
            .with_stage(Stage::Body)
    }
}

/// The request's body, which is first asked for once there is a connection to send it over.
struct Payload {
    bytes: Option<Bytes>,
    progress: Progress,
}

impl Payload {
    fn new(body: Vec<u8>, progress: Progress) -> Self {
        Self { bytes: Some(body.into()), progress }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.progress.enter(Stage::Headers);
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// What TLS libraries say when the other end speaks something else: rustls and OpenSSL.
const NO_TLS: &[&str] = &["received corrupt message", "wrong version number"];

/// No byte of a response came.
fn unanswered(error: reqwest::Error, stage: Stage, reused: bool) -> ProviderError {
    let host = error.url().and_then(Url::host_str).unwrap_or("the server").to_owned();
    let port = error.url().and_then(Url::port_or_known_default);
    let at = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
    // The URL may hold a credential.
    let error = error.without_url();
    let cause = root_cause(&error);
    let (kind, message) = match () {
        () if error.is_builder() => {
            (FailureKind::InvalidRequest, format!("the request cannot be sent: {cause}"))
        }
        () if error.is_timeout() && error.is_connect() => {
            (FailureKind::Timeout, format!("no connection to {at} within the connect timeout"))
        }
        () if error.is_timeout() => {
            (FailureKind::Timeout, format!("no answer from {at} within the client's timeout"))
        }
        () if error.is_dns() => {
            (FailureKind::Connect, format!("the name {host} cannot be resolved: {cause}"))
        }
        () if error.is_connect() && NO_TLS.iter().any(|words| cause.contains(words)) => {
            let message =
                format!("{at} does not speak TLS, so that `https` cannot work; is it http://? ({cause})");
            (FailureKind::Connect, message)
        }
        () if error.is_connect() => (FailureKind::Connect, format!("cannot connect to {at}: {cause}")),
        () if is_not_http(&cause) => {
            (FailureKind::MalformedResponse, format!("{at} sent something that is not HTTP: {cause}"))
        }
        () => (FailureKind::Connect, format!("{at} closed the connection without an answer: {cause}")),
    };
    let stale = reused && kind == FailureKind::Connect && !error.is_connect();
    let failure = ProviderError::new(kind, message).with_stage(stage).with_source(error);
    if stale { failure.as_stale() } else { failure }
}

/// Whether an answer came that cannot be parsed. hyper's error kinds are not public through reqwest; these are its words.
fn is_not_http(cause: &str) -> bool {
    cause.starts_with("invalid HTTP") || cause.ends_with(" parsed") || cause == "message head is too large"
}

/// The body broke off.
fn broken(error: reqwest::Error) -> ProviderError {
    let error = error.without_url();
    let (kind, what) = if error.is_timeout() {
        (FailureKind::Timeout, "the body did not come within the client's timeout")
    } else {
        (FailureKind::MalformedResponse, "the body broke off")
    };
    let message = format!("{what}: {}", root_cause(&error));
    ProviderError::new(kind, message).with_stage(Stage::Body).with_source(error)
}

/// The innermost error, which is the one that says something.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
