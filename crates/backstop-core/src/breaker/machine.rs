//! The state machine itself: no lock, no clock, no listener. Everything it needs comes in, everything that has to
//! be told to others goes out as a [`Notice`].
//!
//! Times are nanoseconds since the breaker's origin.

use std::collections::VecDeque;
use std::time::Duration;

use super::config::{Limits, nanos};
use super::evidence::{Evidence, Failures};
use super::outcome::{Outcome, RejectReason, Rejected};
use super::probes::Probes;
use super::shared::{LeaseToken, LeaseVerdict, Standing};
use super::transition::{Change, Reason, State};
use super::window::Window;

/// What a permit remembers of its admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) epoch: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Probe(u64),
    /// Admitted because the circuit is held closed by hand.
    Bypass,
}

/// The answer to a call that wants to be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Admit(Ticket),
    Reject(Rejected),
    /// A probe is due, and the processes that share this state must agree on who it is.
    AskLease {
        epoch: u64,
    },
}

/// What others have to be told, in this order, once the lock is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Changed(Change),
    Lease(LeaseToken, LeaseVerdict),
}

/// Who, among the processes that share this state, does the probing of this half-open phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    /// Nobody here: ask before probing, but not before that time.
    Ask {
        not_before: u64,
    },
    Leased(LeaseToken),
    /// This process, on its own authority.
    Local,
}

/// For how long a circuit opened, and on what.
#[derive(Clone, Copy, Debug)]
struct Opened {
    cooldown: u64,
    evidence: Option<Evidence>,
}

#[derive(Debug)]
pub(super) struct Machine {
    limits: Limits,
    state: State,
    /// When the cooldown ends. Means something only while `Open`.
    until: u64,
    /// Grows with every transition and makes all earlier permits stale.
    epoch: u64,
    /// The epoch that the last manual action began: what was admitted before it has no say at all.
    manual_epoch: u64,
    since: u64,
    reason: Option<Reason>,
    window: Window,
    consecutive: u32,
    last_failure: u64,
    failures: Failures,
    probes: Probes,
    lead: Lead,
    successes: u32,
    /// Trips in a series: how far the cooldown has grown.
    trips: u32,
    not_before: u64,
    stale: u64,
    lost_probes: u64,
    random: fastrand::Rng,
    /// Something that the lock-free mirror shows has changed.
    dirty: bool,
    outbox: VecDeque<Notice>,
}

impl Machine {
    pub(super) const FIRST_EPOCH: u64 = 1;
    /// Only a listener that blocks for this many transitions loses one, the oldest.
    const OUTBOX: usize = 1024;

    pub(super) fn new(limits: Limits, random: fastrand::Rng) -> Self {
        Self {
            state: State::Closed,
            until: 0,
            epoch: Self::FIRST_EPOCH,
            manual_epoch: 0,
            since: 0,
            reason: None,
            window: Window::new(limits.window),
            consecutive: 0,
            last_failure: 0,
            failures: Failures::default(),
            probes: Probes::new(limits.probes, limits.lease),
            lead: Lead::Ask { not_before: 0 },
            successes: 0,
            trips: 0,
            not_before: 0,
            stale: 0,
            lost_probes: 0,
            random,
            dirty: false,
            outbox: VecDeque::new(),
            limits,
        }
    }

    // ---- admission

    pub(super) fn acquire(&mut self, now: u64, standing: Standing) -> Step {
        match self.state {
            State::ForcedOpen => return Step::Reject(Rejected::forced()),
            State::ForcedClosed => return self.admit(Kind::Bypass),
            State::Closed | State::Open | State::HalfOpen => {}
        }
        if let Some(left) = self.throttled_for(now) {
            return Step::Reject(Rejected::for_nanos(RejectReason::Throttled, left));
        }
        match self.state {
            State::Open => self.acquire_open(now, standing),
            State::HalfOpen => self.probe(now, standing),
            _ => self.admit(Kind::Normal),
        }
    }

    fn admit(&self, kind: Kind) -> Step {
        Step::Admit(Ticket { epoch: self.epoch, kind })
    }

