//! One visit to one target: attempts until one is accepted, or until the decision says to go on or to stop.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};
use tracing::Instrument;

use super::{
    admit::Admitted,
    conclude::conclude,
    engine::{Ask, Cx},
    order::Walk,
    plan,
    send::{Allowance, send},
    slot::{Choice, Slot},
    stream::{Live, Reading, open},
    tries::Tries,
};
use crate::{
    attempt::Progress,
    breaker::Outcome,
    budget::RetryToken,
    error::{Failure, FailureKind},
    policy::Disposition,
    quality::QualityPermit,
    report::{AttemptLine, LimitedBy, Opening, Skip},
    request::Request,
    response::Response,
    validator::Change,
};

/// What a target gave.
pub(crate) enum Got<'a> {
    /// An accepted answer, and what was mended in it.
    Whole(Box<Response>, Vec<Change>),
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

/// What a visit is to the other visits of its call.
#[derive(Default)]
pub(crate) struct Lane {
    /// Pays for a visit that begins beside another.
    pub(crate) hedge: Option<RetryToken>,
    /// Where to say that the attempt under way is a probe, which nothing may begin beside.
    pub(crate) probing: Option<Arc<AtomicBool>>,
}

/// One visit to one target.
pub(crate) struct Visit<'a> {
    pub(crate) cx: &'a Cx<'a>,
    pub(crate) slot: &'a Slot,
    pub(crate) position: usize,
    began: Instant,
    /// How much of it is kept for the targets to come, once that mattered.
    kept: Option<Duration>,
    /// How long it has waited for gates.
    at_gates: Duration,
    pub(crate) tries: Tries,
    pub(crate) choice: Choice,
    hedge: bool,
    probing: Option<Arc<AtomicBool>>,
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

/// A visit has ended without an answer.
pub(crate) fn settle(quality: QualityPermit, failure: Option<&Failure>) {
    let kind = failure.map(Failure::kind);
    // What the caller left out says nothing about the target.
    if kind.is_some_and(|kind| kind.is_soft() && kind != FailureKind::NeedsInput) {
        quality.settle(false);
    }
}

impl<'a> Visit<'a> {
    fn new(cx: &'a Cx<'a>, position: usize, slot: &'a Slot, lane: Lane) -> Self {
        let hedge = lane.hedge.is_some();
        let mut tries = Tries::new(lane.hedge, cx.beginning);
        tries.overlay.max_tokens = slot.lowered(cx.request_for(position));
        slot.learnt.apply(cx.request_for(position), || slot.now(), &mut tries.overlay, &mut tries.remedies);
        let began = Instant::now();
        Self {
            cx,
            slot,
            position,
            began,
            kept: None,
            at_gates: Duration::ZERO,
            tries,
            choice: Choice::default(),
            hedge,
            probing: lane.probing,
        }
    }

