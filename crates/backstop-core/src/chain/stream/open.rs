//! An attempt at a stream, up to the point where its beginning may be shown.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{
    mailbox::Side,
    meter::Meter,
    pump::stalled,
    reading::{Read, Reading},
};
use crate::{
    attempt::{Attempt, Overlay, Progress},
    chain::{
        admit::Admitted,
        context::Cx,
        send::{Failed, judge, lowered},
        slot::Slot,
        visit::Allowance,
    },
    check::baseline,
    error::{Failure, FailureKind, ProviderError, Stage},
    human::Human,
    policy::Shown,
    request::Request,
};

/// Opens a stream and reads its head. Whatever fails here was not seen by anybody.
pub(crate) async fn open(
    cx: &Cx<'_>,
    side: &Side,
    slot: &Slot,
    admitted: &Admitted<'_>,
    (request, number, overlay): (&Request, u32, &Overlay),
    allowance: &Allowance,
    progress: Progress,
) -> Result<Box<Reading>, Failed> {
    let wait = Wait::new(side.settings.first_content, slot.target.first_content, allowance);
    let until = allowance.from + wait.allowed;
    let attempt = Attempt {
        model: &slot.target.model,
        request,
        overlay,
        number,
        call_id: cx.call_id,
        deadline: Some(until),
        progress,
    };
    let chunks = match timeout_at(until, admitted.member.provider.stream(&attempt)).await {
        Ok(Ok(chunks)) => chunks,
        Ok(Err(error)) => return Err(wait.failed(error.into())),
        Err(_) => return Err(wait.ended(attempt.progress.stage(), allowance)),
    };
    attempt.progress.enter(Stage::FirstContent);
    let meter = Meter::new(&attempt, allowance.from);
    let mut reading = Box::new(Reading::new(chunks, meter, slot.id.clone(), cx.beginning));
    reading.response.notes.extend(lowered(&attempt));
    match head(&mut reading, cx, side, slot, (admitted, allowance, until)).await {
        Ok(()) => Ok(reading),
        Err(failure) => {
            reading.response.usage = reading.meter.usage();
            let failed = match failure {
                Some(failure) => wait.failed(failure),
                None => wait.ended(Stage::FirstContent, allowance),
            };
            let hasty = failed.hasty || side.settings.is_hasty(&failed.failure, &slot.target);
            let response = Some(std::mem::take(&mut reading.response));
            Err(Failed { response, hasty, took: reading.meter.first_content(), ..failed })
        }
    }
}

/// For how long the first content is waited for.
struct Wait {
    allowed: Duration,
    /// What the target's own settings say.
    timeout: Duration,
    /// The caller wants it sooner than the target has to give it.
    hasty: bool,
}

impl Wait {
    fn new(callers: Option<Duration>, targets: Option<Duration>, allowance: &Allowance) -> Self {
        let targets = targets.unwrap_or(Duration::MAX);
        let theirs = allowance.allowed.min(targets);
        let allowed = callers.map_or(theirs, |own| own.min(theirs));
        Self { allowed, timeout: allowance.timeout.min(targets), hasty: allowed < theirs }
    }

    /// An attempt that failed by itself.
    fn failed(&self, failure: Failure) -> Failed {
        let (allowed, timeout) = (self.timeout, self.timeout);
        Failed { failure, response: None, allowed, timeout, hasty: false, took: None, shown: Shown::Nothing }
    }

    /// An attempt that was waited for long enough.
    fn ended(&self, stage: Stage, allowance: &Allowance) -> Failed {
        let error = if self.allowed < allowance.allowed {
            let message = format!("no content in {}", Human(self.allowed));
            ProviderError::new(FailureKind::Timeout, message).with_stage(stage)
        } else {
            allowance.timed_out("content", stage)
        };
        let failed = self.failed(error.into());
        Failed { allowed: self.allowed, hasty: self.hasty, ..failed }
    }
}

/// Reads until the beginning of the answer may be shown. `None` if there was no content in time.
async fn head(
    reading: &mut Reading,
    cx: &Cx<'_>,
    side: &Side,
    slot: &Slot,
    (admitted, allowance, mut until): (&Admitted<'_>, &Allowance, Instant),
) -> Result<(), Option<Failure>> {
    let (mut has_content, mut held) = (false, true);
    let mut scan = side.settings.head.scan();
    loop {
        let read = match timeout_at(until, reading.next()).await {
            Ok(read) => read.map_err(|error| Some(error.into()))?,
            Err(_) if has_content && held => {
                return Err(Some(held_too_long(cx, allowance, side.settings.idle(&slot.target)).into()));
            }
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
            Read::Blanks(event) => reading.held.push_back(event),
            Read::Content(event) => {
                let now = Instant::now();
                admitted.permit.renew();
                reading.meter.content(now, side.busy());
                has_content = true;
                // What goes on was shown up to here.
                let may_show = reading.continues || side.settings.hold.ends_with(&event);
                reading.held.push_back(event);
                if held && !may_show {
                    until = (now + side.settings.idle(&slot.target)).min(allowance.latest);
                    continue;
                }
                if std::mem::replace(&mut held, false) {
                    until = now + side.settings.head.wait;
                }
                let calls_a_tool = !reading.response.tool_calls.is_empty();
                if reading.continues || calls_a_tool || scan.is_complete(&reading.response.text) {
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
        let judged = check.check_head(&reading.response.text);
        judged.map_err(|rejection| Some(rejection.with_check(check.name()).into()))?;
    }
    Ok(())
}

/// An answer that is held back came to a halt, or was not complete when its time was over.
fn held_too_long(cx: &Cx<'_>, allowance: &Allowance, idle: Duration) -> ProviderError {
    if Instant::now() < allowance.latest {
        return stalled(idle);
    }
    let message = if allowance.latest < cx.deadline {
        "the answer was held back and not complete in its time; the rest is for the next targets"
    } else {
        "the answer was held back and not complete at the deadline"
    };
    ProviderError::new(FailureKind::Timeout, message).with_stage(Stage::Total)
}
