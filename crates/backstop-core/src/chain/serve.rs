//! One visit to one target: attempts until one is accepted, or until the decision says to go on or to stop.

use std::sync::{Arc, atomic::Ordering};

use tokio::time::sleep;
use tracing::Instrument;

use super::{
    admit::Admitted,
    conclude::{conclude, settle},
    context::{Ask, Cx},
    send::{Answered, Failed, send},
    slot::Slot,
    stream::{Live, Reading, open},
    visit::{Allowance, Lane, Visit},
    walk::Walk,
};
use crate::{
    attempt::Progress,
    breaker::Outcome,
    error::Failure,
    policy::Disposition,
    report::{AttemptLine, Opening, Skip},
    response::Response,
    validator::Change,
};

/// What a target gave.
pub(crate) enum Got<'a> {
    /// An accepted answer, and what was mended in it.
    Whole(Arc<Response>, Vec<Change>),
    /// A stream whose beginning was accepted.
    Live(Box<Live<'a>>),
}

/// How a target ended.
pub(crate) enum End<'a> {
    Served(Got<'a>),
    /// On to the next target.
    Next(Option<Failure>),
    /// Back to the caller.
    GiveUp(Failure),
}

/// Visits a target, unless it is no good at the task.
pub(crate) async fn serve<'a>(
    cx: &'a Cx<'a>,
    walk: &mut Walk,
    position: usize,
    slot: &'a Slot,
    lane: Lane,
) -> End<'a> {
    let quality = match cx.chain.quality.admit(slot.id.as_str(), cx.task().unwrap_or_default()) {
        Ok(permit) => permit,
        Err(skip) => {
            cx.skip(slot, Skip::Quality { retry_in: skip.retry_in });
            return End::Next(None);
        }
    };
    let mut end = Visit::new(cx, position, slot, lane).run(walk).await;
    match &mut end {
        // How good it is shows at its end.
        End::Served(Got::Live(live)) => live.quality = Some(quality),
        End::Served(Got::Whole(..)) => quality.settle(true),
        End::Next(failure) => settle(quality, failure.as_ref()),
        End::GiveUp(failure) => settle(quality, Some(failure)),
    }
    end
}

impl<'a> Visit<'a> {
    async fn run(mut self, walk: &mut Walk) -> End<'a> {
        let mut last = None;
        loop {
            let (admitted, allowance) = match self.prepare(walk).await {
                Ok(prepared) => prepared,
                Err(reason) => {
                    self.cx.skip(self.slot, reason);
                    return End::Next(last);
                }
            };
            match self.attempt(walk, admitted, allowance).await {
                Tried::Served(response, changes) => return End::Served(Got::Whole(response, changes)),
                Tried::Live(reading, admitted, line) => {
                    let live = Live { visit: self, reading, admitted: *admitted, line, quality: None };
                    return End::Served(Got::Live(Box::new(live)));
                }
                Tried::Failed(failure, Disposition::GiveUp) => return End::GiveUp(failure),
                Tried::Failed(failure, Disposition::FailOver) => return End::Next(Some(failure)),
                Tried::Failed(failure, Disposition::Retry) => {
                    last = Some(failure);
                    if !self.tries.wait.is_zero() {
                        sleep(self.tries.wait).await;
                    }
                }
            }
        }
    }

    async fn attempt(&mut self, walk: &mut Walk, admitted: Admitted<'a>, allowance: Allowance) -> Tried<'a> {
        let (cx, slot) = (self.cx, self.slot);
        let progress = Progress::default();
        let line = self.begin(walk, &admitted, &allowance, &progress);
        let span = tracing::info_span!(
            target: "backstop", "attempt", target = %slot.id, number = self.tries.number
        );
        let asks = (self.request(), self.tries.number, &self.tries.overlay);
        let tried = match cx.ask {
            Ask::Whole(_) => {
                send(cx, slot, admitted.member, asks, &allowance, progress).instrument(span).await
            }
            Ask::Stream(side) => {
                // On the heap: calls for a whole answer need not carry it.
                let opened = Box::pin(open(cx, side, slot, &admitted, asks, &allowance, progress));
                match opened.instrument(span).await {
                    Ok(reading) => {
                        self.learn();
                        return Tried::Live(reading, Box::new(admitted), line);
                    }
                    Err(failed) => Err(failed),
                }
            }
        };
        self.end(walk, admitted, line, tried)
    }

    /// Opens the attempt's line in the report.
    fn begin(
        &mut self,
        walk: &mut Walk,
        admitted: &Admitted<'a>,
        allowance: &Allowance,
        progress: &Progress,
    ) -> AttemptLine {
        walk.asks(self.slot);
        self.tries.begin();
        if let Some(probing) = &self.probing {
            probing.store(admitted.permit.is_probe(), Ordering::Relaxed);
        }
        self.cx.ledger.open(Opening {
            target: &self.slot.id,
            member: admitted.number,
            number: self.tries.number,
            hedge: self.hedge,
            continued: self.tries.continues,
            from: allowance.from,
            wait: std::mem::take(&mut self.tries.wait),
            allowed: allowance.allowed,
            limited_by: allowance.limited_by,
            remedies: &self.tries.remedies,
            progress: progress.clone(),
        })
    }

    /// Closes the line, and tells breaker, limits and budget.
    fn end(
        &mut self,
        walk: &mut Walk,
        admitted: Admitted<'a>,
        line: AttemptLine,
        tried: Result<Answered, Failed>,
    ) -> Tried<'a> {
        let slot = self.slot;
        match tried {
            Ok(Answered { mut response, changes, took }) => {
                self.learn();
                self.note_lost_cache(&mut response);
                admitted.usage(slot, response.usage);
                admitted.permit.settle_timed(Outcome::Success, took, slot.now());
                line.served(&response);
                Tried::Served(Arc::new(response), changes)
            }
            Err(failed) => {
                if failed.response.is_some() {
                    self.learn();
                }
                let usage = failed.response.as_ref().and_then(|response| response.usage);
                admitted.usage(slot, usage);
                let disposition = conclude(self, walk, admitted, line, &failed);
                Tried::Failed(failed.failure, disposition)
            }
        }
    }
}

/// How an attempt ended.
enum Tried<'a> {
    Served(Arc<Response>, Vec<Change>),
    Live(Box<Reading>, Box<Admitted<'a>>, AttemptLine),
    Failed(Failure, Disposition),
}
