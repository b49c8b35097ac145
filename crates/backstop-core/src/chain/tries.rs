//! What a call remembers of its attempts at one target: counts, the overlay, the schedule of waits.

use std::{borrow::Cow, sync::Arc, time::Duration};

use fastrand::Rng;

use super::slot::Slot;
use crate::{
    attempt::Overlay,
    budget::{RetryBudget, RetryToken},
    error::{Failure, FailureKind},
    message::Message,
    policy::{Decision, DecisionContext, Disposition, Remedy, Rule, Shown, decide},
    reask::Reask,
    request::{Output, Request},
    response::Response,
    retry::Schedule,
};

/// What the engine knows beside the tries themselves.
pub(crate) struct Around {
    pub(crate) rule: Rule,
    pub(crate) time_left: Duration,
    pub(crate) time_kept: Duration,
    pub(crate) max_retry_after: Duration,
    pub(crate) breaker_admits: bool,
    pub(crate) probe: bool,
    pub(crate) larger_context_ahead: bool,
    pub(crate) declines: u32,
    pub(crate) max_declines: Option<u32>,
    pub(crate) shown: Shown,
}

/// An attempt that has failed.
pub(crate) struct Happened<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) request: &'a Request,
    pub(crate) failure: &'a Failure,
    /// The answer that may not be used.
    pub(crate) answer: Option<&'a Response>,
    /// Pays for asking the same provider again.
    pub(crate) budget: &'a Arc<RetryBudget>,
    /// How the model is told.
    pub(crate) reask: &'a Reask,
}

#[derive(Default)]
pub(crate) struct Tries {
    pub(crate) number: u32,
    pub(crate) overlay: Overlay,
    /// The remedies of the next attempt, which are all those applied so far.
    pub(crate) remedies: Vec<Remedy>,
    pub(crate) wait: Duration,
    retries: u8,
    reasks: u8,
    by_kind: Vec<(FailureKind, u8)>,
    schedule: Option<Schedule>,
    /// Pays for the attempt that comes, or that is under way.
    token: Option<RetryToken>,
    /// Attempts at the present member of a pool.
    here: u32,
    /// The overlay's messages are the beginning of the answer.
    pub(crate) continues: bool,
}

impl Tries {
    /// No attempts yet; the first is paid for if it begins beside another target's. `beginning` is the part of the
    /// answer that there is already.
    pub(crate) fn new(hedge: Option<RetryToken>, beginning: Option<&str>) -> Self {
        let mut overlay = Overlay::new();
        overlay.feedback.extend(beginning.map(|text| Message::assistant(text.trim_end())));
        Self { token: hedge, overlay, continues: beginning.is_some(), ..Self::default() }
    }

    /// Whether no attempt was made here.
    pub(crate) fn is_first(&self) -> bool {
        self.here == 0
    }

    /// An attempt begins.
    pub(crate) fn begin(&mut self) {
        self.number += 1;
        self.here += 1;
        if let Some(token) = &mut self.token {
            token.sent();
        }
    }

    /// Another member of the pool has its own counts. What was changed about the request stays: the model is the
    /// same.
    pub(crate) fn renew(&mut self) {
        (self.retries, self.here, self.wait) = (0, 0, Duration::ZERO);
        self.by_kind.clear();
        (self.schedule, self.token) = (None, None);
    }

    /// Decides what a failure leads to, and prepares the next attempt if that is a retry.
    pub(crate) fn after(&mut self, happened: &Happened<'_>, around: &Around, rng: &mut Rng) -> Decision {
        let (slot, failure) = (happened.slot, happened.failure);
        let kind = failure.kind();
        self.token = None;
        let proposed = match failure {
            Failure::Hard(error) => error.remedy(),
            Failure::Soft(rejection) => rejection.remedy(),
        };
        let mut cx = DecisionContext::new(kind, around.rule);
        cx.remedy = proposed.unwrap_or(around.rule.remedy);
        let change = self.change(cx.remedy, happened);
        if matches!(change, Some(NextRequest::PromptOnly)) {
            cx.remedy = Remedy::PromptOnly;
        }
        cx.remedy_possible = change.is_some();
        cx.stale = failure.as_hard().is_some_and(|error| error.is_stale());
        (cx.retries_used, cx.max_retries) = (self.retries, slot.target.retry.get_retries());
        cx.kind_retries_used = self.of_kind(kind);
        (cx.reasks_used, cx.max_reasks) = (self.reasks, slot.target.reasks);
        cx.retry_after = failure.retry_after();
        (cx.jitter, cx.max_retry_after) = (rng.f64() * 0.1, around.max_retry_after);
        cx.server_retry = failure.as_hard().and_then(|error| error.server_retry());
        (cx.time_left, cx.time_kept) = (around.time_left, around.time_kept);
        (cx.breaker_admits, cx.probe) = (around.breaker_admits, around.probe);
        cx.larger_context_ahead = around.larger_context_ahead;
        (cx.declines, cx.max_declines) = (around.declines, around.max_declines);
        cx.shown = around.shown;
        if around.rule.disposition == Disposition::Retry && !kind.is_soft() && cx.remedy == Remedy::Nothing {
            cx.backoff = self.schedule.get_or_insert_with(|| slot.target.retry.start()).next(rng);
        }
        let free = cx.stale && cx.kind_retries_used == 0;
        let decision = self.decide_and_pay(cx, free, happened.budget);
        if decision.disposition == Disposition::Retry {
            self.count(kind, decision.remedy, free);
            self.wait = decision.delay;
            self.apply(change);
        }
        decision
    }

