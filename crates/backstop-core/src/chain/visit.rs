//! One visit to one target: what it knows, and how much time it has.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    context::Cx,
    plan,
    slot::{Choice, Slot},
    tries::Tries,
    walk::Walk,
};
use crate::{
    budget::RetryToken,
    error::{FailureKind, ProviderError, Stage},
    human::Human,
    report::LimitedBy,
    request::Request,
    response::Response,
};

/// What a call itself takes before its first request. A deadline that leaves so much less than the timeout does not
/// limit it: by default a chain of one target has its timeout for a deadline.
const GRAIN: Duration = Duration::from_millis(10);

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
    /// When its time was first asked for.
    began: Option<Instant>,
    /// How much of it is kept for the targets to come, once that mattered.
    kept: Option<Duration>,
    /// How long it has waited for gates.
    pub(crate) at_gates: Duration,
    pub(crate) tries: Tries,
    pub(crate) choice: Choice,
    /// It begins beside another.
    pub(crate) hedge: bool,
    pub(crate) probing: Option<Arc<AtomicBool>>,
}

/// How long an attempt may take.
pub(crate) struct Allowance {
    /// When the attempt begins.
    pub(crate) from: Instant,
    /// When its time is over.
    pub(crate) until: Instant,
    /// When the time of its target is over.
    pub(crate) latest: Instant,
    pub(crate) allowed: Duration,
    pub(crate) limited_by: LimitedBy,
    /// What the target's own setting says.
    pub(crate) timeout: Duration,
}

impl Allowance {
    /// The failure of an attempt that did not give `what` in its time, and what limited that.
    pub(crate) fn timed_out(&self, what: &str, stage: Stage) -> ProviderError {
        let allowed = Human(self.allowed);
        let message = match self.limited_by {
            LimitedBy::Timeout => format!("no {what} in {allowed}"),
            LimitedBy::AdaptiveTimeout => {
                format!("no {what} in {allowed}, long for what the target takes lately")
            }
            LimitedBy::Deadline => format!("no {what} in the {allowed} that the deadline left"),
            LimitedBy::TargetsToCome => format!("no {what} in {allowed}; the rest is for the next targets"),
        };
        ProviderError::new(FailureKind::Timeout, message).with_stage(stage)
    }
}

impl<'a> Visit<'a> {
    pub(crate) fn new(cx: &'a Cx<'a>, position: usize, slot: &'a Slot, lane: Lane) -> Self {
        let hedge = lane.hedge.is_some();
        let mut tries = Tries::new(lane.hedge, cx.beginning);
        tries.overlay.max_tokens = slot.lowered(cx.request_for(position));
        slot.learnt.apply(cx.request_for(position), || slot.now(), &mut tries.overlay, &mut tries.remedies);
        Self {
            cx,
            slot,
            position,
            began: None,
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

    /// An answer came, whatever it is good for: what was changed about the request was the right change.
    pub(crate) fn learn(&self) {
        if !self.tries.remedies.is_empty() {
            self.slot.learnt.answered(self.request(), self.slot.now(), &self.tries.overlay);
        }
    }

    /// How long an attempt that begins now may take.
    pub(crate) fn allowance(&mut self, walk: &Walk) -> Allowance {
        let from = Instant::now();
        self.began.get_or_insert(from);
        let (timeout, by) = self.slot.timeout(self.cx.task());
        let fits = self.tries.number == 0 && !self.cx.ask.holds() && self.has_plenty(timeout, from);
        let latest = if fits {
            self.cx.deadline
        } else {
            let kept = self.kept(walk);
            self.cx.deadline.checked_sub(kept).unwrap_or(self.cx.deadline)
        };
        let left = latest.saturating_duration_since(from);
        let (allowed, limited_by) = if timeout <= left + GRAIN {
            (timeout.min(left), by)
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
        let began = *self.began.get_or_insert_with(Instant::now);
        let left = self.cx.deadline.saturating_duration_since(began);
        let kept = plan::kept(left, self.cx.chain.kept_share, self.following(walk));
        self.kept = Some(kept);
        kept
    }

    /// The timeouts of the targets to come that could be asked now.
    pub(crate) fn following(&self, walk: &Walk) -> impl Iterator<Item = Duration> {
        let cx = self.cx;
        cx.order.positions().skip(self.position + 1).filter_map(move |position| {
            let slot = cx.slot(position)?;
            let asked = walk.passes_over(cx, position, slot).is_none() && slot.admits(slot.now()).is_ok();
            asked.then_some(slot.target.timeout)
        })
    }
}