    fn acquire_open(&mut self, now: u64, standing: Standing) -> Step {
        // A lease for this very epoch outranks the deadline: while its answer was on the way, those who were
        // refused may have moved the deadline to when the lease ends.
        let leased = matches!(standing, Standing::Leased { epoch, .. } if epoch == self.epoch);
        if let Some(left) = self.open_for(now).filter(|_| !leased) {
            return Step::Reject(Rejected::for_nanos(RejectReason::Open, left));
        }
        if standing == Standing::Ask {
            return Step::AskLease { epoch: self.epoch };
        }
        // No half-open without a probe: both happen in this one step.
        self.turn(State::HalfOpen, now, Reason::CooldownOver, None);
        self.probe(now, standing)
    }

    fn probe(&mut self, now: u64, standing: Standing) -> Step {
        self.expire_probes(now);
        if let Some(left) = self.probes.wait(now) {
            return Step::Reject(Rejected::for_nanos(RejectReason::Probing, left.max(1)));
        }
        match (self.lead, standing) {
            (Lead::Ask { not_before }, Standing::Ask) => {
                return match not_before.saturating_sub(now) {
                    0 => Step::AskLease { epoch: self.epoch },
                    left => Step::Reject(Rejected::for_nanos(RejectReason::Probing, left)),
                };
            }
            (Lead::Ask { .. }, Standing::Leased { token, .. }) => self.lead = Lead::Leased(token),
            (Lead::Ask { .. }, Standing::Alone) => self.lead = Lead::Local,
            (Lead::Leased(_) | Lead::Local, _) => {}
        }
        let id = self.probes.start(now);
        self.admit(Kind::Probe(id))
    }

    fn expire_probes(&mut self, now: u64) {
        let lost = self.probes.expire(now);
        self.lost_probes += lost;
        if lost > 0 && self.probes.running() == 0 {
            self.end_lead(LeaseVerdict::Released);
        }
    }

    /// True if a lease that was granted serves this half-open phase.
    pub(super) fn leads_with(&self, token: LeaseToken) -> bool {
        self.lead == Lead::Leased(token)
    }

    /// Another process probes: wait until its lease ends.
    pub(super) fn lease_refused(&mut self, epoch: u64, wait: u64, now: u64) -> Step {
        if epoch == self.epoch {
            let wait = wait.clamp(1, self.limits.cooldown_cap);
            match self.state {
                State::Open => self.set_until(self.until.max(now.saturating_add(wait))),
                State::HalfOpen if matches!(self.lead, Lead::Ask { .. }) => {
                    self.lead = Lead::Ask { not_before: now.saturating_add(wait) };
                }
                _ => {}
            }
        }
        match self.acquire(now, Standing::Ask) {
            // The state has moved on in the meantime; one question per call is enough.
            Step::AskLease { .. } => Step::Reject(Rejected::for_nanos(RejectReason::Probing, wait.max(1))),
            step => step,
        }
    }

    // ---- verdicts

    /// `took` is how long the attempt took, if that is known.
    pub(super) fn finish(&mut self, ticket: Ticket, outcome: Outcome, now: u64, took: Option<u64>) {
        if let Outcome::Throttled { retry_after } = outcome {
            self.throttle(ticket, now, retry_after.map_or(self.limits.throttle, nanos));
        }
        if ticket.kind == Kind::Bypass {
            return;
        }
        if ticket.epoch != self.epoch {
            self.stale += 1;
            return;
        }
        let slow =
            matches!((self.limits.slow, took), (Some((threshold, _)), Some(took)) if took >= threshold);
        match ticket.kind {
            Kind::Probe(id) => self.finish_probe(id, outcome, now, slow),
            Kind::Normal | Kind::Bypass => self.finish_normal(outcome, now, slow),
        }
    }

    fn finish_normal(&mut self, outcome: Outcome, now: u64, slow: bool) {
        match outcome {
            Outcome::Success => {
                self.window.add(now, false, slow);
                self.consecutive = 0;
                if slow {
                    if let Some(reason) = self.too_slow() {
                        self.trip(now, 0, reason);
                    }
                }
            }
            Outcome::Failure { .. } | Outcome::NoAnswer => {
                self.window.add(now, true, slow);
                self.count_consecutive(now);
                let hint = self.note_failure(outcome);
                if let Some(reason) = self.too_many_failures().or_else(|| self.too_slow()) {
                    self.trip(now, hint, reason);
                }
            }
            Outcome::Throttled { .. } | Outcome::Neutral => {}
        }
    }

