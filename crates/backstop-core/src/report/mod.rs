//! Everything that happened in one call; the same type on success and on failure.

mod ledger;
mod table;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

pub(crate) use ledger::{AttemptLine, Ending, Ledger, Opening};

use crate::{
    attempt::CallId,
    error::{FailureKind, Stage},
    policy::{Decision, Remedy},
    response::Usage,
    target::TargetId,
};

/// Everything that happened in one call. `Display` prints a table; serde gives JSON. Holds no prompt, answer or
/// secret, unless a vendor quotes one in an error message: those are taken as they come, and cut short.
///
/// ```
/// use backstop_core::Report;
///
/// fn log(report: &Report) {
///     for attempt in &report.attempts {
///         println!("{} {:?} {:?}", attempt.target, attempt.latency, attempt.failure());
///     }
///     for skip in &report.skips {
///         println!("{} was not asked: {}", skip.target, skip.reason);
///     }
///     println!("{} tokens, {:?}", report.usage.total(), report.served_by());
/// }
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Report {
    /// Version of this serialised form.
    pub version: u32,
    /// Names the call in logs.
    pub call_id: CallId,
    /// On whose behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Arc<str>>,
    /// What kind of work it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Arc<str>>,
    /// The caller's own labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<Cow<'static, str>, String>,
    /// Every request that was sent, in the order of starting.
    pub attempts: Vec<AttemptRecord>,
    /// Every target that was passed over, with the reason.
    pub skips: Vec<SkipRecord>,
    /// Who gave the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_by: Option<TargetId>,
    /// The answer did not come from the target that the call began with.
    pub used_fallback: bool,
    /// The call began at the chain's canary.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canary: bool,
    /// From the first poll to the end.
    pub elapsed: Duration,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// Tokens that checks took to judge the answers, for example of a model that was asked for its opinion. Not in
    /// [`usage`](Self::usage).
    #[serde(skip_serializing_if = "Usage::is_zero")]
    pub check_usage: Usage,
    /// After a failed call: the soonest time at which a target may be back, from the end of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in: Option<Duration>,
}

impl Report {
    /// Who gave the answer, as text.
    #[must_use]
    pub fn served_by(&self) -> Option<&str> {
        self.served_by.as_ref().map(TargetId::as_str)
    }

    /// The failures in order, one for each attempt that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&TargetId, FailureKind)> {
        self.attempts.iter().filter_map(|attempt| Some((&attempt.target, attempt.failure()?)))
    }

    /// Whether somebody should be told of one of the attempts.
    #[must_use]
    pub fn has_alert(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.alert)
    }
}

/// One request that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// Who was asked.
    pub target: TargetId,
    /// Which member of the target's pool, from 1; none if it is no pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    /// Which attempt at this target, from 1.
    pub number: u32,
    /// It began beside an attempt at another target that was slow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hedge: bool,
    /// When it began, from the start of the call.
    pub at: Duration,
    /// How long was waited before it.
    pub wait: Duration,
    /// How long it was given at most.
    #[serde(default)]
    pub allowed: Duration,
    /// What kept it from being given more.
    #[serde(default)]
    pub limited_by: LimitedBy,
    /// How long it took.
    pub latency: Duration,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How the request differed from the caller's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The HTTP status of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The vendor's error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How far it had come when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// The vendor's request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The model that served, as the vendor names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Of a stream: from its beginning to the first content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_content: Option<Duration>,
    /// Of a stream: from one token to the next, on average. The time in which the caller did not ask for more is left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_output_token: Option<Duration>,
    /// It went on with the text of a stream that another target had begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
    /// Tokens, where the vendor said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The check that rejected the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The score of a rejected answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the failure led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Somebody should be told. Of several attempts that met the same empty account or rejected key, the first says so.
    #[serde(default)]
    pub alert: bool,
    /// What of the request the target could not honour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Cow<'static, str>>,
}

impl AttemptRecord {
    /// Why it failed; `None` if it served or was cancelled.
    #[must_use]
    pub fn failure(&self) -> Option<FailureKind> {
        match self.outcome {
            AttemptOutcome::Failed { kind, .. } => Some(kind),
            AttemptOutcome::Served | AttemptOutcome::Cancelled => None,
        }
    }
}

/// What limited the time of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitedBy {
    /// The target's timeout.
    #[default]
    Timeout,
    /// The target's timeout as adapted to what it takes lately.
    AdaptiveTimeout,
    /// The deadline of the call.
    Deadline,
    /// The time that is kept for the targets still to come.
    TargetsToCome,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// Its answer was accepted.
    Served,
    /// It failed, hard or soft.
    Failed {
        /// Where the failure stands in the taxonomy.
        kind: FailureKind,
        /// What happened, in words.
        message: String,
    },
    /// The caller went away, or another target was faster.
    Cancelled,
}

/// One target that was passed over.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkipRecord {
    /// Who was not asked.
    pub target: TargetId,
    /// When, from the start of the call.
    pub at: Duration,
    /// How many attempts had begun before.
    #[serde(default)]
    pub attempts_before: usize,
    /// Why.
    pub reason: Skip,
}

impl SkipRecord {
    /// When a limit that is no breaker's and no gate's ends, from the end of the call.
    fn limit_ends_in(&self, elapsed: Duration) -> Option<Duration> {
        let wait = match self.reason {
            Skip::Quality { retry_in } => retry_in,
            Skip::OwnRateLimit { retry_in } => Some(retry_in),
            _ => None,
        };
        Some(wait?.saturating_sub(elapsed.saturating_sub(self.at)))
    }
}

/// Why a target was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Skip {
    /// Its circuit breaker is open.
    BreakerOpen {
        /// When it may be asked again, if that is known.
        retry_in: Option<Duration>,
    },
    /// A rate limit or an empty account closed it for a while.
    GateClosed {
        /// When it opens.
        retry_in: Duration,
    },
    /// Its credential was rejected; it stays out until the credential changes or is reset.
    CredentialLatched,
    /// The deadline of the call has come.
    Deadline,
    /// It was switched off at run time.
    Disabled,
    /// Too many of its answers to this task were of no use lately.
    Quality {
        /// When it may be asked again, if that is known.
        retry_in: Option<Duration>,
    },
    /// As many attempts as it may have are under way.
    BulkheadFull {
        /// How long a place was waited for.
        waited: Duration,
    },
    /// Its own limit of requests or tokens a minute is reached.
    OwnRateLimit {
        /// When it would have room again.
        retry_in: Duration,
    },
    /// It would have been asked beside a slow one, but the retry budget of its provider is empty.
    HedgeNotPaid,
    /// It cannot do what the request needs.
    Unsupported {
        /// What it cannot do.
        what: Cow<'static, str>,
    },
    /// Its context window is no larger than one that was too small.
    ContextTooSmall {
        /// Its window, in tokens, where that is known.
        window: Option<u32>,
    },
    /// The call asked for another target.
    NotAsked,
}
