//! One target: attempts until one is accepted, or until the decision says to go on or to stop.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tracing::Instrument;

use super::{
    engine::{Cx, Walk},
    slot::{Entry, Slot, skip},
    tries::{Around, Tries},
};
use crate::{
    attempt::{Attempt, Overlay, Progress},
    breaker::{Outcome, Permit},
    check::baseline,
    error::{Failure, FailureKind, ProviderError, Rejection},
    human::Human,
    policy::{BreakerEffect, Decision, Disposition, Rule},
    report::{AttemptLine, Ending, Opening, Skip},
    response::Response,
    validator::{Candidate, Change, Changes},
};

/// How a target ended.
pub(crate) enum End {
    Served(Box<Response>, Vec<Change>),
    /// On to the next target.
    Next(Option<Failure>),
    /// Back to the caller.
    GiveUp(Failure),
}

pub(crate) async fn serve(cx: &Cx<'_>, walk: &mut Walk, index: usize, slot: &Slot) -> End {
    let mut tries = Tries::default();
    let mut last = None;
    loop {
        let permit = match admit(cx, slot).await {
            Ok(permit) => permit,
            Err(reason) => {
                cx.ledger.skip(&slot.id, reason);
                return End::Next(last);
            }
        };
        tries.number += 1;
        let progress = Progress::default();
        let line = cx.ledger.open(Opening {
            target: &slot.id,
            number: tries.number,
            wait: std::mem::take(&mut tries.wait),
            remedies: &tries.remedies,
            progress: progress.clone(),
        });
        let span =
            tracing::info_span!(target: "backstop", "attempt", target = %slot.id, number = tries.number);
        let tried = attempt(cx, slot, &tries.overlay, tries.number, progress).instrument(span).await;
        let failed = match tried {
            Ok((response, changes)) => {
                permit.settle(Outcome::Success);
                line.served(&response);
                return End::Served(Box::new(response), changes);
            }
            Err(failed) => failed,
        };
        let decision = conclude(Attempted { cx, slot, index, permit, line }, walk, &mut tries, &failed);
        match decision.disposition {
            Disposition::FailOver => return End::Next(Some(failed.failure)),
            Disposition::GiveUp => return End::GiveUp(failed.failure),
            Disposition::Retry => {
                last = Some(failed.failure);
                if !decision.delay.is_zero() {
                    sleep(decision.delay).await;
                }
            }
        }
    }
}

/// A permit for one attempt, or why there is none.
async fn admit(cx: &Cx<'_>, slot: &Slot) -> Result<Permit, Skip> {
    if cx.time_left().is_zero() {
        return Err(Skip::Deadline);
    }
    match slot.enter(slot.now()) {
        Entry::Admitted(permit) => Ok(permit),
        Entry::Skip(reason) => {
            tracing::debug!(target: "backstop", target_id = %slot.id, %reason, "skipped");
            Err(reason)
        }
        Entry::NeedsLease(request) => match timeout_at(cx.deadline, request.ask()).await {
            Ok(answer) => answer.map_err(skip),
            Err(_) => Err(Skip::Deadline),
        },
    }
}

/// An attempt that failed, hard or soft.
struct Failed {
    failure: Failure,
    /// The answer that may not be used.
    response: Option<Response>,
    /// How long a timed-out attempt was given, and whether that was the target's own limit.
    allowed: Duration,
}

async fn attempt(
    cx: &Cx<'_>,
    slot: &Slot,
    overlay: &Overlay,
    number: u32,
    progress: Progress,
) -> Result<(Response, Vec<Change>), Failed> {
    let started = Instant::now();
    let until = started.checked_add(slot.target.timeout).map_or(cx.deadline, |own| own.min(cx.deadline));
    let allowed = until.duration_since(started);
    let failed = |failure, response| Failed { failure, response, allowed };
    let attempt = Attempt {
        model: &slot.target.model,
        request: cx.request,
        overlay,
        number,
        call_id: cx.call_id,
        deadline: Some(until),
        progress,
    };
    let response = match timeout_at(until, slot.target.provider.complete(&attempt)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(failed(error.into(), None)),
        Err(_) => return Err(failed(timed_out(&attempt, slot, allowed).into(), None)),
    };
    match judge(cx, slot, &response).await {
        Ok(changes) => Ok((response, changes)),
        Err(failure) => Err(failed(failure, Some(response))),
    }
}

