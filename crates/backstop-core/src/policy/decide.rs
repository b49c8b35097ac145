//! The one place that decides on retries: a pure function of a context, which returns a reason.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::rule::{Disposition, GateEffect, Remedy, Rule};
use crate::{error::FailureKind, human::Human};

/// Longest time for which a server's word closes a gate. Vendors have sent hours for a limit of a minute.
const GATE_CAP: Duration = Duration::from_secs(15 * 60);
/// How long a second 429 without a named wait closes the gate.
const GATE_DEFAULT: Duration = Duration::from_secs(5);
/// How long an exhausted account closes the credential.
const GATE_QUOTA: Duration = Duration::from_secs(15 * 60);

/// All that the decision may look at. Clock and randomness are not: waits and time left are given.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DecisionContext {
    /// What happened.
    pub kind: FailureKind,
    /// The policy's rule for it.
    pub rule: Rule,
    /// How the retried request would differ.
    pub remedy: Remedy,
    /// Whether that remedy can still be applied: it was not yet, and the target allows it.
    pub remedy_possible: bool,
    /// A reused connection was reset: one retry is free.
    pub stale: bool,
    /// Transport retries of this target so far.
    pub retries_used: u8,
    /// Most transport retries of this target.
    pub max_retries: u8,
    /// Retries of this kind so far.
    pub kind_retries_used: u8,
    /// Re-asks of this target so far.
    pub reasks_used: u8,
    /// Most re-asks of this target.
    pub max_reasks: u8,
    /// Our own next wait, jitter included. None: the schedule has ended.
    pub backoff: Option<Duration>,
    /// The wait that the server named.
    pub retry_after: Option<Duration>,
    /// Share of the server's wait to add, from 0 to 0.1, so that callers do not come back all at once.
    pub jitter: f64,
    /// Longest wait named by a server that is worth waiting for.
    pub max_retry_after: Duration,
    /// What the server says about retrying.
    pub server_retry: Option<bool>,
    /// Time until the deadline of the call.
    pub time_left: Duration,
    /// How much of it is kept for the targets still to come.
    pub time_kept: Duration,
    /// Whether the breaker would admit another attempt.
    pub breaker_admits: bool,
    /// Whether the retry budget allows another attempt.
    pub budget_left: bool,
    /// Whether this attempt was a breaker's probe.
    pub probe: bool,
    /// Whether a target with a larger or unknown context window follows.
    pub larger_context_ahead: bool,
    /// Refusals and filters so far, this one included.
    pub declines: u32,
    /// After how many of them the call gives up.
    pub max_declines: Option<u32>,
    /// Whether the caller has seen some of the answer.
    pub shown: Shown,
}

/// What the caller has seen of a streamed answer that failed. Once there is any, the same target is not asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// Nothing, as in every call without a stream (default).
    #[default]
    Nothing,
    /// Some of it, which nothing may replace.
    Kept,
    /// Some of it, and another target may begin anew or go on.
    Replaceable,
}

impl DecisionContext {
    /// A first failure with nothing in the way of a retry.
    #[must_use]
    pub fn new(kind: FailureKind, rule: Rule) -> Self {
        Self {
            kind,
            rule,
            remedy: rule.remedy,
            remedy_possible: true,
            stale: false,
            retries_used: 0,
            max_retries: 1,
            kind_retries_used: 0,
            reasks_used: 0,
            max_reasks: 1,
            backoff: Some(Duration::ZERO),
            retry_after: None,
            jitter: 0.0,
            max_retry_after: Duration::from_secs(2),
            server_retry: None,
            time_left: Duration::MAX,
            time_kept: Duration::ZERO,
            breaker_admits: true,
            budget_left: true,
            probe: false,
            larger_context_ahead: true,
            declines: 0,
            max_declines: None,
            shown: Shown::Nothing,
        }
    }
}

/// What is to be done, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// Where to go on.
    pub disposition: Disposition,
    /// How long to wait before a retry.
    pub delay: Duration,
    /// How the retried request differs.
    pub remedy: Remedy,
    /// The reason.
    pub why: Why,
    /// What is closed for the calls that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Closing>,
}

/// A gate to close, or a credential to latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Closing {
    /// This model, for this credential.
    Model(Duration),
    /// Everything that uses the credential.
    Credential(Duration),
    /// The credential, until it changes or is reset.
    Latch,
}

