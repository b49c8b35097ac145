//! An error as a vendor's API reports it, before a wire format puts it into its envelope.

use serde_json::{Map, Value};

/// An error answer in the vendor's own envelope. The named constructors know the status, type, code and message of
/// each vendor (a rate limit is `RESOURCE_EXHAUSTED` at Gemini, an overload is 529 at Anthropic); every part can be
/// overridden.
///
/// ```
/// use backstop_mock::server::{ApiError, Reply};
///
/// let throttled = Reply::from(ApiError::rate_limited()).retry_after(2);
/// let odd = Reply::from(ApiError::status(400).code("weird_code").message("no such luck").param("temperature"));
/// let inside_a_200 = Reply::in_band(ApiError::overloaded());
/// # let _ = (throttled, odd, inside_a_200);
/// ```
#[derive(Clone, Debug)]
#[must_use = "an error does nothing until it is in a reply"]
pub struct ApiError {
    pub(super) problem: Problem,
    pub(super) status: Option<u16>,
    pub(super) kind: Option<String>,
    pub(super) code: Option<Value>,
    pub(super) message: Option<String>,
    pub(super) param: Option<String>,
    pub(super) fields: Map<String, Value>,
}

/// What is wrong, in words that each format translates into its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Status(u16),
    BadKey,
    Forbidden,
    QuotaExhausted,
    RateLimited,
    Overloaded,
    Server,
    Timeout,
    ModelNotFound,
    NoSuchPath,
    InvalidRequest,
    ContextTooLong,
    SchemaRejected,
    PromptFiltered,
    TooLarge,
}

/// A vendor's words for a problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) code: Option<&'static str>,
    pub(super) message: &'static str,
}

impl Words {
    pub(super) const fn new(
        status: u16,
        kind: &'static str,
        code: Option<&'static str>,
        message: &'static str,
    ) -> Self {
        Self { status, kind, code, message }
    }
}

/// An error with every part decided: the vendor's words, overridden by the test's.
pub(super) struct Settled<'a> {
    pub(super) status: u16,
    pub(super) kind: &'a str,
    pub(super) code: Option<Value>,
    pub(super) message: &'a str,
    pub(super) param: Option<&'a str>,
    pub(super) fields: &'a Map<String, Value>,
}

impl ApiError {
    pub(super) fn of(problem: Problem) -> Self {
        Self { problem, status: None, kind: None, code: None, message: None, param: None, fields: Map::new() }
    }

    /// An error of this HTTP status with the type that the vendor usually gives it, and no code.
    pub fn status(status: u16) -> Self {
        Self::of(Problem::Status(status))
    }

    /// A missing, wrong or revoked key: 401, at Gemini a 400 with the reason `API_KEY_INVALID`.
    pub fn bad_key() -> Self {
        Self::of(Problem::BadKey)
    }

    /// A key without the permission: 403.
    pub fn forbidden() -> Self {
        Self::of(Problem::Forbidden)
    }

    /// No credit left, or a spend limit reached: 429 with a code that says so, at Gemini 402.
    pub fn quota_exhausted() -> Self {
        Self::of(Problem::QuotaExhausted)
    }

    /// Too many requests or tokens per minute: 429. Add [`Reply::retry_after`](super::Reply::retry_after).
    pub fn rate_limited() -> Self {
        Self::of(Problem::RateLimited)
    }

    /// The vendor has no capacity: 503, at Anthropic 529.
    pub fn overloaded() -> Self {
        Self::of(Problem::Overloaded)
    }

    /// The vendor's own failure: 500.
    pub fn server() -> Self {
        Self::of(Problem::Server)
    }

    /// The vendor ran out of its own time: 504.
    pub fn timeout() -> Self {
        Self::of(Problem::Timeout)
    }

    /// A model that does not exist or may not be used: 404.
    pub fn model_not_found() -> Self {
        Self::of(Problem::ModelNotFound)
    }

    /// A request that is wrong: 400.
    pub fn invalid_request() -> Self {
        Self::of(Problem::InvalidRequest)
    }

    /// A prompt longer than the model's window: 400.
    pub fn context_too_long() -> Self {
        Self::of(Problem::ContextTooLong)
    }

    /// A schema that the vendor does not take: 400.
    pub fn schema_rejected() -> Self {
        Self::of(Problem::SchemaRejected)
    }

    /// A prompt stopped by a filter with an HTTP error, as Azure OpenAI does: 400.
    pub fn prompt_filtered() -> Self {
        Self::of(Problem::PromptFiltered)
    }

    /// A request body that is too large: 413.
    pub fn too_large() -> Self {
        Self::of(Problem::TooLarge)
    }

    /// Overrides the HTTP status; also the number in envelopes that repeat it.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Overrides the type (`error.type`; Gemini: `error.status`).
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Overrides the code (OpenAI: `error.code`, where some compatible servers send a number; Anthropic:
    /// `error.details.error_code`; Gemini: the reason of an `ErrorInfo`; Ollama has none).
    pub fn code(mut self, code: impl Into<Value>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Overrides the message.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The parameter at fault (OpenAI: `error.param`; elsewhere unused).
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Adds a field to the error object, or replaces one: `innererror`, `metadata`, `details` and the like.
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    pub(super) fn settle(&self, words: Words) -> Settled<'_> {
        Settled {
            status: self.status.unwrap_or(words.status),
            kind: self.kind.as_deref().unwrap_or(words.kind),
            code: self.code.clone().or_else(|| words.code.map(Value::from)),
            message: self.message.as_deref().unwrap_or(words.message),
            param: self.param.as_deref(),
            fields: &self.fields,
        }
    }
}

impl Settled<'_> {
    /// Puts the test's own fields over those of the vendor's error object.
    pub(super) fn add_fields(&self, error: &mut Map<String, Value>) {
        for (name, value) in self.fields {
            error.insert(name.clone(), value.clone());
        }
    }
}
