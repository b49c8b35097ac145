//! The right to make one attempt, and the duty to say how it went.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::config::nanos;
use super::machine::{Kind, Ticket};
use super::{Breaker, BreakerKey, Outcome};

/// One admitted attempt. It owns what it needs, so it can move into the stream or the task it guards.
///
/// Whoever has read the whole answer settles it. Dropping it instead, as happens when a call is cancelled or
/// panics, counts as nothing and frees a probe's place at once. A permit whose breaker has changed its state since
/// is stale: whatever it is settled with changes nothing.
///
/// ```
/// use backstop_core::breaker::{Breaker, BreakerKey, Outcome};
///
/// let breaker = Breaker::builder(BreakerKey::new("openai", "gpt-4o")).build();
/// let permit = breaker.try_acquire()?;
/// // … make the attempt …
/// permit.settle(Outcome::Success);
/// # Ok::<(), backstop_core::breaker::Rejected>(())
/// ```
#[must_use = "dropping a permit settles it as neutral at once"]
pub struct Permit {
    breaker: Arc<Breaker>,
    /// Taken when settled.
    ticket: Option<Ticket>,
    /// Nanoseconds since the breaker's origin, if slow calls are watched.
    started: Option<u64>,
}

impl Permit {
    pub(super) fn new(breaker: Arc<Breaker>, ticket: Ticket, started: Option<u64>) -> Self {
        Self { breaker, ticket: Some(ticket), started }
    }

    /// True if this attempt decides about a half-open circuit. It should be a single attempt: no retry at the same
    /// target, no hedge.
    pub fn is_probe(&self) -> bool {
        matches!(self.ticket, Some(Ticket { kind: Kind::Probe(_), .. }))
    }

    /// The breaker's key.
    pub fn key(&self) -> &BreakerKey {
        self.breaker.key()
    }

    /// Says how the attempt went.
    pub fn settle(self, outcome: Outcome) {
        let now = self.breaker.now();
        self.settle_at(outcome, now);
    }

    /// The same with a time that the caller has anyway. It is the time of the verdict, not of admission.
    pub fn settle_at(mut self, outcome: Outcome, now: Instant) {
        self.finish(outcome, now, None);
    }

    /// The same with a measured duration for the slow-call rate, such as the time to the first content of a
    /// stream. Otherwise the time since admission is taken.
    pub fn settle_timed(mut self, outcome: Outcome, took: Duration, now: Instant) {
        self.finish(outcome, now, Some(nanos(took)));
    }

    /// Tells the breaker that a probe is alive, which begins its lease anew. For long streams: call it for each
    /// piece of content. Does nothing for other permits.
    pub fn renew(&self) {
        if self.is_probe() {
            self.renew_at(self.breaker.now());
        }
    }

    /// The same with a time that the caller has anyway.
    pub fn renew_at(&self, now: Instant) {
        if let Some(ticket) = self.ticket.filter(|ticket| matches!(ticket.kind, Kind::Probe(_))) {
            self.breaker.renew(ticket, now);
        }
    }

    fn finish(&mut self, outcome: Outcome, now: Instant, took: Option<u64>) {
        if outcome == Outcome::Neutral {
            return; // Dropping does it.
        }
        if let Some(ticket) = self.ticket.take() {
            self.breaker.finish(ticket, outcome, now, took, self.started);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.breaker.release(ticket);
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("key", self.key()).field("ticket", &self.ticket).finish()
    }
}
