//! What an attempt that has just failed leads to.

use std::time::Duration;

use super::{
    admit::Admitted,
    context::Cx,
    send::Failed,
    slot::Slot,
    tries::{Around, Happened},
    visit::Visit,
    walk::Walk,
};
use crate::{
    breaker::Outcome,
    error::{Failure, FailureKind, ProviderError},
    policy::{BreakerEffect, Disposition, Rule},
    quality::QualityPermit,
    report::{AttemptLine, Ending},
};

/// Tells the breaker, decides, closes gates, and closes the line of the report. Says where the visit goes on.
pub(crate) fn conclude(
    visit: &mut Visit<'_>,
    walk: &mut Walk,
    admitted: Admitted<'_>,
    line: AttemptLine,
    failed: &Failed,
) -> Disposition {
    let (cx, slot, member, number) = (visit.cx, visit.slot, admitted.member, admitted.number);
    let credential = admitted.credential;
    let (failure, kind) = (&failed.failure, failed.failure.kind());
    let policy = cx.policy(slot);
    let rule = policy.rule(kind);
    let took = failed.took.unwrap_or_else(|| line.started().elapsed());
    let outcome = breaker_outcome(rule, failed, took);
    let probe = admitted.permit.is_probe() && outcome != Outcome::Success;
    let now = slot.now();
    admitted.permit.settle_timed(outcome, took, now);
    if matches!(kind, FailureKind::Refused | FailureKind::Filtered) {
        walk.declines += 1;
    }
    let around = Around {
        rule,
        time_left: cx.time_left(),
        time_kept: if rule.disposition == Disposition::Retry { visit.kept(walk) } else { Duration::ZERO },
        max_retry_after: cx.chain.max_retry_after,
        breaker_admits: slot.members.iter().any(|member| member.breaker.admits_at(now).is_ok()),
        probe,
        larger_context_ahead: larger_context_ahead(cx, visit.position, slot),
        declines: walk.declines,
        max_declines: policy.get_max_declines(),
        shown: failed.shown,
    };
    let response = failed.response.as_ref();
    let (request, budget, reask) = (visit.request(), &member.budget, cx.reask());
    let happened = Happened { slot, request, failure, answer: response, budget, reask };
    let decision = visit.tries.after(&happened, &around, &mut walk.rng);
    if kind == FailureKind::ContextTooLong {
        walk.context_too_long(slot.capabilities.context_window);
    }
    let newly = decision.gate.is_none_or(|gate| member.close(credential, gate, kind, now));
    let alert = rule.alert && newly;
    if alert {
        call_for_help(cx, slot, failure);
    }
    line.failed(Ending { failure, response, decision, alert });
    visit.among_members(decision.disposition, number, kind)
}

/// Without the message, which a vendor may have made of the prompt or the key.
fn call_for_help(cx: &Cx<'_>, slot: &Slot, failure: &Failure) {
    let hard = failure.as_hard();
    tracing::error!(
        target: "backstop::alert",
        target_id = %slot.id, call_id = %cx.call_id, kind = %failure.kind(),
        status = hard.and_then(ProviderError::status), code = hard.and_then(ProviderError::code),
        "somebody should look after this provider"
    );
}

impl Visit<'_> {
    /// In a pool, another member may come before the next target.
    fn among_members(&mut self, decided: Disposition, number: Option<u32>, kind: FailureKind) -> Disposition {
        let index = number.and_then(|number| usize::try_from(number).ok()).and_then(|it| it.checked_sub(1));
        let Some((index, member)) = index.and_then(|index| Some((index, self.slot.members.get(index)?)))
        else {
            return decided;
        };
        self.choice.failed = Some(index);
        if decided != Disposition::FailOver {
            return decided;
        }
        self.choice.spent.push(index);
        if !self.slot.has_better(self.slot.now(), &self.choice, member, kind) {
            return decided;
        }
        self.tries.renew();
        Disposition::Retry
    }
}

/// A visit has ended without an answer.
pub(crate) fn settle(quality: QualityPermit, failure: Option<&Failure>) {
    let kind = failure.map(Failure::kind);
    // What the caller left out says nothing about the target.
    if kind.is_some_and(|kind| kind.is_soft() && kind != FailureKind::NeedsInput) {
        quality.settle(false);
    }
}

fn breaker_outcome(rule: Rule, failed: &Failed, took: Duration) -> Outcome {
    let error = failed.failure.as_hard();
    let status = error.and_then(ProviderError::status);
    let counts = match failed.failure.kind() {
        // What is too slow for one caller may be as fast as all others want it.
        FailureKind::Timeout if failed.hasty => false,
        // Cut short by the caller's deadline, a timeout says little about the provider.
        FailureKind::Timeout => failed.allowed.max(took) >= failed.timeout / 2,
        FailureKind::Connect => !error.is_some_and(ProviderError::is_stale),
        _ => true,
    };
    let unanswered = matches!(failed.failure.kind(), FailureKind::Timeout | FailureKind::Connect);
    match rule.breaker {
        BreakerEffect::Success => Outcome::Success,
        BreakerEffect::Failure if counts && unanswered => Outcome::NoAnswer,
        BreakerEffect::Failure if counts => Outcome::Failure { retry_after: failed.failure.retry_after() },
        BreakerEffect::ByStatus if status.is_some_and(|status| status >= 500) => Outcome::FAILURE,
        BreakerEffect::Failure | BreakerEffect::ByStatus | BreakerEffect::Neutral => Outcome::Neutral,
    }
}

/// Whether a target follows that may take a longer prompt than this one.
fn larger_context_ahead(cx: &Cx<'_>, position: usize, slot: &Slot) -> bool {
    if cx.options.no_failover || cx.options.only.is_some() {
        return false;
    }
    let here = slot.capabilities.context_window;
    let ahead = cx.order.positions().skip(position + 1).filter_map(|position| cx.slot(position));
    ahead.filter(|next| next.is_on()).any(|next| match (here, next.capabilities.context_window) {
        (Some(here), Some(window)) => window > here,
        (None, _) | (_, None) => true,
    })
}