/// Why a decision came out as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The policy's rule says so.
    Policy,
    /// A reused connection was reset, which costs no retry.
    StaleConnection,
    /// The target's retries are used up.
    RetriesUsedUp,
    /// The target's re-asks are used up.
    ReasksUsedUp,
    /// The remedy was tried already, or the target does not allow it.
    RemedyNotPossible,
    /// The server forbids a retry.
    ServerForbids,
    /// The retry budget is empty.
    BudgetEmpty,
    /// The breaker has opened.
    BreakerOpen,
    /// A breaker's probe is one attempt.
    Probe,
    /// The retry schedule has ended.
    ScheduleEnded,
    /// The server asks for a longer wait than is worth waiting.
    RetryAfterTooLong {
        /// What it asks for.
        asked: Duration,
        /// The longest that is waited.
        cap: Duration,
    },
    /// The wait does not fit into the deadline.
    DeadlineTooClose {
        /// What is left.
        left: Duration,
        /// What the wait needs.
        needed: Duration,
    },
    /// The wait would use up the time that is kept for the targets still to come.
    TimeIsKept {
        /// What is left for this target.
        left: Duration,
        /// What the wait needs.
        needed: Duration,
    },
    /// No target with a larger context window follows.
    NoLargerContext,
    /// Enough targets have declined.
    TooManyDeclines,
    /// Some of the answer was shown.
    ContentShown,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy => f.write_str("policy"),
            Self::StaleConnection => f.write_str("stale connection"),
            Self::RetriesUsedUp => f.write_str("retries used up"),
            Self::ReasksUsedUp => f.write_str("re-asks used up"),
            Self::RemedyNotPossible => f.write_str("remedy not possible"),
            Self::ServerForbids => f.write_str("server forbids a retry"),
            Self::BudgetEmpty => f.write_str("retry budget empty"),
            Self::BreakerOpen => f.write_str("breaker open"),
            Self::Probe => f.write_str("probe, not retried"),
            Self::ScheduleEnded => f.write_str("schedule ended"),
            Self::RetryAfterTooLong { asked, cap } => {
                write!(f, "asked to wait {}, `max_retry_after` is {}", Human(*asked), Human(*cap))
            }
            Self::DeadlineTooClose { left, needed } => {
                write!(f, "{} needed, {} left", Human(*needed), Human(*left))
            }
            Self::TimeIsKept { left, needed } => {
                write!(f, "{} needed, {} left before the next targets' time", Human(*needed), Human(*left))
            }
            Self::NoLargerContext => f.write_str("no larger context follows"),
            Self::TooManyDeclines => f.write_str("too many declines"),
            Self::ContentShown => f.write_str("content was shown"),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.disposition)?;
        if self.disposition == Disposition::Retry {
            if self.remedy != Remedy::Nothing {
                write!(f, " with {}", self.remedy)?;
            }
            if !self.delay.is_zero() {
                write!(f, " in {}", Human(self.delay))?;
            }
        }
        if self.why != Why::Policy { write!(f, " ({})", self.why) } else { Ok(()) }
    }
}

/// Decides what a failure leads to. Pure, so that the whole behaviour can be tested as a table.
///
/// ```
/// use std::time::Duration;
/// use backstop_core::{Disposition, FailureKind, FailurePolicy, policy::{DecisionContext, Why, decide}};
///
/// let kind = FailureKind::Overloaded;
/// let mut context = DecisionContext::new(kind, FailurePolicy::default().rule(kind));
/// assert_eq!(decide(&context).disposition, Disposition::Retry);
/// context.retry_after = Some(Duration::from_secs(60));
/// let decision = decide(&context);
/// assert_eq!(decision.disposition, Disposition::FailOver);
/// assert!(matches!(decision.why, Why::RetryAfterTooLong { .. }));
/// ```
#[must_use]
pub fn decide(cx: &DecisionContext) -> Decision {
    match cx.rule.disposition {
        // Who lets another target take over has said more than the rule.
        _ if cx.kind == FailureKind::StreamInterrupted && cx.shown == Shown::Replaceable => {
            leave(cx, Disposition::FailOver, Why::Policy)
        }
        Disposition::Retry if cx.shown != Shown::Nothing => {
            kept(cx, leave(cx, cx.rule.otherwise, Why::ContentShown))
        }
        Disposition::Retry => match retry(cx) {
            Ok((delay, why)) => {
                let gate = closed_meanwhile(cx);
                Decision { disposition: Disposition::Retry, delay, remedy: cx.remedy, why, gate }
            }
            Err(why) => leave(cx, cx.rule.otherwise, why),
        },
        disposition => kept(cx, leave(cx, disposition, Why::Policy)),
    }
}

/// Another target may not take over where the caller has seen something and wants to keep it.
fn kept(cx: &DecisionContext, decision: Decision) -> Decision {
    if cx.shown == Shown::Kept && decision.disposition == Disposition::FailOver {
        return Decision { disposition: Disposition::GiveUp, why: Why::ContentShown, ..decision };
    }
    decision
}

