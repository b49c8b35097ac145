//! One attempt: the request goes out, and the answer is judged.

use std::{borrow::Cow, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::{
    context::{Ask, Cx},
    member::Member,
    slot::Slot,
    visit::Allowance,
};
use crate::{
    attempt::{Attempt, Overlay, Progress},
    check::baseline,
    error::{Failure, Rejection},
    policy::Shown,
    report::{Ledger, LimitedBy},
    request::Request,
    response::Response,
    validator::{Candidate, Change, Changes},
};

/// An attempt that failed, hard or soft.
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    /// The answer that may not be used.
    pub(crate) response: Option<Response>,
    /// How long it was given.
    pub(crate) allowed: Duration,
    /// What the target's own setting says.
    pub(crate) timeout: Duration,
    /// What ended it is a limit of the caller's that is tighter than the target's own.
    pub(crate) hasty: bool,
    /// How long the provider took, if the attempt went on after that.
    pub(crate) took: Option<Duration>,
    /// What the caller has seen of it.
    pub(crate) shown: Shown,
}

/// An answer that was accepted.
pub(crate) struct Answered {
    pub(crate) response: Response,
    /// What was mended in it.
    pub(crate) changes: Vec<Change>,
    /// How long the provider took, without the judging.
    pub(crate) took: Duration,
}

pub(crate) async fn send(
    cx: &Cx<'_>,
    slot: &Slot,
    member: &Member,
    (request, number, overlay): (&Request, u32, &Overlay),
    allowance: &Allowance,
    progress: Progress,
) -> Result<Answered, Failed> {
    let failed = |failure| Failed {
        failure,
        response: None,
        allowed: allowance.allowed,
        timeout: allowance.timeout,
        hasty: false,
        took: None,
        shown: Shown::Nothing,
    };
    let attempt = Attempt {
        model: &slot.target.model,
        request,
        overlay,
        number,
        call_id: cx.call_id,
        deadline: Some(allowance.until),
        progress,
    };
    let response = match timeout_at(allowance.until, member.provider.complete(&attempt)).await {
        Ok(Ok(mut response)) => {
            response.notes.extend(lowered(&attempt));
            response
        }
        // A timeout that the provider reports is its own: it had all the time that it wants.
        Ok(Err(error)) => return Err(Failed { allowed: allowance.timeout, ..failed(error.into()) }),
        Err(_) => {
            if matches!(allowance.limited_by, LimitedBy::Timeout | LimitedBy::AdaptiveTimeout) {
                slot.took(cx.task(), allowance.from.elapsed());
            }
            return Err(failed(allowance.timed_out("complete answer", attempt.progress.stage()).into()));
        }
    };
    let took = allowance.from.elapsed();
    slot.took(cx.task(), took);
    match judge(cx, slot, &response, cx.deadline).await {
        Ok(changes) => Ok(Answered { response, changes, took }),
        Err(failure) => Err(Failed { response: Some(response), took: Some(took), ..failed(failure) }),
    }
}

/// Says in the report that less was asked for than the caller wanted.
pub(crate) fn lowered(attempt: &Attempt<'_>) -> Option<Cow<'static, str>> {
    let (sent, asked) = (attempt.max_tokens()?, attempt.request.max_tokens?);
    (sent < asked).then(|| {
        Cow::Owned(format!("`max_tokens` was lowered from {asked} to {sent}, the most that the model writes"))
    })
}

/// The vendor's signals first, then the chain's checks, then the caller's validator.
pub(crate) async fn judge(
    cx: &Cx<'_>,
    slot: &Slot,
    response: &Response,
    until: Instant,
) -> Result<Vec<Change>, Failure> {
    baseline(cx.request, response)?;
    let changes = Changes::default();
    let _spending = Spending { ledger: &cx.ledger, changes: &changes };
    let candidate = Candidate::new(response, cx.request).with_target(&slot.id).with_changes(&changes);
    let judged = timeout_at(until, async {
        for check in &cx.chain.checks {
            check.check(candidate).await.map_err(|rejection| rejection.with_check(check.name()))?;
        }
        match cx.ask {
            Ask::Whole(judge) => judge.judge(candidate).await,
            Ask::Stream(side) => match &side.judge {
                Some(judge) => judge.judge(candidate).await,
                None => Ok(()),
            },
        }
    });
    match judged.await {
        Ok(Ok(())) => Ok(changes.take()),
        Ok(Err(rejection)) => Err(rejection.into()),
        Err(_) => Err(Rejection::new("the validator ran past the deadline").into()),
    }
}

/// Leaves in the report what judging took, however it ends.
struct Spending<'a> {
    ledger: &'a Ledger,
    changes: &'a Changes,
}

impl Drop for Spending<'_> {
    fn drop(&mut self) {
        self.ledger.spent(self.changes.spent());
    }
}
