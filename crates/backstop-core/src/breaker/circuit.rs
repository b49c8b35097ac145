//! The breaker that calls go through: the machine behind a lock, its mirror in front of it, a clock and listeners.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::config::{Limits, lease_for, nanos};
use super::listeners::Listeners;
use super::machine::{Kind, Machine, Notice, Step, Ticket};
use super::mirror::{Glance, Mirror};
use super::shared::{LeaseToken, Standing};
use super::sync::{AtomicU64, Mutex, Ordering, lock};
use super::{
    Admission, BreakerConfig, BreakerKey, LeaseRequest, Outcome, Permit, Reason, RejectReason, Rejected,
    SharedState, Snapshot, State, Subscription, Transition, WindowCounts,
};
use crate::clock::{Clock, SystemClock};

/// After another process saw the provider recover, all others probe within this time, not at the same moment.
const SHARED_CLOSE_SPREAD: Duration = Duration::from_secs(1);

/// A circuit breaker: see the [module](super) for its rules.
pub struct Breaker {
    mirror: Mirror,
    core: Mutex<Core>,
    rejected: AtomicU64,
    key: BreakerKey,
    config: BreakerConfig,
    limits: Limits,
    clock: Arc<dyn Clock>,
    /// All times are counted from here.
    origin: Instant,
    /// Its own, and those it shares with the breakers of its registry.
    listeners: [Listeners; 2],
    shared: Option<Arc<dyn SharedState>>,
}

struct Core {
    machine: Machine,
    /// Somebody is telling the listeners; what comes up meanwhile is theirs to tell, which keeps the order.
    telling: bool,
}

/// Builds a [`Breaker`].
#[must_use]
pub struct BreakerBuilder {
    key: BreakerKey,
    config: BreakerConfig,
    clock: Arc<dyn Clock>,
    seed: Option<u64>,
    listeners: Listeners,
    shared: Option<Arc<dyn SharedState>>,
}

impl BreakerBuilder {
    /// The settings. Default [`BreakerConfig::default`].
    pub fn config(mut self, config: BreakerConfig) -> Self {
        self.config = config;
        self
    }

    /// The clock. Default [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Makes the jitter repeatable. By default it is seeded from the operating system's randomness.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Shares "open until" and "who probes" with other processes.
    pub fn shared_state(mut self, shared: Arc<dyn SharedState>) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Listeners that the breaker has in common with others.
    pub(crate) fn listeners(mut self, listeners: Listeners) -> Self {
        self.listeners = listeners;
        self
    }

    /// The breaker, closed.
    pub fn build(self) -> Arc<Breaker> {
        let limits = self.config.limits();
        let random = self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let origin = self.clock.now();
        let breaker = Arc::new(Breaker {
            mirror: Mirror::new(Machine::FIRST_EPOCH),
            core: Mutex::new(Core { machine: Machine::new(limits.clone(), random), telling: false }),
            rejected: AtomicU64::new(0),
            key: self.key,
            config: self.config,
            limits,
            clock: self.clock,
            origin,
            listeners: [Listeners::default(), self.listeners],
            shared: self.shared,
        });
        breaker.tell_shared(|shared| shared.attached(&breaker));
        breaker
    }
}

impl fmt::Debug for BreakerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerBuilder").field("key", &self.key).field("config", &self.config).finish()
    }
}

/// # Admission
impl Breaker {
    /// Starts building a breaker with the default settings.
    pub fn builder(key: BreakerKey) -> BreakerBuilder {
        BreakerBuilder {
            key,
            config: BreakerConfig::default(),
            clock: Arc::new(SystemClock),
            seed: None,
            listeners: Listeners::default(),
            shared: None,
        }
    }

    /// Asks to make one attempt. There is no separate question that only looks: an answer without a permit would
    /// be out of date at once. With shared state, a due probe is made without asking the store; see
    /// [`acquire`](Self::acquire).
    ///
    /// # Errors
    /// [`Rejected`] if the circuit is open, or half-open with all probes under way.
    #[inline]
    pub fn try_acquire(self: &Arc<Self>) -> Result<Permit, Rejected> {
        // A closed circuit needs the time only to find slow calls.
        if self.limits.slow.is_some() {
            return self.try_acquire_at(self.clock.now());
        }
        self.try_acquire_with(|| self.ticks(self.clock.now()), None)
    }