    /// A retry that nothing else forbids is paid for, so that the budget hears of no other.
    fn decide_and_pay(&mut self, mut cx: DecisionContext, free: bool, budget: &Arc<RetryBudget>) -> Decision {
        let decision = decide(&cx);
        if decision.disposition != Disposition::Retry || decision.remedy != Remedy::Nothing || free {
            return decision;
        }
        self.token = budget.withdraw();
        if self.token.is_some() {
            return decision;
        }
        cx.budget_left = false;
        decide(&cx)
    }

    /// How the next request would differ, or `None` if that remedy is not to be had.
    fn change(&self, remedy: Remedy, happened: &Happened<'_>) -> Option<NextRequest> {
        let Happened { slot, request, failure, answer, reask, .. } = *happened;
        match remedy {
            Remedy::Nothing => Some(NextRequest::Same),
            // The answer that is asked for anew would be appended to its beginning.
            Remedy::Feedback if self.continues => None,
            Remedy::Feedback => match (failure, answer) {
                (Failure::Soft(rejection), Some(bad)) => {
                    Some(NextRequest::Feedback(reask.messages(bad, rejection.feedback())))
                }
                _ => None,
            },
            Remedy::MoreTokens if self.remedies.contains(&Remedy::MoreTokens) => None,
            Remedy::MoreTokens => {
                let spent = || answer.and_then(|bad| bad.usage).map(|usage| usage.output_tokens);
                let asked = self.overlay.max_tokens.or(request.max_tokens).map(u64::from);
                larger(asked.or_else(spent)?, slot.capabilities.max_output_tokens)
                    .map(NextRequest::MoreTokens)
            }
            Remedy::JsonMode | Remedy::PromptOnly => match request.output {
                Output::Schema(_) if !self.overlay.json_mode => Some(NextRequest::JsonMode),
                Output::Schema(_) | Output::Json if !self.overlay.prompt_only => {
                    Some(NextRequest::PromptOnly)
                }
                _ => None,
            },
            Remedy::DropParam => {
                let param = failure.as_hard()?.param()?;
                let allowed = slot.target.droppable.iter().find(|allowed| *allowed == param)?;
                (!self.overlay.dropped.contains(allowed)).then(|| NextRequest::Without(allowed.clone()))
            }
        }
    }

    fn apply(&mut self, change: Option<NextRequest>) {
        let remedy = match change {
            None | Some(NextRequest::Same) => return,
            Some(NextRequest::Feedback(messages)) => {
                self.overlay.feedback = messages;
                Remedy::Feedback
            }
            Some(NextRequest::MoreTokens(tokens)) => {
                self.overlay.max_tokens = Some(tokens);
                Remedy::MoreTokens
            }
            Some(NextRequest::JsonMode) => {
                self.overlay.json_mode = true;
                Remedy::JsonMode
            }
            Some(NextRequest::PromptOnly) => {
                self.overlay.prompt_only = true;
                Remedy::PromptOnly
            }
            Some(NextRequest::Without(param)) => {
                self.overlay.dropped.push(param);
                Remedy::DropParam
            }
        };
        self.remedies.push(remedy);
    }

    fn of_kind(&self, kind: FailureKind) -> u8 {
        self.by_kind.iter().find(|(counted, _)| *counted == kind).map_or(0, |(_, count)| *count)
    }

    fn count(&mut self, kind: FailureKind, remedy: Remedy, free: bool) {
        match self.by_kind.iter_mut().find(|(counted, _)| *counted == kind) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.by_kind.push((kind, 1)),
        }
        match remedy {
            Remedy::Feedback => self.reasks = self.reasks.saturating_add(1),
            Remedy::Nothing if !free => self.retries = self.retries.saturating_add(1),
            _ => {}
        }
    }
}

/// How the next request differs from this one.
enum NextRequest {
    Same,
    Feedback(Vec<Message>),
    MoreTokens(u32),
    JsonMode,
    PromptOnly,
    Without(Cow<'static, str>),
}

/// Twice the limit that was too small, up to the model's own; `None` if that is no more.
fn larger(limit: u64, most: Option<u32>) -> Option<u32> {
    let doubled = u32::try_from(limit.saturating_mul(2)).unwrap_or(u32::MAX);
    let next = most.map_or(doubled, |most| doubled.min(most));
    (u64::from(next) > limit).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_limit_doubles_up_to_the_models_own() {
        assert_eq!(larger(100, None), Some(200));
        assert_eq!(larger(100, Some(150)), Some(150));
        assert_eq!(larger(100, Some(100)), None, "never the same limit again");
        assert_eq!(larger(u64::MAX, None), None);
    }
}
