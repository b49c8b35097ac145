//! The soft failure of one attempt.

use std::{borrow::Cow, fmt};

use super::{FailureKind, plain};
use crate::policy::Remedy;

/// A soft failure: there is an answer, but it may not be used. One pointer wide.
///
/// The *reason* is for people and goes into reports, errors and logs, so it must not quote the answer; the
/// *feedback* goes to the model only, when it is asked again.
///
/// ```
/// use backstop_core::{FailureKind, Rejection};
///
/// let rejection = Rejection::new("negative total").with_feedback("`total` is -3, it must not be negative");
/// assert_eq!(rejection.kind(), FailureKind::Rejected);
/// assert_eq!(rejection.to_string(), "rejected: negative total");
/// ```
#[derive(Clone, Debug)]
pub struct Rejection(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: FailureKind,
    reason: Cow<'static, str>,
    check: Option<String>,
    feedback: Option<String>,
    score: Option<f64>,
    pointer: Option<String>,
    remedy: Option<Remedy>,
}

/// Without the feedback, which may quote the answer.
impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejection")
            .field("kind", &self.kind)
            .field("reason", &self.reason)
            .field("check", &self.check)
            .field("score", &self.score)
            .field("pointer", &self.pointer)
            .field("remedy", &self.remedy)
            .finish_non_exhaustive()
    }
}

impl Rejection {
    /// Below the caller's own bar.
    #[must_use]
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::Rejected, reason)
    }

    /// A soft failure of any kind. A hard kind is taken as [`FailureKind::Rejected`]. The reason becomes one
    /// [plain](crate::error::plain) line.
    #[must_use]
    pub fn of(kind: FailureKind, reason: impl Into<Cow<'static, str>>) -> Self {
        let kind = if kind.is_soft() { kind } else { FailureKind::Rejected };
        let reason = plain(reason);
        let (check, feedback, score) = (None, None, None);
        Self(Box::new(Inner { kind, reason, check, feedback, score, pointer: None, remedy: None }))
    }

    /// No usable text.
    #[must_use]
    pub fn empty() -> Self {
        Self::of(FailureKind::Empty, "the answer has no text")
    }

    /// The model declined.
    #[must_use]
    pub fn refused(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::Refused, reason)
    }

    /// The answer was cut off.
    #[must_use]
    pub fn truncated(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::Truncated, reason)
    }

    /// The answer holds no JSON.
    #[must_use]
    pub fn not_json(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::NotJson, reason)
    }

    /// The JSON does not follow the schema.
    #[must_use]
    pub fn schema(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::SchemaMismatch, reason)
    }

    /// Several different answers fit.
    #[must_use]
    pub fn ambiguous(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::of(FailureKind::Ambiguous, reason)
    }

    /// What the model is told when it is asked again. Default: the reason.
    #[must_use]
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        self.0.feedback = Some(feedback.into());
        self
    }

    /// Names the check that rejects; the first name stays. Chains and validators do it for their checks.
    #[must_use]
    pub fn with_check(mut self, name: &str) -> Self {
        self.0.check.get_or_insert_with(|| plain(name).into_owned());
        self
    }

    /// How good the answer was, usually from 0 to 1.
    #[must_use]
    pub fn with_score(mut self, score: f64) -> Self {
        self.0.score = Some(score);
        self
    }

    /// JSON pointer of the part that is wrong.
    #[must_use]
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.0.pointer = Some(pointer.into());
        self
    }

    /// Proposes how a retried request should differ.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Where it stands in the taxonomy; always a soft kind.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// Why the answer may not be used, for people.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Why the answer may not be used, for the model.
    #[must_use]
    pub fn feedback(&self) -> &str {
        self.0.feedback.as_deref().unwrap_or(&self.0.reason)
    }

    /// The check that rejects.
    #[must_use]
    pub fn check(&self) -> Option<&str> {
        self.0.check.as_deref()
    }

    /// How good the answer was.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.0.score
    }

    /// JSON pointer of the part that is wrong.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    /// How the validator thinks a retried request should differ.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.write_str(inner.kind.as_str())?;
        match (&inner.check, inner.score) {
            (Some(check), Some(score)) => write!(f, " (check `{check}`, score {score:.2})")?,
            (Some(check), None) => write!(f, " (check `{check}`)")?,
            (None, Some(score)) => write!(f, " (score {score:.2})")?,
            (None, None) => {}
        }
        write!(f, ": {}", inner.reason)
    }
}

impl std::error::Error for Rejection {}
