//! What has to be had before a request may be sent: a place, room under the limits, a breaker's permit.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::{
    bulkhead::{Counted, Place},
    member::{Entry, Member, skip},
    slot::Slot,
    visit::{Allowance, Visit},
    walk::Walk,
};
use crate::{breaker::Permit, budget::InFlight, provider::CredentialId, report::Skip, response::Usage};

/// Leave to send one request. All of it is given back by being dropped.
pub(crate) struct Admitted<'a> {
    pub(crate) member: &'a Member,
    /// Where the member stands in its pool, from 1.
    pub(crate) number: Option<u32>,
    pub(crate) permit: Permit,
    /// What the member signs with.
    pub(crate) credential: CredentialId,
    /// Whether time has passed since it was asked for.
    pub(crate) waited: bool,
    queued: Queued,
    _counted: (Counted, Option<Counted>),
    _in_flight: InFlight,
}

/// What was waited for.
#[derive(Default)]
struct Queued {
    /// Held, never looked at.
    #[allow(dead_code)]
    place: Option<Place>,
    #[cfg(feature = "rate-limit")]
    charge: Option<crate::rate_limit::Charge>,
}

impl Admitted<'_> {
    /// The attempt is over and has taken this.
    pub(crate) fn usage(&self, slot: &Slot, usage: Option<Usage>) {
        let _ = (slot, usage, &self.queued);
        #[cfg(feature = "rate-limit")]
        if let Some(charge) = &self.queued.charge {
            slot.rates.settle(charge, usage);
        }
    }
}

impl<'a> Visit<'a> {
    /// Everything before a request is sent.
    pub(crate) async fn prepare(&mut self, walk: &mut Walk) -> Result<(Admitted<'a>, Allowance), Skip> {
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

    /// The permit comes last: taken before the queue, a probe would spend its lease in there. But the question comes
    /// first: an open circuit must not fill the queue.
    async fn admit(&mut self, until: Instant) -> Result<Admitted<'a>, Skip> {
        let slot = self.slot;
        let mut waited = slot.queues();
        let queued = if waited {
            slot.admits(slot.now())?;
            self.queue(until).await?
        } else {
            Queued::default()
        };
        let now = slot.now();
        let (member, entry) = slot.enter(now, &self.choice)?;
        let permit = match entry {
            Entry::Admitted(permit) => permit,
            Entry::Skip(reason) => return Err(reason),
            Entry::NeedsLease(request) => {
                waited = true;
                match timeout_at(until, request.ask()).await {
                    Ok(answer) => answer.map_err(skip)?,
                    Err(_) => return Err(Skip::Deadline),
                }
            }
        };
        let is_pool = slot.members.len() > 1;
        let position = if is_pool { slot.position(member) } else { None };
        Ok(Admitted {
            member,
            number: position.and_then(|position| u32::try_from(position + 1).ok()),
            permit,
            credential: member.provider.credential(),
            waited,
            queued,
            _counted: (slot.load.enter(), is_pool.then(|| member.load.enter())),
            _in_flight: member.budget.begin_at(self.tries.is_first(), now),
        })
    }

    /// Waits for a place and for room under the limits a minute, together as long as the target says.
    async fn queue(&mut self, until: Instant) -> Result<Queued, Skip> {
        let (slot, began) = (self.slot, Instant::now());
        let longest = slot.target.queue_wait.min(until.saturating_duration_since(began));
        let mut queued = Queued::default();
        if let Some(bulkhead) = &slot.bulkhead {
            let place = match bulkhead.try_enter() {
                Some(place) => Some(place),
                None => bulkhead.enter(longest).await,
            };
            let waited = began.elapsed();
            queued.place = Some(place.ok_or(Skip::BulkheadFull { waited })?);
        }
        #[cfg(feature = "rate-limit")]
        if !slot.rates.is_off() {
            let longest = longest.saturating_sub(began.elapsed());
            let taken = slot.rates.take(self.request(), &self.tries.overlay, longest).await;
            queued.charge = Some(taken.map_err(|retry_in| Skip::OwnRateLimit { retry_in })?);
        }
        Ok(queued)
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

impl Slot {
    /// Whether anything may have to be waited for.
    fn queues(&self) -> bool {
        #[cfg(feature = "rate-limit")]
        if !self.rates.is_off() {
            return true;
        }
        self.bulkhead.is_some()
    }
}
