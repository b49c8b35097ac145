//! Runs a call for a whole answer.

use std::sync::Arc;

use fastrand::Rng;
use tracing::Instrument;

use super::{
    context::{Ask, Cx, Running},
    hedge::Hedge,
    in_order::{CallEnd, in_order},
    inner::Inner,
    judge::Judge,
    lanes::hedged,
    options::CallOptions,
    serve::Got,
    walk::Walk,
};
use crate::{
    attempt::CallId,
    error::{ChainError, ConfigError},
    observer::CallOutcome,
    report::Report,
    request::Request,
    response::Response,
    validator::Change,
};

/// An accepted answer.
pub(crate) struct Executed {
    pub(crate) response: Arc<Response>,
    pub(crate) report: Arc<Report>,
    pub(crate) changes: Vec<Change>,
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
    let running = Running::new(&cx);
    let result = match chain.check(request, options) {
        Err(error) => Err(ChainError::config(error, cx.ledger.finish(None, None))),
        Ok(()) => {
            let mut walk = Walk::new(rng);
            let outcome = pass(&cx, &mut walk, 0, chain.hedge.as_ref()).await;
            finish(&cx, outcome)
        }
    };
    match &result {
        Ok(done) => running.ended(&done.report, CallOutcome::Served),
        Err(error) => running.ended(error.report(), CallOutcome::Failed),
    }
    result
}

/// A call that cannot be made, with the report and the events of one that failed.
pub(crate) fn refuse(
    chain: &Inner,
    request: &Request,
    judge: &dyn Judge,
    options: &CallOptions,
    error: ConfigError,
) -> ChainError {
    let (call_id, mut rng) = chain.next_call();
    let cx = Cx::begin(chain, request, Ask::Whole(judge), options, call_id, &mut rng);
    let error = ChainError::config(error, cx.ledger.finish(None, None));
    Running::new(&cx).ended(error.report(), CallOutcome::Failed);
    error
}

/// Goes through the targets from this position on, two beside each other where that is wanted.
pub(crate) async fn pass<'a>(
    cx: &'a Cx<'a>,
    walk: &mut Walk,
    from: usize,
    hedge: Option<&'a Hedge>,
) -> CallEnd<'a> {
    match hedge {
        // On the heap: calls that do not hedge need not carry it.
        Some(hedge) => Box::pin(hedged(cx, walk, hedge)).await,
        None => in_order(cx, walk, from).await,
    }
}

fn finish(cx: &Cx<'_>, outcome: CallEnd<'_>) -> Result<Executed, ChainError> {
    let (position, got) = match outcome {
        CallEnd::Served { position, got } => (position, got),
        CallEnd::GaveUp(failure) => return Err(cx.fail(Some(failure), true)),
        CallEnd::NothingLeft { last } => return Err(cx.fail(last, false)),
    };
    let report = cx.served(position);
    match got {
        Got::Whole(response, changes) => Ok(Executed { response, report: Arc::new(report), changes }),
        // Only a call for a stream gets one.
        Got::Live(_) => Err(ChainError::without_value(report)),
    }
}
