//! Goes through the targets in order until one serves, the call must stop, or none is left.

use std::{borrow::Cow, sync::atomic::Ordering, time::Duration};

use fastrand::Rng;
use tokio::time::Instant;
use tracing::Instrument;

use super::{
    builder::Inner,
    call::CallOptions,
    judge::Judge,
    serve::{End, serve},
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
    pub(crate) ledger: Ledger,
}

impl Cx<'_> {
    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The call's policy, else the target's, else the chain's.
    pub(crate) fn policy<'a>(&'a self, slot: &'a Slot) -> &'a FailurePolicy {
        let own = self.options.policy.as_deref().or(slot.target.policy.as_deref());
        own.unwrap_or(&self.chain.policy)
    }
}

/// What a call learns on its way from target to target.
pub(crate) struct Walk {
    pub(crate) rng: Rng,
    pub(crate) declines: u32,
    /// Set once a context was too long for a target.
    pub(crate) context: Option<TooLong>,
}

/// A prompt was too long for a target.
pub(crate) struct TooLong {
    /// The largest window that was too small, where one was known.
    pub(crate) window: Option<u32>,
    /// A target of unknown window has been tried since; one is enough.
    unknown_tried: bool,
}

impl Walk {
    pub(crate) fn context_too_long(&mut self, window: Option<u32>) {
        let unknown_tried = self.context.as_ref().is_some_and(|context| context.unknown_tried);
        let known = self.context.as_ref().and_then(|context| context.window);
        self.context = Some(TooLong { window: known.max(window), unknown_tried });
    }

    /// Whether a target may have room for a prompt that was too long for another.
    fn has_room(&mut self, window: Option<u32>) -> bool {
        let Some(context) = &mut self.context else { return true };
        match (context.window, window) {
            (Some(too_small), Some(window)) => window > too_small,
            (None, Some(_)) => true,
            (_, None) => !std::mem::replace(&mut context.unknown_tried, true),
        }
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
    rng: Rng,
) -> Result<Executed, ChainError> {
    let ledger = Ledger::new(options.report(call_id), chain.observers.clone());
    let limit = options.deadline.map_or(chain.deadline, |deadline| deadline.min(chain.deadline));
    let deadline = ledger.started() + limit;
    let cx = Cx { chain, request, judge, options, call_id, deadline, ledger };
    chain.observers.emit(&Event::CallStarted { call_id });
    let result = match options.check(chain) {
        Err(error) => Err(ChainError::config(error, cx.ledger.finish(None, None))),
        Ok(()) => finish(&cx, in_order(&cx, rng).await),
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

enum Outcome {
    Served { index: usize, response: Box<Response>, changes: Vec<Change> },
    GaveUp(Failure),
    NothingLeft { last: Option<Failure> },
}

async fn in_order(cx: &Cx<'_>, rng: Rng) -> Outcome {
    let mut walk = Walk { rng, declines: 0, context: None };
    let mut last = None;
    for (index, slot) in cx.chain.slots.iter().enumerate() {
        if let Some(reason) = passed_over(cx, &mut walk, index, slot) {
            cx.ledger.skip(&slot.id, reason);
            continue;
        }
        match serve(cx, &mut walk, index, slot).await {
            End::Served(response, changes) => return Outcome::Served { index, response, changes },
            End::GiveUp(failure) => return Outcome::GaveUp(failure),
            End::Next(failure) => last = failure.or(last),
        }
    }
    Outcome::NothingLeft { last }
}

/// Why a target is not even considered.
fn passed_over(cx: &Cx<'_>, walk: &mut Walk, index: usize, slot: &Slot) -> Option<Skip> {
    let options = cx.options;
    let asked = match &options.only {
        Some(only) => slot.id.as_str() == only,
        None => index == 0 || !options.no_failover,
    };
    if !asked {
        return Some(Skip::NotAsked);
    }
    if let Some(what) = slot.lacks(cx.request) {
        return Some(Skip::Unsupported { what });
    }
    let window = slot.capabilities.context_window;
    (!walk.has_room(window)).then_some(Skip::ContextTooSmall { window })
}

fn finish(cx: &Cx<'_>, outcome: Outcome) -> Result<Executed, ChainError> {
    let (kind, last) = match outcome {
        Outcome::Served { index, response, changes } => {
            let target = cx.chain.slots.get(index).map(|slot| (index > 0, &slot.id));
            let report = cx.ledger.finish(target, None);
            return Ok(Executed { response: *response, report, changes });
        }
        Outcome::GaveUp(failure) => (Some(ChainErrorKind::GaveUp(failure.kind())), Some(failure)),
        Outcome::NothingLeft { last } => (None, last),
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
    fn report(&self, call_id: CallId) -> Report {
        Report {
            version: 1,
            call_id,
            tenant: self.tenant.clone(),
            task: self.task.clone(),
            tags: self.tags.clone(),
            ..Report::default()
        }
    }

    fn check(&self, chain: &Inner) -> Result<(), ConfigError> {
        let Some(name) = &self.only else { return Ok(()) };
        if chain.slots.iter().any(|slot| slot.id.as_str() == name) {
            return Ok(());
        }
        let known: Vec<&str> = chain.slots.iter().map(|slot| slot.id.as_str()).collect();
        Err(ConfigError::UnknownTarget { name: Cow::into_owned(name.clone()), known: known.join(", ") })
    }
}
