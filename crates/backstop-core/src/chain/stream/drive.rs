//! The whole of a streamed call: targets until one has shown something, and after that what the caller opted for.

use std::sync::Arc;

use fastrand::Rng;
use tokio::time::Instant;
use tracing::Instrument;

use super::{
    event::Interrupted,
    mailbox::{End, Side},
    pump::{Broken, pump},
    settings::OnInterrupt,
};
use crate::{
    attempt::CallId,
    chain::{
        call::Chain,
        context::{Ask, Cx, Running},
        engine::pass,
        in_order::CallEnd,
        inner::Inner,
        options::CallOptions,
        serve::Got,
        walk::Walk,
    },
    error::{ChainError, ConfigError, Failure, FailureKind, ProviderError},
    observer::CallOutcome,
    report::Report,
    request::Request,
};

/// Runs the call and leaves its end in the mailbox.
pub(crate) async fn drive(
    chain: Chain,
    request: Request,
    options: CallOptions,
    prepared: Result<(), ConfigError>,
    mut side: Side,
) {
    let (call_id, rng) = chain.inner().next_call();
    let span = tracing::info_span!(target: "backstop", "call", %call_id);
    side.span.clone_from(&span);
    let end = run(chain.inner(), &request, &options, prepared, &side, (call_id, rng)).instrument(span).await;
    side.close(end);
}

async fn run(
    chain: &Inner,
    request: &Request,
    options: &CallOptions,
    prepared: Result<(), ConfigError>,
    side: &Side,
    (call_id, mut rng): (CallId, Rng),
) -> End {
    let cx = Cx::begin(chain, request, Ask::Stream(side), options, call_id, &mut rng);
    let running = Running::new(&cx);
    side.keep(cx.ledger.clone());
    let end = match prepared.and_then(|()| chain.check(request, options)) {
        Err(error) => End::NotServed(ChainError::config(error, cx.ledger.finish(None, None))),
        Ok(()) => passes(&cx, side, Walk::new(rng)).await,
    };
    match &end {
        End::Finished(_, report) => running.ended(report, CallOutcome::Served),
        End::Interrupted(interrupted) => running.ended(&interrupted.report, CallOutcome::Failed),
        End::NotServed(error) => running.ended(error.report(), CallOutcome::Failed),
    }
    end
}

/// Goes through the targets; when a stream breaks that another one may take over, through those that follow it.
async fn passes(cx: &Cx<'_>, side: &Side, mut walk: Walk) -> End {
    let (mut from, mut broken) = (0, None::<Broken>);
    loop {
        let continues = side.settings.on_interrupt == OnInterrupt::Continue;
        let beginning = broken.as_ref().filter(|_| continues).map(|broken| broken.text.clone());
        // What was shown is done with; the targets that follow have the time of a new call to show something.
        let deadline = match &broken {
            None => cx.deadline,
            Some(_) => Instant::now() + cx.chain.limit(cx.options),
        };
        let here =
            Cx { beginning: beginning.as_deref(), deadline: deadline.min(side.total_until()), ..cx.clone() };
        let hedge = cx.chain.hedge.as_ref().filter(|_| broken.is_none() && !side.settings.reasoning);
        let (position, live) = match pass(&here, &mut walk, from, hedge).await {
            CallEnd::Served { position, got: Got::Live(live) } => (position, live),
            CallEnd::Served { position, got: Got::Whole(..) } => {
                // Only a call for a whole answer gets one.
                return End::NotServed(ChainError::without_value(here.served(position)));
            }
            CallEnd::GaveUp(failure) => return not_served(&here, side, broken, Some(failure), true),
            CallEnd::NothingLeft { last } => return not_served(&here, side, broken, last, false),
        };
        let next = match pump(live, &mut walk, side).await {
            Ok(response) => return End::Finished(response, Arc::new(here.served(position))),
            Err(next) => next,
        };
        if !goes_on(side.settings.on_interrupt, &next) {
            return interrupted(next, cx.ledger.finish(None, None));
        }
        from = position + 1;
        broken = Some(next);
    }
}

/// Whether other targets are to be asked after this.
fn goes_on(on_interrupt: OnInterrupt, broken: &Broken) -> bool {
    broken.fails_over
        && match on_interrupt {
            OnInterrupt::Error => false,
            OnInterrupt::Restart => true,
            // Nobody can go on with what was refused, filtered or complete.
            OnInterrupt::Continue => {
                let kind = broken.failure.kind();
                let text = !broken.text.trim().is_empty() && !broken.called_a_tool;
                text && !kind.is_soft() && kind != FailureKind::Filtered
            }
        }
}

/// No target is left. What was shown before is the consumer's, with the failure that broke it.
fn not_served(cx: &Cx<'_>, side: &Side, broken: Option<Broken>, last: Option<Failure>, gave_up: bool) -> End {
    let shown = side.shown();
    let (target, broken) = match (shown.target, broken) {
        // The text is what was shown last.
        (_, Some(broken)) if shown.attempts == broken.attempts || cx.beginning.is_some() => {
            return interrupted(broken, cx.ledger.finish(None, None));
        }
        (None, _) => return End::NotServed(cx.fail(last, gave_up)),
        (Some(target), broken) => (target, broken),
    };
    // Reasoning was shown since, and no answer came.
    let report = cx.ledger.finish(None, None);
    let usage = report.attempts.last().and_then(|attempt| attempt.usage);
    let failure = last.or(broken.map(|broken| broken.failure)).unwrap_or_else(|| {
        ProviderError::new(FailureKind::StreamInterrupted, "no target was left to answer").into()
    });
    let text = String::new();
    let broken = Broken {
        failure,
        target,
        text,
        usage,
        attempts: shown.attempts,
        fails_over: false,
        called_a_tool: false,
    };
    interrupted(broken, report)
}

fn interrupted(broken: Broken, report: Report) -> End {
    let Broken { failure, target, text, usage, .. } = broken;
    End::Interrupted(Interrupted { text, target, cause: Arc::new(failure), usage, report: Arc::new(report) })
}