    /// The same with a time that the caller has anyway.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire).
    #[inline]
    pub fn try_acquire_at(self: &Arc<Self>, now: Instant) -> Result<Permit, Rejected> {
        let now = self.ticks(now);
        self.try_acquire_with(|| now, self.limits.slow.map(|_| now))
    }

    #[inline]
    fn try_acquire_with(
        self: &Arc<Self>,
        now: impl Fn() -> u64,
        started: Option<u64>,
    ) -> Result<Permit, Rejected> {
        match self.mirror.glance(&now, &self.limits) {
            Glance::Admit(ticket) => Ok(Permit::new(Arc::clone(self), ticket, started)),
            Glance::Reject(rejected) => Err(self.count(rejected)),
            Glance::Unsure => {
                let now = now();
                let step = self.with(|machine| machine.acquire(now, Standing::Alone));
                self.resolve(step, now)
            }
        }
    }

    /// Asks to make one attempt, without waiting for anything: if the breaker shares its state and a probe is due,
    /// the caller has to ask the store.
    pub fn admit_at(self: &Arc<Self>, now: Instant) -> Admission {
        let ticks = self.ticks(now);
        let step = match (&self.shared, self.mirror.glance(|| ticks, &self.limits)) {
            (_, Glance::Admit(ticket)) => Step::Admit(ticket),
            (_, Glance::Reject(rejected)) => Step::Reject(rejected),
            (None, Glance::Unsure) => self.with(|machine| machine.acquire(ticks, Standing::Alone)),
            (Some(shared), Glance::Unsure) => {
                let (step, token) = self.with(|machine| {
                    let step = machine.acquire(ticks, Standing::Ask);
                    (step, LeaseToken::new(machine.random().u64(..)))
                });
                if let Step::AskLease { epoch } = step {
                    let request = LeaseRequest::new(Arc::clone(self), Arc::clone(shared), token, epoch);
                    return Admission::NeedsLease(request);
                }
                step
            }
        };
        match self.resolve(step, ticks) {
            Ok(permit) => Admission::Admitted(permit),
            Err(rejected) => Admission::Rejected(rejected),
        }
    }

    /// Asks to make one attempt; before a probe the store of the shared state is asked, if there is one. Without
    /// shared state, or while the circuit is closed, this never waits. Safe to drop at any point.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire), and if another process probes.
    pub async fn acquire(self: &Arc<Self>) -> Result<Permit, Rejected> {
        if self.shared.is_none() {
            return self.try_acquire();
        }
        match self.admit_at(self.clock.now()) {
            Admission::Admitted(permit) => Ok(permit),
            Admission::Rejected(rejected) => Err(rejected),
            Admission::NeedsLease(request) => request.ask().await,
        }
    }

    /// Would a call be turned away now? Changes nothing and promises nothing. It keeps calls from queueing for an
    /// open circuit; whoever is let through still has to acquire.
    pub(crate) fn admits_at(&self, now: Instant) -> Result<(), Rejected> {
        let now = self.ticks(now);
        match self.mirror.glance(|| now, &self.limits) {
            Glance::Admit(_) => return Ok(()),
            Glance::Reject(rejected) => return Err(rejected),
            Glance::Unsure => {}
        }
        let view = lock(&self.core).machine.view(now);
        let probing = view.probe_wait.filter(|_| view.state == State::HalfOpen);
        probing.map_or(Ok(()), |left| Err(Rejected::for_nanos(RejectReason::Probing, left.max(1))))
    }

    pub(super) fn acquire_leased(
        self: &Arc<Self>,
        now: Instant,
        standing: Standing,
        token: LeaseToken,
    ) -> (Result<Permit, Rejected>, bool) {
        let now = self.ticks(now);
        let (step, serves) = self.with(|machine| {
            let step = machine.acquire(now, standing);
            (step, machine.leads_with(token))
        });
        (self.resolve(step, now), serves)
    }

    pub(super) fn lease_refused(
        self: &Arc<Self>,
        epoch: u64,
        wait: Duration,
        now: Instant,
    ) -> Result<Permit, Rejected> {
        let now = self.ticks(now);
        let step = self.with(|machine| machine.lease_refused(epoch, nanos(wait), now));
        self.resolve(step, now)
    }

    fn resolve(self: &Arc<Self>, step: Step, now: u64) -> Result<Permit, Rejected> {
        match step {
            Step::Admit(ticket) => {
                let started = self.limits.slow.map(|_| now);
                Ok(Permit::new(Arc::clone(self), ticket, started))
            }
            Step::Reject(rejected) => Err(self.count(rejected)),
            // Only said to those who can ask, and they do not come here.
            Step::AskLease { .. } => Err(self.count(Rejected::for_nanos(RejectReason::Probing, 1))),
        }
    }

