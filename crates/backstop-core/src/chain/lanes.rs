//! Hedging: when a target takes long, the next one is asked beside it, and the first valid answer wins.
//!
//! All of it runs inside the caller's future. The one that loses is dropped, which cancels its request; its line in
//! the report says so and keeps the tokens that were noted. At most two targets are asked at a time.
//!
//! - A hedge is load that nobody asked for: it takes a token of the retry budget of the provider that it goes to.
//! - A breaker's probe is one attempt. Nothing begins beside it, and no hedge becomes one.
//! - A failure that gives up does so for the call, but not for an attempt under way that may yet answer.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{
    context::Cx,
    hedge::Hedge,
    in_order::CallEnd,
    serve::{End, serve},
    slot::Slot,
    visit::Lane,
    walk::Walk,
};
use crate::{budget::RetryToken, report::Skip};

/// The visits of one call that run beside each other.
struct Lanes<'a, 'w> {
    cx: &'a Cx<'a>,
    hedge: &'a Hedge,
    running: FuturesUnordered<BoxFuture<'a, Ended<'a>>>,
    /// Positions that were not visited yet.
    waiting: VecDeque<usize>,
    /// When to begin another lane beside the newest, unless that one is a probe by then.
    next_at: Option<Instant>,
    newest_probes: Arc<AtomicBool>,
    walk: &'w mut Walk,
}

/// A lane that has ended.
struct Ended<'a> {
    position: usize,
    end: End<'a>,
    walk: Walk,
    /// The declines that it began with.
    declines: u32,
}

pub(crate) async fn hedged<'a>(cx: &'a Cx<'a>, walk: &mut Walk, hedge: &'a Hedge) -> CallEnd<'a> {
    let mut lanes = Lanes {
        cx,
        hedge,
        running: FuturesUnordered::new(),
        waiting: cx.order.positions().collect(),
        next_at: None,
        newest_probes: Arc::default(),
        walk,
    };
    let (mut last, mut gave_up) = (None, None);
    loop {
        if lanes.running.is_empty() {
            match gave_up {
                Some(failure) => return CallEnd::GaveUp(failure),
                None if !lanes.begin_next() => return CallEnd::NothingLeft { last },
                None => {}
            }
        }
        let Some(ended) = lanes.wait(gave_up.is_none()).await else { continue };
        lanes.walk.join(&ended.walk, ended.declines);
        match ended.end {
            End::Served(got) => {
                // The losers' lines are closed before the report is.
                drop(lanes);
                return CallEnd::Served { position: ended.position, got };
            }
            End::GiveUp(failure) => gave_up = gave_up.or(Some(failure)),
            End::Next(failure) => last = failure.or(last),
        }
    }
}

impl<'a> Lanes<'a, '_> {
    /// The next lane that ends; none if another one was begun or tried to begin meanwhile.
    async fn wait(&mut self, may_begin: bool) -> Option<Ended<'a>> {
        let single = self.running.len() == 1;
        match self.next_at.filter(|_| may_begin && single && !self.waiting.is_empty()) {
            None => self.running.next().await,
            Some(at) => match timeout_at(at, self.running.next()).await {
                Ok(ended) => ended,
                Err(_) => {
                    self.next_at = None;
                    if !self.newest_probes.load(Ordering::Relaxed) {
                        self.begin_hedge();
                    }
                    None
                }
            },
        }
    }

    /// Begins with the next target that may be considered. False if there is none.
    fn begin_next(&mut self) -> bool {
        while let Some(position) = self.waiting.pop_front() {
            let Some(slot) = self.cx.slot(position) else { continue };
            match self.walk.passes_over(self.cx, position, slot) {
                Some(reason) => self.cx.skip(slot, reason),
                None => {
                    self.begin(position, slot, None);
                    return true;
                }
            }
        }
        false
    }

    /// Begins with the first target that is healthy, beside the one that is slow, if its budget pays for that.
    fn begin_hedge(&mut self) {
        let (cx, walk) = (self.cx, &*self.walk);
        let found = self.waiting.iter().enumerate().find_map(|(place, position)| {
            let slot = cx.slot(*position)?;
            let now = slot.now();
            let member = slot.members.iter().find(|member| member.is_healthy(now))?;
            let passed_over = walk.passes_over(cx, *position, slot).is_some();
            (!passed_over).then_some((place, *position, slot, member))
        });
        let Some((place, position, slot, member)) = found else { return };
        match member.budget.withdraw() {
            Some(token) => {
                self.waiting.remove(place);
                self.begin(position, slot, Some(token));
            }
            None => cx.skip(slot, Skip::HedgeNotPaid),
        }
    }

    fn begin(&mut self, position: usize, slot: &'a Slot, hedge: Option<RetryToken>) {
        let (cx, probing) = (self.cx, Arc::new(AtomicBool::new(false)));
        self.next_at = Instant::now().checked_add(self.hedge.delay(slot, cx.task()));
        self.newest_probes = Arc::clone(&probing);
        let (declines, mut walk) = (self.walk.declines, self.walk.fork());
        self.running.push(Box::pin(async move {
            let lane = Lane { hedge, probing: Some(probing) };
            let end = serve(cx, &mut walk, position, slot, lane).await;
            Ended { position, end, walk, declines }
        }));
    }
}
