//! What goes into a breaker (the verdict on an attempt) and what comes out of one that says no.

use std::time::Duration;

use serde::Serialize;

/// The verdict on one attempt, from whoever has read the whole answer. A 200 header is no verdict.
///
/// There are more than two, because the most frequent fault of breakers is to count what says nothing about the
/// provider's health: the caller's own mistakes as failures (or, just as wrong, as successes), and "slow down" as
/// "down".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The provider answered as promised. A refusal or an answer of poor quality is still one.
    Success,
    /// The provider is not working: 5xx, streams that break off, bodies that break the protocol.
    Failure {
        /// The `Retry-After` that came with it, if any. It can lengthen the cooldown of the trip that this
        /// failure causes, up to the cooldown's cap.
        retry_after: Option<Duration>,
    },
    /// A failure without an answer: it could not be reached (DNS, TCP, TLS), or was not heard in time. The fault
    /// may lie with this process or its network, so it counts here like [`Failure`](Self::Failure), but is no
    /// [`Evidence`](super::Evidence) for other processes.
    NoAnswer,
    /// "Too many requests". Counts as neither; the breaker turns everybody away for that time (capped), without
    /// opening.
    ///
    /// For a breaker that is used alone. Rate limits belong to a credential and a model rather than to an
    /// endpoint, so a chain closes the [`Gate`](crate::gate::Gate) of those and settles as [`Neutral`](Self::Neutral).
    Throttled {
        /// The `Retry-After` that came with it, if any.
        retry_after: Option<Duration>,
    },
    /// Says nothing about the provider: cancelled, the caller's own mistake (400, 404, 422), a bad credential, a
    /// timeout because the caller's budget was nearly spent. The same as dropping the permit.
    Neutral,
}

impl Outcome {
    /// A failure without a hint.
    pub const FAILURE: Self = Self::Failure { retry_after: None };
}

/// Why a breaker does not admit a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectReason {
    /// The circuit is open.
    Open,
    /// Half-open, and all probes are under way.
    Probing,
    /// The provider asked for fewer requests.
    Throttled,
    /// Held open by hand.
    Forced,
}

/// A call that was not admitted. Fail over to another target, or come back after `retry_in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.describe())]
pub struct Rejected {
    /// Why.
    pub reason: RejectReason,
    /// When asking again makes sense; never sooner than that. `None` if only a manual action will help.
    pub retry_in: Option<Duration>,
}

impl Rejected {
    pub(super) fn forced() -> Self {
        Self { reason: RejectReason::Forced, retry_in: None }
    }

    pub(super) fn for_nanos(reason: RejectReason, left: u64) -> Self {
        Self { reason, retry_in: Some(Duration::from_nanos(left)) }
    }

    fn describe(&self) -> String {
        let why = match self.reason {
            RejectReason::Open => "circuit open",
            RejectReason::Probing => "circuit half-open, its probe is under way",
            RejectReason::Throttled => "rate limited by the provider",
            RejectReason::Forced => {
                "circuit held open by hand: call `reset()` or `force_closed()` on its breaker"
            }
        };
        match self.retry_in {
            Some(wait) => format!("{why}: use another target, or try again in {wait:.1?}"),
            None => why.to_owned(),
        }
    }
}
