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
    serve::{End, Lane, serve},
    slot::Slot,
};
use crate::{
    attempt::CallId,
    error::{ChainError, ChainErrorKind, ConfigError, Failure},
    observer::Event,
    policy::FailurePolicy,
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

/// What all attempts of one call share.
pub(crate) struct Cx<'a> {
    pub(crate) chain: &'a Inner,
    pub(crate) request: &'a Request,
    pub(crate) judge: &'a dyn Judge,
    pub(crate) options: &'a CallOptions,
    pub(crate) call_id: CallId,
    pub(crate) deadline: Instant,
    pub(crate) order: Order,
    pub(crate) ledger: Ledger,
}

impl<'a> Cx<'a> {
    pub(crate) fn task(&self) -> Option<&str> {
        self.options.task.as_deref()
    }

    /// The target at this position of the call's order.
    pub(crate) fn slot(&self, position: usize) -> Option<&'a Slot> {
        self.chain.slots.get(self.order.index(position)?)
    }

    pub(crate) fn skip(&self, slot: &Slot, reason: Skip) {
        tracing::debug!(target: "backstop", target_id = %slot.id, %reason, "skipped");
        self.ledger.skip(&slot.id, reason);
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
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
    let order = Order::of(chain, options, &mut rng);
    let ledger = Ledger::new(options.report(call_id, order), chain.observers.clone());
    let limit = options.deadline.map_or(chain.deadline, |deadline| deadline.min(chain.deadline));
    let deadline = ledger.started() + limit;
    let cx = Cx { chain, request, judge, options, call_id, deadline, order, ledger };
    chain.observers.emit(&Event::CallStarted { call_id });
    let result = match options.check(chain) {
        Err(error) => Err(ChainError::config(error, cx.ledger.finish(None, None))),
        Ok(()) => {
            let walk = Walk::new(rng);
            let outcome = match &chain.hedge {
                // On the heap: calls that do not hedge need not carry it.
                Some(hedge) => Box::pin(hedged(&cx, walk, hedge)).await,
                None => in_order(&cx, walk).await,
            };
            finish(&cx, outcome)
        }
    };
    if !chain.observers.is_empty() {
        let (report, ok) = match &result {
            Ok(done) => (&done.report, true),
            Err(error) => (error.report(), false),
        };
        chain.observers.emit(&Event::CallFinished { report, ok });
    }
    result
}

/// How a call ended.
pub(crate) enum CallEnd {
    Served { position: usize, response: Box<Response>, changes: Vec<Change> },
    GaveUp(Failure),
    NothingLeft { last: Option<Failure> },
}

/// One target after the other.
async fn in_order(cx: &Cx<'_>, mut walk: Walk) -> CallEnd {
    let mut last = None;
    for position in cx.order.positions() {
        let Some(slot) = cx.slot(position) else { continue };
        if let Some(reason) = walk.passes_over(cx.options, cx.request, position, slot) {
            cx.skip(slot, reason);
            continue;
        }
        match serve(cx, &mut walk, position, slot, Lane::default()).await {
            End::Served(response, changes) => return CallEnd::Served { position, response, changes },
            End::GiveUp(failure) => return CallEnd::GaveUp(failure),
            End::Next(failure) => last = failure.or(last),
        }
    }
    CallEnd::NothingLeft { last }
}

fn finish(cx: &Cx<'_>, outcome: CallEnd) -> Result<Executed, ChainError> {
    let (kind, last) = match outcome {
        CallEnd::Served { position, response, changes } => {
            let target = cx.slot(position).map(|slot| (position > 0, &slot.id));
            let report = cx.ledger.finish(target, None);
            return Ok(Executed { response: *response, report, changes });
        }
        CallEnd::GaveUp(failure) => (Some(ChainErrorKind::GaveUp(failure.kind())), Some(failure)),
        CallEnd::NothingLeft { last } => (None, last),
    };
    let retry_in = cx.chain.slots.iter().filter_map(|slot| slot.back_in(slot.now())).min();
    let report = cx.ledger.finish(None, retry_in);
    let kind = kind.unwrap_or_else(|| {
        if cx.time_left().is_zero() {
            ChainErrorKind::Deadline
        } else if report.attempts.is_empty() {
            ChainErrorKind::NoTargetAvailable { retry_in }
        } else {
            ChainErrorKind::Exhausted
        }
    });
    Err(ChainError::new(kind, last, report))
}

impl Inner {
    /// A name and a source of randomness for the next call; both follow from the seed.
    fn next_call(&self) -> (CallId, Rng) {
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

    fn check(&self, chain: &Inner) -> Result<(), ConfigError> {
        self.only.as_ref().map_or(Ok(()), |name| find(&chain.slots, name).map(|_| ()))
    }
}