fn timed_out(attempt: &Attempt<'_>, slot: &Slot, allowed: Duration) -> ProviderError {
    let message = if allowed < slot.target.timeout {
        format!("no complete answer in the {} that the deadline left", Human(allowed))
    } else {
        format!("no complete answer in {}", Human(allowed))
    };
    ProviderError::new(FailureKind::Timeout, message).with_stage(attempt.progress.stage())
}

/// The vendor's signals first, then the chain's checks, then the caller's validator.
async fn judge(cx: &Cx<'_>, slot: &Slot, response: &Response) -> Result<Vec<Change>, Failure> {
    baseline(cx.request, response)?;
    let changes = Changes::default();
    let candidate = Candidate::new(response, cx.request).with_target(&slot.id).with_changes(&changes);
    let judged = timeout_at(cx.deadline, async {
        for check in &cx.chain.checks {
            check.check(candidate).await?;
        }
        cx.judge.judge(candidate).await
    });
    match judged.await {
        Ok(Ok(())) => Ok(changes.take()),
        Ok(Err(rejection)) => Err(rejection.into()),
        Err(_) => Err(Rejection::new("the validator ran past the deadline").into()),
    }
}

/// What belongs to an attempt that has just failed.
struct Attempted<'a> {
    cx: &'a Cx<'a>,
    slot: &'a Slot,
    index: usize,
    permit: Permit,
    line: AttemptLine,
}

/// Tells the breaker, decides, closes gates, and closes the line of the report.
fn conclude(attempted: Attempted<'_>, walk: &mut Walk, tries: &mut Tries, failed: &Failed) -> Decision {
    let Attempted { cx, slot, index, permit, line } = attempted;
    let (failure, kind) = (&failed.failure, failed.failure.kind());
    let policy = cx.policy(slot);
    let rule = policy.rule(kind);
    let outcome = breaker_outcome(rule, failed, slot, line.started().elapsed());
    let probe = permit.is_probe() && outcome != Outcome::Success;
    permit.settle(outcome);
    if matches!(kind, FailureKind::Refused | FailureKind::Filtered) {
        walk.declines += 1;
    }
    let now = slot.now();
    let around = Around {
        rule,
        time_left: cx.time_left(),
        max_retry_after: cx.chain.max_retry_after,
        breaker_admits: slot.breaker.admits_at(now).is_ok(),
        probe,
        larger_context_ahead: larger_context_ahead(cx, index, slot),
        declines: walk.declines,
        max_declines: policy.get_max_declines(),
    };
    let response = failed.response.as_ref();
    let decision = tries.after(slot, cx.request, failure, response, &around, &mut walk.rng);
    if kind == FailureKind::ContextTooLong {
        walk.context_too_long(slot.capabilities.context_window);
    }
    let newly = decision.gate.is_none_or(|gate| slot.close(gate, kind, now));
    if rule.alert && newly {
        tracing::error!(
            target: "backstop::alert",
            target_id = %slot.id, call_id = %cx.call_id, %kind, "{failure}"
        );
    }
    line.failed(Ending { failure, response, decision, alert: rule.alert });
    decision
}

fn breaker_outcome(rule: Rule, failed: &Failed, slot: &Slot, took: Duration) -> Outcome {
    let error = failed.failure.as_hard();
    let status = error.and_then(ProviderError::status);
    let counts = match failed.failure.kind() {
        // Cut short by the caller's deadline, a timeout says little about the provider.
        FailureKind::Timeout => failed.allowed.max(took) >= slot.target.timeout / 2,
        FailureKind::Connect => !error.is_some_and(ProviderError::is_stale),
        _ => true,
    };
    match rule.breaker {
        BreakerEffect::Success => Outcome::Success,
        BreakerEffect::Failure if counts => Outcome::Failure { retry_after: failed.failure.retry_after() },
        BreakerEffect::ByStatus if status.is_some_and(|status| status >= 500) => Outcome::FAILURE,
        BreakerEffect::Failure | BreakerEffect::ByStatus | BreakerEffect::Neutral => Outcome::Neutral,
    }
}

/// Whether a target follows that may take a longer prompt than this one.
fn larger_context_ahead(cx: &Cx<'_>, index: usize, slot: &Slot) -> bool {
    let here = slot.capabilities.context_window;
    let ahead = cx.chain.slots.iter().skip(index + 1).map(|next| next.capabilities.context_window);
    let mut ahead = ahead.filter(|_| !cx.options.no_failover && cx.options.only.is_none());
    ahead.any(|window| match (here, window) {
        (Some(here), Some(window)) => window > here,
        (None, _) | (_, None) => true,
    })
}