/// A retry's wait, or why there is none.
fn retry(cx: &DecisionContext) -> Result<(Duration, Why), Why> {
    if cx.server_retry == Some(false) {
        return Err(Why::ServerForbids);
    }
    if cx.remedy != Remedy::Nothing && !cx.remedy_possible {
        return Err(Why::RemedyNotPossible);
    }
    let free = cx.stale && cx.kind_retries_used == 0;
    if !free {
        counts(cx)?;
    }
    if cx.probe {
        return Err(Why::Probe);
    }
    if !cx.breaker_admits {
        return Err(Why::BreakerOpen);
    }
    if !cx.budget_left && !free && cx.remedy == Remedy::Nothing {
        return Err(Why::BudgetEmpty);
    }
    let delay = if free { Duration::ZERO } else { wait(cx)? };
    if delay >= cx.time_left {
        return Err(Why::DeadlineTooClose { left: cx.time_left, needed: delay });
    }
    let left = cx.time_left.saturating_sub(cx.time_kept);
    if delay >= left {
        return Err(Why::TimeIsKept { left, needed: delay });
    }
    Ok((delay, if free { Why::StaleConnection } else { Why::Policy }))
}

/// Re-asks have a count of their own; other remedies are limited by being possible once.
fn counts(cx: &DecisionContext) -> Result<(), Why> {
    let used_up = cx.kind_retries_used >= cx.rule.at_most;
    match cx.remedy {
        Remedy::Feedback if cx.reasks_used >= cx.max_reasks || used_up => Err(Why::ReasksUsedUp),
        Remedy::Nothing if cx.retries_used >= cx.max_retries || used_up => Err(Why::RetriesUsedUp),
        _ if used_up => Err(Why::RetriesUsedUp),
        _ => Ok(()),
    }
}

/// The server's own wait if it names one, else ours. A soft failure or a remedy needs none: the provider is up.
fn wait(cx: &DecisionContext) -> Result<Duration, Why> {
    match cx.retry_after {
        Some(asked) if asked > cx.max_retry_after => {
            Err(Why::RetryAfterTooLong { asked, cap: cx.max_retry_after })
        }
        Some(asked) => Ok(asked.saturating_add(asked.mul_f64(cx.jitter.clamp(0.0, 0.1)))),
        None if cx.kind.is_soft() || cx.remedy != Remedy::Nothing => Ok(Duration::ZERO),
        None => cx.backoff.ok_or(Why::ScheduleEnded),
    }
}

/// The end of this target: on to the next, or back to the caller.
fn leave(cx: &DecisionContext, disposition: Disposition, why: Why) -> Decision {
    let declined = matches!(cx.kind, FailureKind::Refused | FailureKind::Filtered);
    let (disposition, why) = if disposition != Disposition::FailOver {
        (disposition, why)
    } else if cx.rule.larger_context_only && !cx.larger_context_ahead {
        (Disposition::GiveUp, Why::NoLargerContext)
    } else if declined && cx.max_declines.is_some_and(|most| cx.declines >= most) {
        (Disposition::GiveUp, Why::TooManyDeclines)
    } else {
        (disposition, why)
    };
    // A rule changed to `Retry` whose retry was not to be had still has to leave.
    let disposition = if disposition == Disposition::Retry { Disposition::FailOver } else { disposition };
    let gate = match cx.rule.gate {
        GateEffect::None => None,
        GateEffect::Model => Some(Closing::Model(cx.retry_after.unwrap_or(GATE_DEFAULT).min(GATE_CAP))),
        GateEffect::Credential => Some(Closing::Credential(GATE_QUOTA)),
        GateEffect::Latch => Some(Closing::Latch),
    };
    Decision { disposition, delay: Duration::ZERO, remedy: Remedy::Nothing, why, gate }
}

