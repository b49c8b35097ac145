//! An attempt at a stream, up to the point where its beginning may be shown.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{
    mailbox::Side,
    meter::Meter,
    reading::{Read, Reading},
};
use crate::{
    attempt::{Attempt, Overlay, Progress},
    chain::{
        context::Cx,
        member::Member,
        send::{Failed, judge, lowered},
        slot::Slot,
        visit::Allowance,
    },
    check::baseline,
    error::{Failure, FailureKind, ProviderError, Stage},
    human::Human,
    policy::Shown,
    report::LimitedBy,
    request::Request,
};

/// Opens a stream and reads its head. Whatever fails here was not seen by anybody.
pub(crate) async fn open(
    cx: &Cx<'_>,
    side: &Side,
    slot: &Slot,
    member: &Member,
    (request, number, overlay): (&Request, u32, &Overlay),
    allowance: &Allowance,
    progress: Progress,
) -> Result<Box<Reading>, Failed> {
    let own = side.settings.first_content.unwrap_or(Duration::MAX);
    let allowed = allowance.allowed.min(own);
    let until = allowance.from + allowed;
    let failed = |failure, response| Failed {
        failure,
        response,
        allowed,
        timeout: allowance.timeout.min(own),
        shown: Shown::Nothing,
    };
    let attempt = Attempt {
        model: &slot.target.model,
        request,
        overlay,
        number,
        call_id: cx.call_id,
        deadline: Some(until),
        progress,
    };
    let chunks = match timeout_at(until, member.provider.stream(&attempt)).await {
        Ok(Ok(chunks)) => chunks,
        Ok(Err(error)) => return Err(failed(error.into(), None)),
        Err(_) => return Err(failed(timed_out(attempt.progress.stage(), allowed, allowance).into(), None)),
    };
    attempt.progress.enter(Stage::FirstContent);
    let meter = Meter::new(&attempt, allowance.from);
    let mut reading = Box::new(Reading::new(chunks, meter, slot.id.clone(), cx.beginning));
    reading.response.notes.extend(lowered(&attempt));
    match head(&mut reading, cx, side, slot, until).await {
        Ok(()) => Ok(reading),
        Err(failure) => {
            reading.response.usage = reading.meter.usage();
            let failure =
                failure.unwrap_or_else(|| timed_out(Stage::FirstContent, allowed, allowance).into());
            Err(failed(failure, Some(std::mem::take(&mut reading.response))))
        }
    }
}

/// Reads until the beginning of the answer may be shown. `None` if there was no content in time.
async fn head(
    reading: &mut Reading,
    cx: &Cx<'_>,
    side: &Side,
    slot: &Slot,
    mut until: Instant,
) -> Result<(), Option<Failure>> {
    let mut has_content = false;
    loop {
        let read = match timeout_at(until, reading.next()).await {
            Ok(read) => read.map_err(|error| Some(error.into()))?,
            Err(_) if has_content => break,
            Err(_) => return Err(None),
        };
        match read {
            Read::Nothing => {}
            Read::Reasoning(_) if !side.settings.reasoning => {}
            Read::Reasoning(text) => {
                let now = Instant::now();
                let event = super::StreamEvent::Reasoning(text);
                if has_content {
                    reading.held.push_back(event);
                } else {
                    let asked = reading.emit(side, event, now).await;
                    until += asked.duration_since(now);
                }
            }
            Read::Content(event) => {
                let now = Instant::now();
                reading.meter.content(now, side.busy());
                reading.held.push_back(event);
                if !std::mem::replace(&mut has_content, true) {
                    until = now + side.settings.head.wait;
                }
                let calls_a_tool = !reading.response.tool_calls.is_empty();
                if reading.continues || calls_a_tool || side.settings.head.is_complete(&reading.response.text)
                {
                    break;
                }
            }
            Read::Refused => return Err(baseline(cx.request, &reading.response).err()),
            Read::Ended => {
                judge(cx, slot, &reading.response, cx.deadline.max(until)).await.map_err(Some)?;
                reading.accepted = true;
                return Ok(());
            }
        }
    }
    if side.settings.head.chars == 0 || reading.continues {
        return Ok(());
    }
    for check in &cx.chain.checks {
        check.check_head(&reading.response.text).map_err(|rejection| Some(rejection.into()))?;
    }
    Ok(())
}

fn timed_out(stage: Stage, allowed: Duration, allowance: &Allowance) -> ProviderError {
    let shown = Human(allowed);
    let message = match allowance.limited_by {
        _ if allowed < allowance.allowed => format!("no content in {shown}"),
        LimitedBy::Timeout => format!("no content in {shown}"),
        LimitedBy::AdaptiveTimeout => {
            format!("no content in {shown}, long for what the target takes lately")
        }
        LimitedBy::Deadline => format!("no content in the {shown} that the deadline left"),
        LimitedBy::TargetsToCome => {
            format!("no content in {shown}; the rest is for the next targets")
        }
    };
    ProviderError::new(FailureKind::Timeout, message).with_stage(stage)
}