    fn finish_probe(&mut self, id: u64, outcome: Outcome, now: u64, slow: bool) {
        if !self.probes.finish(id) {
            self.stale += 1;
            return;
        }
        match outcome {
            Outcome::Success if slow => self.trip(now, 0, Reason::ProbeSlow),
            Outcome::Success => {
                self.successes += 1;
                if self.successes >= self.limits.successes {
                    self.end_lead(LeaseVerdict::Recovered);
                    let successes = self.successes;
                    self.turn(State::Closed, now, Reason::Recovered { successes }, None);
                }
            }
            Outcome::Failure { .. } | Outcome::NoAnswer => {
                let hint = self.note_failure(outcome);
                self.trip(now, hint, Reason::ProbeFailed);
            }
            Outcome::Throttled { .. } | Outcome::Neutral => {
                if self.probes.running() == 0 {
                    self.end_lead(LeaseVerdict::Released);
                }
            }
        }
    }

    /// Remembers whether there was an answer, and returns the wait that came with it.
    fn note_failure(&mut self, outcome: Outcome) -> u64 {
        self.failures.note(outcome == Outcome::NoAnswer);
        match outcome {
            Outcome::Failure { retry_after } => retry_after.map_or(0, nanos),
            _ => 0,
        }
    }

    fn count_consecutive(&mut self, now: u64) {
        if now.saturating_sub(self.last_failure) > self.limits.consecutive_gap {
            self.consecutive = 0;
        }
        self.consecutive = self.consecutive.saturating_add(1);
        self.last_failure = now;
    }

    fn too_many_failures(&self) -> Option<Reason> {
        if self.limits.consecutive.is_some_and(|limit| self.consecutive >= limit) {
            return Some(Reason::Consecutive { failures: self.consecutive });
        }
        let total = self.window.total();
        let reached =
            total.calls >= self.limits.min_calls && reaches(total.failed, total.calls, self.limits.rate?);
        reached.then_some(Reason::FailureRate { failed: total.failed, calls: total.calls })
    }

    fn too_slow(&self) -> Option<Reason> {
        let (_, share) = self.limits.slow?;
        let total = self.window.total();
        let reached = total.calls >= self.limits.min_calls && reaches(total.slow, total.calls, share);
        reached.then_some(Reason::SlowCalls { slow: total.slow, calls: total.calls })
    }

    fn throttle(&mut self, ticket: Ticket, now: u64, wait: u64) {
        if ticket.epoch >= self.manual_epoch {
            let until = now.saturating_add(wait.min(self.limits.throttle_cap));
            self.not_before = self.not_before.max(until);
            self.dirty = true;
        }
    }

    pub(super) fn renew(&mut self, ticket: Ticket, now: u64) {
        if let (true, Kind::Probe(id)) = (ticket.epoch == self.epoch, ticket.kind) {
            self.probes.renew(id, now);
        }
    }

    pub(super) fn lease_at_least(&mut self, lease: u64) {
        self.probes.lease_at_least(lease);
    }

    pub(super) fn lease(&self) -> u64 {
        self.probes.lease()
    }

    // ---- transitions

    fn trip(&mut self, now: u64, hint: u64, reason: Reason) {
        // A circuit that opens again soon after it closed is flapping: the cooldown goes on growing. One that was
        // closed for as long as it was last open begins a new series.
        let steady =
            self.state == State::Closed && now.saturating_sub(self.since) >= self.limits.cooldown(self.trips);
        self.trips = if steady { 1 } else { self.trips.saturating_add(1) };
        let draw = self.random.f64();
        let cooldown = self.limits.jittered(self.limits.cooldown(self.trips), draw);
        let cooldown = cooldown.max(hint.min(self.limits.cooldown_cap));
        let evidence = self.failures.evidence(reason);
        self.end_lead(match evidence {
            Evidence::Provider => LeaseVerdict::Failed { cooldown: Duration::from_nanos(cooldown) },
            Evidence::Local => LeaseVerdict::Released,
        });
        self.open(now, cooldown, reason, Some(evidence));
    }

    fn open(&mut self, now: u64, cooldown: u64, reason: Reason, evidence: Option<Evidence>) {
        self.turn(State::Open, now, reason, Some(Opened { cooldown, evidence }));
        self.set_until(now.saturating_add(cooldown));
    }

    /// Another process found the provider down and will not probe for that long.
    pub(super) fn shared_open(&mut self, now: u64, left: u64) {
        let left = left.min(self.limits.cooldown_cap);
        match self.state {
            State::Closed | State::HalfOpen if left > 0 => {
                self.end_lead(LeaseVerdict::Released);
                self.open(now, left, Reason::Shared, None);
            }
            State::Open => self.set_until(self.until.max(now.saturating_add(left))),
            _ => {}
        }
    }