    /// The request as this target gets it.
    pub(crate) fn request(&self) -> &'a Request {
        self.cx.request_for(self.position)
    }

    /// An answer from another target than the first cost what was in a cache there, if the prompt was to be.
    pub(crate) fn note_lost_cache(&self, response: &mut Response) {
        response.notes.extend(self.cx.lost_cache(self.position, response).map(Cow::Owned));
    }

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
                    let live =
                        Live { visit: self, reading: *reading, admitted: *admitted, line, quality: None };
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

    /// Everything before a request is sent.
    async fn prepare(&mut self, walk: &mut Walk) -> Result<(Admitted<'a>, Allowance), Skip> {
        let mut allowance = self.allowance(walk);
        if allowance.allowed.is_zero() {
            return Err(Skip::Deadline);
        }
        let admitted = loop {
            match self.admit(allowance.latest).await {
                Err(Skip::GateClosed { retry_in })
                    if self.wait_at_gate(walk, retry_in, allowance.latest).await => {}
                admitted => break admitted?,
            }
        };
        if self.hedge && self.tries.number == 0 && admitted.permit.is_probe() {
            return Err(Skip::BreakerOpen { retry_in: None });
        }
        if admitted.waited || !self.at_gates.is_zero() {
            allowance = self.allowance(walk);
        }
        if allowance.allowed.is_zero() { Err(Skip::Deadline) } else { Ok((admitted, allowance)) }
    }

    async fn attempt(&mut self, walk: &mut Walk, admitted: Admitted<'a>, allowance: Allowance) -> Tried<'a> {
        let (cx, slot) = (self.cx, self.slot);
        walk.asks(slot);
        self.tries.begin();
        if let Some(probing) = &self.probing {
            probing.store(admitted.permit.is_probe(), Ordering::Relaxed);
        }
        let progress = Progress::default();
        let line = cx.ledger.open(Opening {
            target: &slot.id,
            member: admitted.number,
            number: self.tries.number,
            hedge: self.hedge,
            continued: self.tries.continues,
            wait: std::mem::take(&mut self.tries.wait),
            allowed: allowance.allowed,
            limited_by: allowance.limited_by,
            remedies: &self.tries.remedies,
            progress: progress.clone(),
        });
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
                let opened = Box::pin(open(cx, side, slot, admitted.member, asks, &allowance, progress));
                match opened.instrument(span).await {
                    Ok(reading) => {
                        self.learn();
                        return Tried::Live(reading, Box::new(admitted), line);
                    }
                    Err(failed) => Err(failed),
                }
            }
        };
        match tried {
            Ok((mut response, changes)) => {
                self.learn();
                self.note_lost_cache(&mut response);
                admitted.usage(slot, response.usage);
                admitted.permit.settle(Outcome::Success);
                line.served(&response);
                Tried::Served(Box::new(response), changes)
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

    /// An answer came, whatever it is good for: what was changed about the request was the right change.
    fn learn(&self) {
        if !self.tries.remedies.is_empty() {
            self.slot.learnt.answered(self.request(), self.slot.now(), &self.tries.overlay);
        }
    }

    /// How long an attempt that begins now may take.
    fn allowance(&mut self, walk: &Walk) -> Allowance {
        let from = Instant::now();
        let (timeout, by) = self.slot.timeout(self.cx.task());
        let latest = if self.tries.number == 0 && self.has_plenty(timeout, from) {
            self.cx.deadline
        } else {
            let kept = self.kept(walk);
            self.cx.deadline.checked_sub(kept).unwrap_or(self.cx.deadline)
        };
        let left = latest.saturating_duration_since(from);
        let (allowed, limited_by) = if timeout <= left {
            (timeout, by)
        } else if latest < self.cx.deadline {
            (left, LimitedBy::TargetsToCome)
        } else {
            (left, LimitedBy::Deadline)
        };
        Allowance { from, until: from + allowed, latest, allowed, limited_by, timeout }
    }

    /// Whether the first attempt fits in even if every target to come is to be asked, which need not be known then.
    fn has_plenty(&self, timeout: Duration, now: Instant) -> bool {
        let (cx, after) = (self.cx, self.position + 1);
        let all = cx.order.positions().skip(after).filter_map(|position| cx.slot(position));
        let left = cx.deadline.saturating_duration_since(now);
        let kept = plan::kept(left, cx.chain.kept_share, all.map(|slot| slot.target.timeout));
        timeout <= left.saturating_sub(kept)
    }

    /// How much time is kept for the targets to come that could be asked. Settled once for a visit: a share of what
    /// is left after each attempt would leave less and less.
    pub(crate) fn kept(&mut self, walk: &Walk) -> Duration {
        if let Some(kept) = self.kept {
            return kept;
        }
        let left = self.cx.deadline.saturating_duration_since(self.began);
        let kept = plan::kept(left, self.cx.chain.kept_share, self.following(walk));
        self.kept = Some(kept);
        kept
    }

    /// The timeouts of the targets to come that could be asked now.
    fn following(&self, walk: &Walk) -> impl Iterator<Item = Duration> {
        let cx = self.cx;
        cx.order.positions().skip(self.position + 1).filter_map(move |position| {
            let slot = cx.slot(position)?;
            let asked = walk.passes_over(cx, position, slot).is_none() && slot.admits(slot.now()).is_ok();
            asked.then_some(slot.target.timeout)
        })
    }

    /// Waits for a gate that opens soon, as long as a server's own wait would be waited, where no other target could
    /// serve meanwhile, or where this call has waited here before. Those who wait for the same gate go on a little
    /// apart. False if it is not to be waited for.
    async fn wait_at_gate(&mut self, walk: &mut Walk, opens_in: Duration, until: Instant) -> bool {
        let longest = self.cx.chain.max_retry_after.saturating_sub(self.at_gates);
        let wait = opens_in.mul_f64(1.0 + walk.rng.f64() * 0.1);
        let in_time = opens_in <= longest && Instant::now() + wait < until;
        if !in_time || self.tries.is_first() && self.following(walk).next().is_some() {
            return false;
        }
        self.at_gates += opens_in;
        sleep(wait).await;
        self.tries.wait += wait;
        true
    }
}

/// How an attempt ended.
enum Tried<'a> {
    Served(Box<Response>, Vec<Change>),
    Live(Box<Reading>, Box<Admitted<'a>>, AttemptLine),
    Failed(Failure, Disposition),
}