    #[inline]
    fn count(&self, rejected: Rejected) -> Rejected {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        rejected
    }
}

/// # Manual control
///
/// Each of these begins a new epoch, so what is under way no longer has a say, and forgets past trips and
/// throttling.
impl Breaker {
    /// Turns every call away until [`reset`](Self::reset) or [`force_closed`](Self::force_closed).
    pub fn force_open(&self) {
        self.force(State::ForcedOpen, Reason::ForcedOpen);
    }

    /// Admits every call and counts nothing, until [`reset`](Self::reset) or [`force_open`](Self::force_open).
    pub fn force_closed(&self) {
        self.force(State::ForcedClosed, Reason::ForcedClosed);
    }

    /// Closes the circuit and lets it decide by itself from now on.
    pub fn reset(&self) {
        self.force(State::Closed, Reason::Reset);
    }

    fn force(&self, to: State, reason: Reason) {
        let now = self.ticks(self.clock.now());
        self.with(|machine| machine.force(to, now, reason));
    }
}

/// # Shared state
impl Breaker {
    /// Another process found the provider down, for `left` more. Opens the circuit without making its own cooldown
    /// grow; an open one stays so for as long as the longer of the two says. Capped like any cooldown.
    pub fn shared_open(&self, left: Duration) {
        let now = self.ticks(self.clock.now());
        self.with(|machine| machine.shared_open(now, nanos(left)));
    }

    /// Another process saw the provider recover. Does not close the circuit: it lets this process probe for itself
    /// within a second.
    pub fn shared_close(&self) {
        let now = self.ticks(self.clock.now());
        self.with(|machine| machine.shared_close(now, nanos(SHARED_CLOSE_SPREAD)));
    }
}

/// # Probe leases
impl Breaker {
    /// Makes the probe lease long enough for attempts with this timeout: at least 10 s longer. Never makes it
    /// shorter, so that targets with different timeouts can share a breaker. A lease that was set by hand stays.
    /// Chains do this for their targets.
    pub fn fit_timeout(&self, attempt_timeout: Duration) {
        if !self.config.lease_fits() {
            return;
        }
        let lease = nanos(lease_for(attempt_timeout));
        self.with(|machine| machine.lease_at_least(lease));
    }

    /// How long a probe may take before its place is given to another.
    pub fn probe_lease(&self) -> Duration {
        Duration::from_nanos(lock(&self.core).machine.lease())
    }
}

/// # Observation
impl Breaker {
    /// What it is about.
    pub fn key(&self) -> &BreakerKey {
        &self.key
    }

    /// Its settings.
    pub fn config(&self) -> &BreakerConfig {
        &self.config
    }

    /// Has `listener` called with every transition: each one once, in order, outside the lock, on the task of
    /// whoever caused it or a transition shortly before. It may call the breaker. It should be quick, for a call
    /// waits for it; a panic in it is caught.
    pub fn subscribe(&self, listener: impl Fn(&Transition) + Send + Sync + 'static) -> Subscription {
        let [own, _] = &self.listeners;
        own.subscribe(listener)
    }

    /// What it looks like now. Never changes the state.
    pub fn snapshot(&self) -> Snapshot {
        let now = self.ticks(self.clock.now());
        let view = lock(&self.core).machine.view(now);
        let left = |until: u64| Duration::from_nanos(until.saturating_sub(now));
        Snapshot {
            key: self.key.clone(),
            state: view.state,
            epoch: view.epoch,
            since: Duration::from_nanos(now.saturating_sub(view.since)),
            reason: view.reason,
            trips: view.trips,
            probe_in: match view.state {
                State::Open => Some(left(view.until.max(view.not_before))),
                State::HalfOpen => {
                    Some(Duration::from_nanos(view.probe_wait.unwrap_or(0)).max(left(view.not_before)))
                }
                _ => None,
            },
            probes_in_flight: view.probes,
            probe_successes: view.successes,
            window: WindowCounts { calls: view.calls, failed: view.failed, slow: view.slow },
            consecutive: view.consecutive,
            throttled_for: Some(left(view.not_before)).filter(|left| !left.is_zero()),
            rejected_total: self.rejected.load(Ordering::Relaxed),
            stale_total: view.stale,
            lost_probe_total: view.lost_probes,
            shared: self.shared.as_ref().map(|shared| shared.status()),
        }
    }

