//! A stream whose beginning was accepted, from there to its end.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout_at};

use super::{
    event::StreamEvent,
    mailbox::Side,
    reading::{Read, Reading},
};
use crate::{
    breaker::Outcome,
    chain::{
        admit::Admitted,
        conclude::{conclude, settle},
        send::{Failed, judge},
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
    pub(crate) reading: Reading,
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
pub(crate) async fn pump(
    mut live: Box<Live<'_>>,
    walk: &mut Walk,
    side: &Side,
) -> Result<Box<Response>, Broken> {
    let ended = flow(&mut live, side).await;
    live.reading.meter.note();
    let Live { reading, mut visit, admitted, line, quality } = *live;
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

async fn flow(live: &mut Live<'_>, side: &Side) -> Result<(), Failure> {
    let Live { reading, visit, admitted, .. } = live;
    // When the clock was last looked at, which is not done for what is there already.
    let mut now = Instant::now();
    while let Some(event) = reading.held.pop_front() {
        now = reading.emit(side, event, now).await;
    }
    if reading.accepted {
        // An answer may be empty where the request says so.
        reading.announce(side, now).await;
        return Ok(());
    }
    let idle = side.settings.idle(&visit.slot.target);
    let mut idle_until = now + idle;
    loop {
        // What is there already needs no timer either. Giving up on `next` loses nothing: the stream keeps its place.
        let read = match reading.next().now_or_never() {
            Some(read) => read,
            None => {
                let read = in_time(reading, side, idle, idle_until).await?;
                now = Instant::now();
                read
            }
        };
        match read.map_err(interrupted)? {
            Read::Nothing => {}
            Read::Reasoning(_) if !side.settings.reasoning => {}
            Read::Reasoning(text) => {
                let event = StreamEvent::Reasoning(text);
                idle_until += emit_aside(reading, side, event, &mut now).await;
            }
            Read::Blanks(event) => idle_until += emit_aside(reading, side, event, &mut now).await,
            Read::Content(event) => {
                admitted.permit.renew();
                reading.meter.content(now, side.busy());
                now = reading.emit(side, event, now).await;
                idle_until = now + idle;
            }
            Read::Refused => return baseline(visit.cx.request, &reading.response),
            Read::Ended => {
                // The deadline ended with the search for a target; the answer has the time of the whole stream.
                let until = side.total_until();
                return judge(visit.cx, visit.slot, &reading.response, until).await.map(|_| ());
            }
        }
    }
}

/// Shows what is no content, and says for how long the consumer was busy with it.
async fn emit_aside(reading: &mut Reading, side: &Side, event: StreamEvent, now: &mut Instant) -> Duration {
    let since = std::mem::replace(now, reading.emit(side, event, *now).await);
    now.duration_since(since)
}

/// Waits for the next chunk as long as the timers allow.
async fn in_time(
    reading: &mut Reading,
    side: &Side,
    idle: Duration,
    idle_until: Instant,
) -> Result<Result<Read, ProviderError>, Failure> {
    let total_until = side.total_until();
    let read = timeout_at(idle_until.min(total_until), reading.next()).await;
    read.map_err(|_| {
        if total_until > idle_until {
            return stalled(idle).into();
        }
        let message = format!("not complete in {}", Human(side.settings.total));
        ProviderError::new(FailureKind::Timeout, message).with_stage(Stage::Total).into()
    })
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
