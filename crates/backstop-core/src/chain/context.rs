//! What all attempts of one call share.

use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

use super::{
    inner::Inner, judge::Judge, options::CallOptions, order::Order, requests::Requests, slot::Slot,
    stream::Side,
};
use crate::{
    attempt::CallId,
    error::{ChainError, ChainErrorKind, ConfigError, Failure},
    observer::{CallOutcome, Event},
    policy::FailurePolicy,
    reask::Reask,
    report::{Ledger, Report, Skip},
    request::Request,
    response::Response,
};

/// What a call wants of a target.
#[derive(Clone, Copy)]
pub(crate) enum Ask<'a> {
    /// A whole answer that the judge accepts.
    Whole(&'a dyn Judge),
    /// A stream that has come to its first content.
    Stream(&'a Side),
}

impl Ask<'_> {
    /// Whether an attempt may take longer than its target's timeout: until the whole of a stream has come.
    pub(crate) fn holds(self) -> bool {
        matches!(self, Self::Stream(side) if side.settings.holds())
    }
}

/// What all attempts of one call share.
#[derive(Clone)]
pub(crate) struct Cx<'a> {
    pub(crate) chain: &'a Inner,
    /// The caller's. Answers are judged by it.
    pub(crate) request: &'a Request,
    pub(crate) requests: Requests<'a>,
    pub(crate) ask: Ask<'a>,
    pub(crate) options: &'a CallOptions,
    pub(crate) call_id: CallId,
    pub(crate) deadline: Instant,
    pub(crate) order: Order,
    pub(crate) ledger: Ledger,
    /// The part of the answer that there is already, which a target has to go on with.
    pub(crate) beginning: Option<&'a str>,
}

impl<'a> Cx<'a> {
    /// A call begins: its time runs, and observers hear of it.
    pub(crate) fn begin(
        chain: &'a Inner,
        request: &'a Request,
        ask: Ask<'a>,
        options: &'a CallOptions,
        call_id: CallId,
        rng: &mut Rng,
    ) -> Self {
        let order = Order::of(chain.slots.len(), chain.canary, options, rng);
        let ledger = Ledger::new(report(options, call_id, order), chain.observers.clone());
        let deadline = ledger.started() + chain.limit(options);
        chain.observers.emit(&Event::CallStarted { call_id });
        let requests = Requests::new(request, &chain.slots);
        Self { chain, request, requests, ask, options, call_id, deadline, order, ledger, beginning: None }
    }

    pub(crate) fn task(&self) -> Option<&str> {
        self.options.task.as_deref()
    }

    /// The target at this position of the call's order.
    pub(crate) fn slot(&self, position: usize) -> Option<&'a Slot> {
        self.chain.slots.get(self.order.index(position)?)
    }

    /// The request as the target at this position gets it.
    pub(crate) fn request_for(&self, position: usize) -> &Request {
        let index = self.order.index(position);
        let found = index.and_then(|index| Some((index, self.chain.slots.get(index)?)));
        found.map_or(self.request, |(index, slot)| self.requests.of(index, slot))
    }

    /// What an answer from another target than the first has cost, if the prompt was to be read from a cache there.
    pub(crate) fn lost_cache(&self, position: usize, response: &Response) -> Option<String> {
        let warm = response.usage.is_some_and(|usage| usage.cached_tokens > 0);
        if position == 0 || warm || !self.request_for(0).is_cached() {
            return None;
        }
        let first = &self.slot(0)?.id;
        Some(format!("the prompt was read without a cache: what is cached of it at {first} was of no use"))
    }

    pub(crate) fn skip(&self, slot: &Slot, reason: Skip) {
        tracing::debug!(target: "backstop", target_id = %slot.id, %reason, "skipped");
        self.ledger.skip(&slot.id, reason);
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The call's words, else the chain's.
    pub(crate) fn reask(&self) -> &Reask {
        self.options.reask.as_ref().unwrap_or(&self.chain.reask)
    }

    /// The call's policy, else the target's, else the chain's.
    pub(crate) fn policy<'s>(&'s self, slot: &'s Slot) -> &'s FailurePolicy {
        let own = self.options.policy.as_deref().or(slot.target.policy.as_deref());
        own.unwrap_or(&self.chain.policy)
    }

    /// The option that leaves the call no time at all.
    fn no_time(&self) -> Option<ConfigError> {
        let why = "is 0 s, so that nothing could be asked: give it more";
        let total = match self.ask {
            Ask::Stream(side) => Some(side.settings.total),
            Ask::Whole(_) => None,
        };
        let options = [("deadline", self.options.deadline), ("total", total)];
        let (setting, _) = options.into_iter().find(|(_, time)| time.is_some_and(|time| time.is_zero()))?;
        Some(ConfigError::setting(setting, why))
    }

    /// The report of a call that was served.
    pub(crate) fn served(&self, position: usize) -> Report {
        self.ledger.finish(self.slot(position).map(|slot| (position > 0, &slot.id)), None)
    }

    /// The error of a call that nobody has served.
    pub(crate) fn fail(&self, last: Option<Failure>, gave_up: bool) -> ChainError {
        let retry_in = self.chain.slots.iter().filter_map(|slot| slot.back_in(slot.now())).min();
        let report = self.ledger.finish(None, retry_in);
        let retry_in = report.retry_in;
        if let (None, Some(mistake)) = (&last, self.no_time()) {
            return ChainError::no_time(mistake, report);
        }
        let kind = match &last {
            Some(failure) if gave_up => ChainErrorKind::GaveUp(failure.kind()),
            _ if self.time_left().is_zero() => ChainErrorKind::Deadline,
            _ if report.attempts.is_empty() => ChainErrorKind::NoTargetAvailable { retry_in },
            _ => ChainErrorKind::Exhausted,
        };
        ChainError::new(kind, last, report)
    }
}

/// Sees to it that observers hear of a call's end, however it ends.
pub(crate) struct Running<'c, 'a>(Option<&'c Cx<'a>>);

impl<'c, 'a> Running<'c, 'a> {
    pub(crate) fn new(cx: &'c Cx<'a>) -> Self {
        Self(Some(cx))
    }

    /// The call has ended.
    pub(crate) fn ended(mut self, report: &Report, outcome: CallOutcome) {
        if let Some(cx) = self.0.take() {
            cx.chain.observers.emit(&Event::CallFinished { report, outcome });
        }
    }
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        if let Some(cx) = self.0.filter(|cx| !cx.chain.observers.is_empty()) {
            let (report, outcome) = (&cx.ledger.so_far(), CallOutcome::Cancelled);
            cx.chain.observers.emit(&Event::CallFinished { report, outcome });
        }
    }
}

/// The report of a call that begins.
fn report(options: &CallOptions, call_id: CallId, order: Order) -> Report {
    Report {
        version: 1,
        call_id,
        tenant: options.tenant.clone(),
        task: options.task.clone(),
        tags: options.tags.clone(),
        canary: order.is_canary(),
        ..Report::default()
    }
}