    /// True if forgetting this breaker would lose nothing: closed, with nothing counted.
    pub(crate) fn is_idle(&self) -> bool {
        let now = self.ticks(self.clock.now());
        let view = lock(&self.core).machine.view(now);
        view.state == State::Closed && view.calls == 0 && view.consecutive == 0 && view.not_before <= now
    }
}

/// # What permits do
impl Breaker {
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    pub(super) fn finish(
        &self,
        ticket: Ticket,
        outcome: Outcome,
        now: Instant,
        took: Option<u64>,
        started: Option<u64>,
    ) {
        let now = self.ticks(now);
        let took = took.or_else(|| started.map(|started| now.saturating_sub(started)));
        self.with(|machine| machine.finish(ticket, outcome, now, took));
    }

    /// A permit was dropped.
    pub(super) fn release(&self, ticket: Ticket) {
        if matches!(ticket.kind, Kind::Probe(_)) {
            self.with(|machine| machine.finish(ticket, Outcome::Neutral, 0, None));
        }
    }

    pub(super) fn renew(&self, ticket: Ticket, now: Instant) {
        let now = self.ticks(now);
        self.with(|machine| machine.renew(ticket, now));
    }
}

impl Breaker {
    #[inline]
    fn ticks(&self, now: Instant) -> u64 {
        nanos(now.saturating_duration_since(self.origin))
    }

    /// The one way to the machine: what it changed is mirrored before the lock is released, and told after.
    #[inline]
    fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let mut core = lock(&self.core);
        let result = act(&mut core.machine);
        if core.machine.take_dirty() {
            self.mirror.publish(&core.machine.view(0));
        }
        let must_tell = core.machine.has_notices() && !std::mem::replace(&mut core.telling, true);
        drop(core);
        if must_tell {
            self.tell();
        }
        result
    }

    #[cold]
    fn tell(&self) {
        loop {
            let mut core = lock(&self.core);
            let Some(notice) = core.machine.take_notice() else {
                core.telling = false;
                return;
            };
            drop(core);
            match notice {
                Notice::Changed(change) => self.tell_change(&change.of(&self.key)),
                Notice::Lease(token, verdict) => {
                    self.tell_shared(|shared| shared.settled(&self.key, token, verdict));
                }
            }
        }
    }

    fn tell_change(&self, transition: &Transition) {
        for list in &self.listeners {
            list.tell(transition);
        }
        self.tell_shared(|shared| shared.changed(transition));
    }

    fn tell_shared(&self, tell: impl FnOnce(&dyn SharedState)) {
        if let Some(shared) = &self.shared {
            let _ = catch_unwind(AssertUnwindSafe(|| tell(shared.as_ref())));
        }
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let view = lock(&self.core).machine.view(0);
        f.debug_struct("Breaker")
            .field("key", &self.key)
            .field("state", &view.state)
            .field("epoch", &view.epoch)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    /// What a chain asks before it queues agrees with what it is told afterwards, and changes nothing.
    #[test]
    fn looking_ahead_agrees_with_acquiring_and_changes_nothing() {
        let clock = ManualClock::new();
        let breaker = Breaker::builder(BreakerKey::new("p", "m")).clock(clock.clone()).seed(1).build();
        let looks = |expected: Option<RejectReason>| {
            let before = breaker.snapshot();
            let reason = breaker.admits_at(clock.now()).err().map(|rejected| rejected.reason);
            assert_eq!(reason, expected);
            assert_eq!(breaker.snapshot(), before);
        };
        looks(None);
        breaker.try_acquire().unwrap().settle(Outcome::Throttled { retry_after: None });
        looks(Some(RejectReason::Throttled));
        clock.advance(Duration::from_secs(5));
        for _ in 0..5 {
            breaker.try_acquire().unwrap().settle(Outcome::FAILURE);
        }
        looks(Some(RejectReason::Open));
        clock.advance(Duration::from_secs(54));
        looks(None);
        let hung = breaker.try_acquire().unwrap();
        looks(Some(RejectReason::Probing));
        clock.advance(breaker.config().probe_lease());
        looks(None);
        drop(hung);
        looks(None);
        breaker.force_open();
        looks(Some(RejectReason::Forced));
        breaker.force_closed();
        looks(None);
    }
}
