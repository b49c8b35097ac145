//! Goes through the targets in order until one serves, the call must stop, or none is left.

use std::{sync::atomic::Ordering, time::Duration};

use fastrand::Rng;
use tokio::time::Instant;
use tracing::Instrument;

use super::{
    builder::Inner,
    call::CallOptions,
    hedge::hedged,
    judge::Judge,
    order::{Order, Walk, find},
    requests::Requests,
    serve::{End, Got, Lane, serve},
    slot::Slot,
    stream::Side,
};
use crate::{
    attempt::CallId,
    error::{ChainError, ChainErrorKind, ConfigError, Failure},
    observer::Event,
    policy::FailurePolicy,
    reask::Reask,
    report::{Ledger, Report, Skip},
    request::Request,
    response::Response,
    validator::Change,
};

/// An accepted answer.
pub(crate) struct Executed {
    pub(crate) response: Response,
    pub(crate) report: Report,
    pub(crate) changes: Vec<Change>,
}

/// What a call wants of a target.
#[derive(Clone, Copy)]
pub(crate) enum Ask<'a> {
    /// A whole answer that the judge accepts.
    Whole(&'a dyn Judge),
    /// A stream that has come to its first content.
    Stream(&'a Side),
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

/// What "no limit" comes to: a time that can still be added to a clock.
pub(crate) const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);

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
        let order = Order::of(chain, options, rng);
        let ledger = Ledger::new(options.report(call_id, order), chain.observers.clone());
        let deadline = ledger.started() + options.limit(chain);
        chain.observers.emit(&Event::CallStarted { call_id });
        let requests = Requests::new(request, &chain.slots);
        Self { chain, request, requests, ask, options, call_id, deadline, order, ledger, beginning: None }
    }

    /// The call has ended, and observers hear of it.
    pub(crate) fn ended(&self, report: &Report, ok: bool) {
        self.chain.observers.emit(&Event::CallFinished { report, ok });
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
}

pub(crate) async fn execute(
    chain: &Inner,
    request: &Request,
    judge: &dyn Judge,
    options: &CallOptions,
) -> Result<Executed, ChainError> {
    let (call_id, rng) = chain.next_call();
    let span = tracing::info_span!(target: "backstop", "call", %call_id);
    run(chain, request, judge, options, call_id, rng).instrument(span).await
}

async fn run(
    chain: &Inner,
    request: &Request,
    judge: &dyn Judge,
    options: &CallOptions,
    call_id: CallId,
    mut rng: Rng,
) -> Result<Executed, ChainError> {
    let cx = Cx::begin(chain, request, Ask::Whole(judge), options, call_id, &mut rng);
    let result = match options.check(chain) {
        Err(error) => Err(ChainError::config(error, cx.ledger.finish(None, None))),
        Ok(()) => {
            let mut walk = Walk::new(rng);
            let outcome = match &chain.hedge {
                // On the heap: calls that do not hedge need not carry it.
                Some(hedge) => Box::pin(hedged(&cx, &mut walk, hedge)).await,
                None => in_order(&cx, &mut walk, 0).await,
            };
            finish(&cx, outcome)
        }
    };
    if !chain.observers.is_empty() {
        match &result {
            Ok(done) => cx.ended(&done.report, true),
            Err(error) => cx.ended(error.report(), false),
        }
    }
    result
}

/// How a call ended.
pub(crate) enum CallEnd<'a> {
    Served { position: usize, got: Got<'a> },
    GaveUp(Failure),
    NothingLeft { last: Option<Failure> },
}

/// One target after the other, from this position on.
pub(crate) async fn in_order<'a>(cx: &'a Cx<'a>, walk: &mut Walk, from: usize) -> CallEnd<'a> {
    let mut last = None;
    for position in cx.order.positions().skip(from) {
        let Some(slot) = cx.slot(position) else { continue };
        if let Some(reason) = walk.passes_over(cx, position, slot) {
            cx.skip(slot, reason);
            continue;
        }
        match serve(cx, walk, position, slot, Lane::default()).await {
            End::Served(got) => return CallEnd::Served { position, got },
            End::GiveUp(failure) => return CallEnd::GaveUp(failure),
            End::Next(failure) => last = failure.or(last),
        }
    }
    CallEnd::NothingLeft { last }
}

fn finish(cx: &Cx<'_>, outcome: CallEnd<'_>) -> Result<Executed, ChainError> {
    let (position, got) = match outcome {
        CallEnd::Served { position, got } => (position, got),
        CallEnd::GaveUp(failure) => return Err(cx.fail(Some(failure), true)),
        CallEnd::NothingLeft { last } => return Err(cx.fail(last, false)),
    };
    let report = cx.served(position);
    match got {
        Got::Whole(response, changes) => Ok(Executed { response: *response, report, changes }),
        // Only a call for a stream gets one.
        Got::Live(_) => Err(ChainError::without_value(report)),
    }
}

impl Cx<'_> {
    /// The report of a call that was served.
    pub(crate) fn served(&self, position: usize) -> Report {
        self.ledger.finish(self.slot(position).map(|slot| (position > 0, &slot.id)), None)
    }

    /// The error of a call that nobody has served.
    pub(crate) fn fail(&self, last: Option<Failure>, gave_up: bool) -> ChainError {
        let retry_in = self.chain.slots.iter().filter_map(|slot| slot.back_in(slot.now())).min();
        let report = self.ledger.finish(None, retry_in);
        let retry_in = report.retry_in;
        let kind = match &last {
            Some(failure) if gave_up => ChainErrorKind::GaveUp(failure.kind()),
            _ if self.time_left().is_zero() => ChainErrorKind::Deadline,
            _ if report.attempts.is_empty() => ChainErrorKind::NoTargetAvailable { retry_in },
            _ => ChainErrorKind::Exhausted,
        };
        ChainError::new(kind, last, report)
    }
}

impl Inner {
    /// A name and a source of randomness for the next call; both follow from the seed.
    pub(crate) fn next_call(&self) -> (CallId, Rng) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng::with_seed(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (CallId(rng.u64(..)), rng)
    }
}

impl CallOptions {
    fn report(&self, call_id: CallId, order: Order) -> Report {
        Report {
            version: 1,
            call_id,
            tenant: self.tenant.clone(),
            task: self.task.clone(),
            tags: self.tags.clone(),
            canary: order.is_canary(),
            ..Report::default()
        }
    }

    /// Most time for the call.
    pub(crate) fn limit(&self, chain: &Inner) -> Duration {
        self.deadline.map_or(chain.deadline, |deadline| deadline.min(chain.deadline)).min(FAR)
    }

    pub(crate) fn check(&self, chain: &Inner) -> Result<(), ConfigError> {
        self.only.as_ref().map_or(Ok(()), |name| find(&chain.slots, name).map(|_| ()))
    }
}