/// What is closed for the other calls while this one waits. A wait that the server names holds for all of them. A
/// rejected credential stays rejected, whatever the caller's policy makes of this call.
fn closed_meanwhile(cx: &DecisionContext) -> Option<Closing> {
    match (cx.rule.gate, cx.retry_after) {
        (GateEffect::Latch, _) => Some(Closing::Latch),
        (GateEffect::Model, Some(asked)) => Some(Closing::Model(asked.min(GATE_CAP))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::FailurePolicy;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn context(kind: FailureKind) -> DecisionContext {
        DecisionContext::new(kind, FailurePolicy::default().rule(kind))
    }

    fn rate_limited(retry_after: Option<Duration>, already: u8) -> Decision {
        let mut cx = context(FailureKind::RateLimited);
        (cx.retry_after, cx.kind_retries_used, cx.retries_used) = (retry_after, already, already);
        (cx.backoff, cx.max_retries) = (Some(ms(300)), 3);
        decide(&cx)
    }

    #[test]
    fn rate_limits_follow_the_wait_that_is_named() {
        let cases = [
            (Some(ms(0)), 0, Disposition::Retry, ms(0), Some(Closing::Model(ms(0)))),
            (Some(ms(400)), 0, Disposition::Retry, ms(400), Some(Closing::Model(ms(400)))),
            (Some(ms(2000)), 0, Disposition::Retry, ms(2000), Some(Closing::Model(ms(2000)))),
            (Some(ms(3000)), 0, Disposition::FailOver, ms(0), Some(Closing::Model(ms(3000)))),
            (Some(ms(1_800_000)), 0, Disposition::FailOver, ms(0), Some(Closing::Model(ms(900_000)))),
            (None, 0, Disposition::Retry, ms(300), None),
            (None, 1, Disposition::FailOver, ms(0), Some(Closing::Model(ms(5000)))),
            (Some(ms(400)), 1, Disposition::FailOver, ms(0), Some(Closing::Model(ms(400)))),
        ];
        for (asked, already, disposition, delay, gate) in cases {
            let decision = rate_limited(asked, already);
            assert_eq!(
                (decision.disposition, decision.delay, decision.gate),
                (disposition, delay, gate),
                "asked {asked:?}, already {already}"
            );
        }
    }

    #[test]
    fn every_obstacle_turns_a_retry_into_leaving_with_its_reason() {
        type Change = fn(&mut DecisionContext);
        let cases: [(Change, Why); 9] = [
            (|cx| cx.retries_used = 1, Why::RetriesUsedUp),
            (|cx| cx.server_retry = Some(false), Why::ServerForbids),
            (|cx| cx.budget_left = false, Why::BudgetEmpty),
            (|cx| cx.breaker_admits = false, Why::BreakerOpen),
            (|cx| cx.probe = true, Why::Probe),
            (|cx| cx.backoff = None, Why::ScheduleEnded),
            (|cx| cx.retry_after = Some(ms(2500)), Why::RetryAfterTooLong { asked: ms(2500), cap: ms(2000) }),
            (
                |cx| (cx.backoff, cx.time_left) = (Some(ms(10)), ms(10)),
                Why::DeadlineTooClose { left: ms(10), needed: ms(10) },
            ),
            (
                |cx| (cx.backoff, cx.time_left, cx.time_kept) = (Some(ms(10)), ms(30), ms(20)),
                Why::TimeIsKept { left: ms(10), needed: ms(10) },
            ),
        ];
        for (change, why) in cases {
            let mut cx = context(FailureKind::Server);
            assert_eq!(decide(&cx).disposition, Disposition::Retry);
            change(&mut cx);
            let decision = decide(&cx);
            assert_eq!((decision.disposition, decision.why), (Disposition::FailOver, why));
        }
    }

    #[test]
    fn a_stale_connection_is_retried_once_for_free() {
        let mut cx = context(FailureKind::Connect);
        (cx.stale, cx.max_retries, cx.budget_left) = (true, 0, false);
        assert_eq!(decide(&cx).why, Why::StaleConnection);
        cx.kind_retries_used = 1;
        assert_eq!(decide(&cx).disposition, Disposition::FailOver);
    }

    #[test]
    fn a_param_is_dropped_only_where_that_is_allowed() {
        let mut cx = context(FailureKind::ParamRejected);
        assert_eq!((decide(&cx).disposition, decide(&cx).remedy), (Disposition::Retry, Remedy::DropParam));
        cx.remedy_possible = false;
        assert_eq!(decide(&cx).disposition, Disposition::GiveUp);
        cx.rule = FailurePolicy::keep_serving().rule(FailureKind::ParamRejected);
        assert_eq!(decide(&cx).disposition, Disposition::FailOver);
    }

    #[test]
    fn too_long_a_context_needs_a_larger_one_ahead() {
        let mut cx = context(FailureKind::ContextTooLong);
        assert_eq!(decide(&cx).disposition, Disposition::FailOver);
        cx.larger_context_ahead = false;
        assert_eq!((decide(&cx).disposition, decide(&cx).why), (Disposition::GiveUp, Why::NoLargerContext));
    }

    #[test]
    fn a_hopeless_round_of_refusals_ends() {
        let mut cx = context(FailureKind::Refused);
        (cx.declines, cx.max_declines) = (1, Some(2));
        assert_eq!(decide(&cx).disposition, Disposition::FailOver);
        cx.declines = 2;
        assert_eq!((decide(&cx).disposition, decide(&cx).why), (Disposition::GiveUp, Why::TooManyDeclines));
    }

    #[test]
    fn an_empty_account_closes_the_credential_and_a_bad_key_latches_it() {
        assert_eq!(
            decide(&context(FailureKind::QuotaExhausted)).gate,
            Some(Closing::Credential(ms(900_000)))
        );
        assert_eq!(decide(&context(FailureKind::Authentication)).gate, Some(Closing::Latch));
        let mut cx = context(FailureKind::Authentication);
        cx.rule.disposition = Disposition::Retry;
        assert_eq!(decide(&cx).gate, Some(Closing::Latch));
    }
}