    /// Another process found the provider up again: probe soon, rather than believe it.
    pub(super) fn shared_close(&mut self, now: u64, within: u64) {
        if self.state == State::Open {
            let soon = now.saturating_add((within as f64 * self.random.f64()) as u64);
            self.set_until(self.until.min(soon));
        }
    }

    /// A manual action: `ForcedOpen`, `ForcedClosed`, or `Closed` for a reset.
    pub(super) fn force(&mut self, to: State, now: u64, reason: Reason) {
        self.end_lead(LeaseVerdict::Released);
        self.turn(to, now, reason, None);
        self.manual_epoch = self.epoch;
        self.trips = 0;
        self.not_before = 0;
    }

    /// Every transition goes through here, so none is without its epoch and its notice.
    fn turn(&mut self, to: State, now: u64, reason: Reason, opened: Option<Opened>) {
        let from = std::mem::replace(&mut self.state, to);
        self.epoch += 1;
        self.since = now;
        self.reason = Some(reason);
        self.window.clear();
        self.consecutive = 0;
        self.probes.clear();
        self.lead = Lead::Ask { not_before: 0 };
        self.successes = 0;
        self.dirty = true;
        let (cooldown, evidence) = (opened.map(|opened| opened.cooldown), opened.and_then(|it| it.evidence));
        self.notify(Notice::Changed(Change { from, to, epoch: self.epoch, reason, cooldown, evidence }));
    }

    fn end_lead(&mut self, verdict: LeaseVerdict) {
        if let Lead::Leased(token) = std::mem::replace(&mut self.lead, Lead::Ask { not_before: 0 }) {
            self.notify(Notice::Lease(token, verdict));
        }
    }

    fn notify(&mut self, notice: Notice) {
        if self.outbox.len() >= Self::OUTBOX {
            self.outbox.pop_front();
        }
        self.outbox.push_back(notice);
    }

    fn set_until(&mut self, until: u64) {
        self.until = until;
        self.dirty = true;
    }

    // ---- clocks

    /// How long the cooldown has yet to run. One that would run longer than any can means that the clock went back.
    fn open_for(&mut self, now: u64) -> Option<u64> {
        if self.until.saturating_sub(now) > self.limits.longest_open {
            self.set_until(now.saturating_add(self.limits.longest_open));
        }
        self.until.checked_sub(now).filter(|left| *left > 0)
    }

    fn throttled_for(&mut self, now: u64) -> Option<u64> {
        if self.not_before.saturating_sub(now) > self.limits.throttle_cap {
            self.not_before = now.saturating_add(self.limits.throttle_cap);
            self.dirty = true;
        }
        self.not_before.checked_sub(now).filter(|left| *left > 0)
    }

    // ---- what the breaker reads

    pub(super) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    pub(super) fn take_notice(&mut self) -> Option<Notice> {
        self.outbox.pop_front()
    }

    pub(super) fn has_notices(&self) -> bool {
        !self.outbox.is_empty()
    }

    pub(super) fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    pub(super) fn view(&self, now: u64) -> View {
        let window = self.window.total_at(now);
        View {
            state: self.state,
            epoch: self.epoch,
            until: self.until,
            not_before: self.not_before,
            since: self.since,
            reason: self.reason,
            trips: self.trips,
            probes: self.probes.running(),
            probe_wait: self.probes.wait(now),
            successes: self.successes,
            consecutive: self.consecutive,
            calls: window.calls,
            failed: window.failed,
            slow: window.slow,
            stale: self.stale,
            lost_probes: self.lost_probes,
        }
    }
}

/// A look at the machine that changes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) state: State,
    pub(super) epoch: u64,
    pub(super) until: u64,
    pub(super) not_before: u64,
    pub(super) since: u64,
    pub(super) reason: Option<Reason>,
    pub(super) trips: u32,
    pub(super) probes: usize,
    pub(super) probe_wait: Option<u64>,
    pub(super) successes: u32,
    pub(super) consecutive: u32,
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
    pub(super) stale: u64,
    pub(super) lost_probes: u64,
}

/// True if `part` of `whole` is at least `share` millionths.
fn reaches(part: u32, whole: u32, share: u64) -> bool {
    part > 0 && u64::from(part) * 1_000_000 >= u64::from(whole) * share
}
