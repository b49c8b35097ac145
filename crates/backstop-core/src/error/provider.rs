//! The hard failure of one attempt.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{FailureKind, plain};
use crate::{policy::Remedy, response::Usage};

/// How far an attempt had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[repr(u8)]
pub enum Stage {
    /// Connecting and sending the request (default).
    #[default]
    Connect,
    /// Waiting for the response's headers.
    Headers,
    /// Reading the body.
    Body,
    /// Waiting for a stream's first content.
    FirstContent,
    /// Waiting for a stream's next content.
    Idle,
    /// The whole stream took too long.
    Total,
}

impl Stage {
    pub(crate) const ALL: [Self; 6] =
        [Self::Connect, Self::Headers, Self::Body, Self::FirstContent, Self::Idle, Self::Total];

    /// The stage in snake case, as in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Headers => "headers",
            Self::Body => "body",
            Self::FirstContent => "first_content",
            Self::Idle => "idle",
            Self::Total => "total",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A hard failure: the provider gave no answer. One pointer wide.
///
/// The message is for people and must hold neither prompts nor secrets; the adapter sees to that. It becomes one
/// [plain](crate::error::plain) line.
///
/// ```
/// use backstop_core::{FailureKind, ProviderError};
///
/// let error = ProviderError::new(FailureKind::Overloaded, "no capacity left").with_status(529);
/// assert_eq!(error.to_string(), "overloaded (HTTP 529): no capacity left");
/// ```
#[derive(Debug)]
pub struct ProviderError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: FailureKind,
    message: Cow<'static, str>,
    status: Option<u16>,
    code: Option<String>,
    param: Option<String>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    server_retry: Option<bool>,
    remedy: Option<Remedy>,
    usage: Option<Usage>,
    stage: Option<Stage>,
    stale: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ProviderError {
    /// A failure of a kind, in words.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: plain(message),
            status: None,
            code: None,
            param: None,
            request_id: None,
            retry_after: None,
            server_retry: None,
            remedy: None,
            usage: None,
            stage: None,
            stale: false,
            source: None,
        }))
    }

    /// Sets another kind, for an adapter that knows better than the common rules.
    #[must_use]
    pub fn with_kind(mut self, kind: FailureKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Sets other words.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = plain(message);
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Sets the vendor's error code or type.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(plain(code.into()).into_owned());
        self
    }

    /// Sets the parameter that the vendor names.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.0.param = Some(plain(param.into()).into_owned());
        self
    }

    /// Sets the vendor's request id.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(plain(id.into()).into_owned());
        self
    }

    /// Sets the wait that the server named. Zero is none: a server that refuses a request and asks for no wait says
    /// nothing about when to come back.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait).filter(|wait| !wait.is_zero());
        self
    }

    /// Sets what the server says about retrying (`x-should-retry`). `false` forbids a retry on the same target.
    #[must_use]
    pub fn with_server_retry(mut self, retry: bool) -> Self {
        self.0.server_retry = Some(retry);
        self
    }

    /// Proposes how a retried request should differ.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Sets the tokens that the failed attempt cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.0.usage = Some(usage);
        self
    }

    /// Sets how far the attempt had come.
    #[must_use]
    pub fn with_stage(mut self, stage: Stage) -> Self {
        self.0.stage = Some(stage);
        self
    }

    /// Marks the reset of a reused connection before any byte of a response: the server closed it while it lay
    /// idle, which says nothing about the server's health.
    #[must_use]
    pub fn as_stale(mut self) -> Self {
        self.0.stale = true;
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Where it stands in the taxonomy.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// What happened, in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The vendor's error code or type.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The parameter that the vendor names.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.0.param.as_deref()
    }

    /// The vendor's request id.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// The wait that the server named.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What the server says about retrying.
    #[must_use]
    pub fn server_retry(&self) -> Option<bool> {
        self.0.server_retry
    }

    /// How the adapter thinks a retried request should differ.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// The tokens that the failed attempt cost.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.0.usage
    }

    /// How far the attempt had come.
    #[must_use]
    pub fn stage(&self) -> Option<Stage> {
        self.0.stage
    }

    /// Whether a reused connection was reset before any byte of a response.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.0.stale
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.write_str(inner.kind.as_str())?;
        match (inner.status, inner.code.as_deref()) {
            (Some(status), Some(code)) => write!(f, " (HTTP {status}, {code})")?,
            (Some(status), None) => write!(f, " (HTTP {status})")?,
            (None, Some(code)) => write!(f, " ({code})")?,
            (None, None) => {}
        }
        if let Some(stage) = inner.stage.filter(|_| inner.kind == FailureKind::Timeout) {
            write!(f, " at stage {stage}")?;
        }
        write!(f, ": {}", inner.message)
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
