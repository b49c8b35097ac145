//! A stream whose beginning was accepted, from there to its end.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{
    loan::{Loan, Terms},
    mailbox::Side,
    reading::{Read, Reading},
};
use crate::{
    breaker::Outcome,
    chain::{
        admit::Admitted,
        conclude::{conclude, settle},
        context::Cx,
        send::{Failed, judge},
        slot::Slot,
        visit::Visit,
        walk::Walk,
    },
    check::baseline,
    error::{Failure, FailureKind, ProviderError, Stage},
    human::Human,
    policy::Disposition,
    quality::QualityPermit,
    report::AttemptLine,
    response::{Response, Usage},
    target::TargetId,
};

/// A stream under way. Dropped before its end it counts as nothing: the permit says so by itself, and the meter,
/// which goes before the line, leaves the tokens so far in it.
pub(crate) struct Live<'a> {
    pub(crate) reading: Box<Reading>,
    pub(crate) visit: Visit<'a>,
    pub(crate) admitted: Admitted<'a>,
    pub(crate) line: AttemptLine,
    pub(crate) quality: Option<QualityPermit>,
}

/// A stream that broke after something of it was shown.
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    pub(crate) target: TargetId,
    /// What the consumer has seen.
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
    /// How many attempts were shown by then.
    pub(crate) attempts: u32,
    /// Whether the policy lets another target take over.
    pub(crate) fails_over: bool,
    pub(crate) called_a_tool: bool,
}

/// Gives the answer out as it comes, and tells breaker, quality window and report how it ended.
pub(crate) async fn pump(live: Box<Live<'_>>, walk: &mut Walk, side: &Side) -> Result<Box<Response>, Broken> {
    let Live { reading, mut visit, admitted, line, quality } = *live;
    let (reading, ended) = flow(reading, (visit.cx, visit.slot), &admitted, side).await;
    reading.meter.note();
    let first_content = reading.meter.first_content();
    let mut response = reading.response;
    match ended {
        Ok(()) => {
            admitted.usage(visit.slot, response.usage);
            admitted.permit.settle_timed(
                Outcome::Success,
                first_content.unwrap_or_default(),
                visit.slot.now(),
            );
            quality.into_iter().for_each(|quality| quality.settle(true));
            visit.note_lost_cache(&mut response);
            line.served(&response);
            Ok(Box::new(response))
        }
        Err(failure) => {
            response.usage = reading.meter.usage();
            admitted.usage(visit.slot, response.usage);
            quality.into_iter().for_each(|quality| settle(quality, Some(&failure)));
            let failed = Failed {
                hasty: side.settings.is_hasty(&failure, &visit.slot.target),
                failure,
                response: Some(response),
                allowed: visit.slot.target.timeout,
                timeout: visit.slot.target.timeout,
                took: first_content,
                shown: side.settings.shown(),
            };
            let disposition = conclude(&mut visit, walk, admitted, line, &failed);
            let response = failed.response.unwrap_or_default();
            Err(Broken {
                failure: failed.failure,
                target: visit.slot.id.clone(),
                usage: response.usage,
                attempts: side.shown().attempts,
                called_a_tool: !response.tool_calls.is_empty(),
                text: response.text,
                fails_over: disposition != Disposition::GiveUp,
            })
        }
    }
}

async fn flow(
    mut reading: Box<Reading>,
    (cx, slot): (&Cx<'_>, &Slot),
    admitted: &Admitted<'_>,
    side: &Side,
) -> (Box<Reading>, Result<(), Failure>) {
    let mut now = reading.announce(side, Instant::now()).await;
    let idle = side.settings.idle(&slot.target);
    let mut idle_until = now + idle;
    // The lease of a probe begins anew with each content, and an answer that is accepted has nothing left to read.
    let reads = !admitted.permit.is_probe() && !reading.accepted;
    let terms = Terms { reads, reasoning: side.settings.reasoning };
    let mut loan = Box::new(Loan::new(reading, terms, side.span.clone()));
    loop {
        let since = now;
        (loan, now) = side.lend(loan, since).await;
        let reading = &mut loan.reading;
        if std::mem::take(&mut loan.content) {
            reading.meter.content(now, side.busy());
            idle_until = now + idle;
        } else {
            idle_until += now.duration_since(since);
        }
        let read = match loan.read.take() {
            _ if reading.accepted => return (loan.reading, Ok(())),
            Some(read) => read.map_err(interrupted),
            None => in_time(reading, side, idle, idle_until).await,
        };
        let ended = match read {
            Ok(Read::Refused) => baseline(cx.request, &reading.response),
            Ok(Read::Ended) => {
                // The deadline ended with the search for a target; the answer has the time of the whole stream.
                judge(cx, slot, &reading.response, side.total_until()).await.map(|_| ())
            }
            Ok(read) => {
                now = Instant::now();
                let is_content = matches!(read, Read::Content(_));
                reading.held.extend(read.event(terms.reasoning));
                if is_content {
                    admitted.permit.renew();
                    reading.meter.content(now, side.busy());
                    idle_until = now + idle;
                }
                continue;
            }
            Err(failure) => Err(failure),
        };
        return (loan.reading, ended);
    }
}

/// Waits for the next chunk as long as the timers allow.
async fn in_time(
    reading: &mut Reading,
    side: &Side,
    idle: Duration,
    idle_until: Instant,
) -> Result<Read, Failure> {
    let total_until = side.total_until();
    match timeout_at(idle_until.min(total_until), reading.next()).await {
        Ok(read) => read.map_err(interrupted),
        Err(_) if total_until > idle_until => Err(stalled(idle).into()),
        Err(_) => {
            let message = format!("not complete in {}", Human(side.settings.total));
            Err(ProviderError::new(FailureKind::Timeout, message).with_stage(Stage::Total).into())
        }
    }
}

/// Too long between one piece of content and the next.
pub(super) fn stalled(idle: Duration) -> ProviderError {
    ProviderError::new(FailureKind::Timeout, format!("no content for {}", Human(idle)))
        .with_stage(Stage::Idle)
}

/// What broke the connection or the format has interrupted the stream; what the vendor says itself keeps its kind.
fn interrupted(error: ProviderError) -> Failure {
    if !matches!(error.kind(), FailureKind::MalformedResponse | FailureKind::Connect) {
        return error.into();
    }
    let mut failure = ProviderError::new(FailureKind::StreamInterrupted, error.message().to_owned());
    if let Some(stage) = error.stage() {
        failure = failure.with_stage(stage);
    }
    failure.with_source(error).into()
}
