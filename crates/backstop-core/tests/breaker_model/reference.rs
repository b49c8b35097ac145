//! The transition table of the breaker, written down as plainly as possible: one struct, plain lists, no lock, no
//! mirror, milliseconds. It shares no code with the breaker.

use backstop_core::breaker::{Outcome, RejectReason, State};

pub(crate) const CALLERS: usize = 3;
/// The settings of both; jitter is off.
pub(crate) const CONSECUTIVE: u32 = 2;
pub(crate) const CONSECUTIVE_GAP: u64 = 30_000;
pub(crate) const MIN_CALLS: u32 = 3;
pub(crate) const WINDOW: u64 = 10_000;
pub(crate) const SLOW: u64 = 4_000;
pub(crate) const COOLDOWN: u64 = 1_000;
pub(crate) const COOLDOWN_CAP: u64 = 3_000;
pub(crate) const LEASE: u64 = 2_000;
pub(crate) const THROTTLE: u64 = 700;
pub(crate) const THROTTLE_CAP: u64 = 1_500;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Normal,
    Probe { place: u64 },
    Bypass,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Permit {
    pub(crate) epoch: u64,
    pub(crate) kind: Kind,
    pub(crate) started: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) probes: usize,
    pub(crate) successes_to_close: u32,
    pub(crate) watch_slow: bool,
    pub(crate) state: State,
    pub(crate) until: u64,
    pub(crate) epoch: u64,
    manual_epoch: u64,
    closed_at: u64,
    pub(crate) trips: u32,
    /// (place, since)
    pub(crate) leases: Vec<(u64, u64)>,
    next_place: u64,
    pub(crate) ok: u32,
    pub(crate) consecutive: u32,
    last_failure: Option<u64>,
    /// (when, failed, slow) of everything in this epoch.
    results: Vec<(u64, bool, bool)>,
    pub(crate) not_before: u64,
    pub(crate) stale: u64,
    pub(crate) lost: u64,
    pub(crate) permits: [Option<Permit>; CALLERS],
    pub(crate) now: u64,
}

impl Reference {
    pub(crate) fn new(probes: usize, successes_to_close: u32, watch_slow: bool) -> Self {
        Self {
            probes,
            successes_to_close,
            watch_slow,
            state: State::Closed,
            until: 0,
            epoch: 1,
            manual_epoch: 0,
            closed_at: 0,
            trips: 0,
            leases: Vec::new(),
            next_place: 0,
            ok: 0,
            consecutive: 0,
            last_failure: None,
            results: Vec::new(),
            not_before: 0,
            stale: 0,
            lost: 0,
            permits: [None; CALLERS],
            now: 0,
        }
    }

    /// (calls, failed, slow) of the ten buckets up to the present one.
    pub(crate) fn window(&self) -> (u32, u32, u32) {
        let width = WINDOW / 10;
        let inside = self.results.iter().filter(|(at, ..)| at / width + 10 > self.now / width);
        inside.fold((0, 0, 0), |(calls, failed, slow), (_, f, s)| {
            (calls + 1, failed + u32::from(*f), slow + u32::from(*s))
        })
    }

    pub(crate) fn cooldown(trips: u32) -> u64 {
        (0..trips.saturating_sub(1)).fold(COOLDOWN, |cooldown, _| (cooldown * 2).min(COOLDOWN_CAP))
    }

    fn bump(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
        self.leases.clear();
        self.ok = 0;
        self.consecutive = 0;
        self.results.clear();
    }

    fn trip(&mut self, hint: Option<u64>) {
        let steady = self.state == State::Closed && self.now - self.closed_at >= Self::cooldown(self.trips);
        self.trips = if steady { 1 } else { self.trips + 1 };
        self.bump(State::Open);
        self.until = self.now + Self::cooldown(self.trips).max(hint.unwrap_or(0).min(COOLDOWN_CAP));
    }

    pub(crate) fn acquire(&mut self, caller: usize) -> Result<Permit, (RejectReason, Option<u64>)> {
        let kind = match self.state {
            State::ForcedOpen => return Err((RejectReason::Forced, None)),
            State::ForcedClosed => Kind::Bypass,
            _ if self.now < self.not_before => {
                return Err((RejectReason::Throttled, Some(self.not_before - self.now)));
            }
            State::Closed => Kind::Normal,
            State::Open if self.now < self.until => {
                return Err((RejectReason::Open, Some(self.until - self.now)));
            }
            State::Open => {
                self.bump(State::HalfOpen);
                self.probe()?
            }
            _ => self.probe()?,
        };
        let permit = Permit { epoch: self.epoch, kind, started: self.now };
        self.permits[caller] = Some(permit);
        Ok(permit)
    }

    fn probe(&mut self) -> Result<Kind, (RejectReason, Option<u64>)> {
        let before = self.leases.len();
        self.leases.retain(|(_, since)| self.now - since < LEASE);
        self.lost += (before - self.leases.len()) as u64;
        if self.leases.len() >= self.probes {
            let left = self.leases.iter().map(|(_, since)| since + LEASE - self.now).min();
            return Err((RejectReason::Probing, left));
        }
        let place = self.next_place;
        self.next_place += 1;
        self.leases.push((place, self.now));
        Ok(Kind::Probe { place })
    }

    pub(crate) fn renew(&mut self, caller: usize) {
        if let Some(Permit { epoch, kind: Kind::Probe { place }, .. }) = self.permits[caller] {
            let now = self.now;
            if epoch == self.epoch {
                self.leases.iter_mut().filter(|(p, _)| *p == place).for_each(|(_, since)| *since = now);
            }
        }
    }

    pub(crate) fn drop_permit(&mut self, caller: usize) {
        let Some(permit) = self.permits[caller].take() else { return };
        if let Kind::Probe { place } = permit.kind {
            self.settle_probe(permit, place, Outcome::Neutral, false);
        }
    }

    pub(crate) fn settle(&mut self, caller: usize, outcome: Outcome, took: Option<u64>) {
        if outcome == Outcome::Neutral {
            return self.drop_permit(caller);
        }
        let Some(permit) = self.permits[caller].take() else { return };
        if let Outcome::Throttled { retry_after } = outcome {
            if permit.epoch >= self.manual_epoch {
                let wait = retry_after.map_or(THROTTLE, |wait| wait.as_millis() as u64).min(THROTTLE_CAP);
                self.not_before = self.not_before.max(self.now + wait);
            }
        }
        let slow = self.watch_slow && took.unwrap_or(self.now - permit.started) >= SLOW;
        match permit.kind {
            Kind::Bypass => {}
            Kind::Probe { place } => self.settle_probe(permit, place, outcome, slow),
            Kind::Normal if permit.epoch != self.epoch => self.stale += 1,
            Kind::Normal => self.settle_normal(outcome, slow),
        }
    }

    fn settle_normal(&mut self, outcome: Outcome, slow: bool) {
        assert_eq!(self.state, State::Closed, "a normal permit is fresh only while closed");
        let failed = match outcome {
            Outcome::Success => false,
            Outcome::Failure { .. } | Outcome::NoAnswer => true,
            _ => return,
        };
        self.results.push((self.now, failed, slow));
        if failed {
            let in_a_row = self.last_failure.is_some_and(|last| self.now - last <= CONSECUTIVE_GAP);
            self.consecutive = if in_a_row { self.consecutive + 1 } else { 1 };
            self.last_failure = Some(self.now);
        } else {
            self.consecutive = 0;
        }
        let (calls, fails, slows) = self.window();
        let enough = calls >= MIN_CALLS;
        let too_many = failed && (self.consecutive >= CONSECUTIVE || (enough && fails * 2 >= calls));
        let too_slow = self.watch_slow && (failed || slow) && enough && slows * 2 >= calls && slows > 0;
        if too_many || too_slow {
            self.trip(hint(outcome));
        }
    }

    fn settle_probe(&mut self, permit: Permit, place: u64, outcome: Outcome, slow: bool) {
        if permit.epoch != self.epoch || !self.leases.iter().any(|(p, _)| *p == place) {
            self.stale += 1;
            return;
        }
        assert_eq!(self.state, State::HalfOpen, "a probe is fresh only while half-open");
        self.leases.retain(|(p, _)| *p != place);
        match outcome {
            Outcome::Success if !slow => {
                self.ok += 1;
                if self.ok >= self.successes_to_close {
                    self.bump(State::Closed);
                    self.closed_at = self.now;
                }
            }
            Outcome::Success | Outcome::Failure { .. } | Outcome::NoAnswer => self.trip(hint(outcome)),
            _ => {}
        }
    }

    pub(crate) fn force(&mut self, state: State) {
        self.bump(state);
        self.manual_epoch = self.epoch;
        self.closed_at = self.now;
        self.trips = 0;
        self.not_before = 0;
    }

    pub(crate) fn shared_open(&mut self, left: u64) {
        let left = left.min(COOLDOWN_CAP);
        match self.state {
            State::Closed | State::HalfOpen if left > 0 => {
                self.bump(State::Open);
                self.until = self.now + left;
            }
            State::Open => self.until = self.until.max(self.now + left),
            _ => {}
        }
    }

    /// Probes that could still decide something.
    pub(crate) fn live_probes(&self) -> usize {
        let alive = |permit: &&Permit| {
            let Kind::Probe { place } = permit.kind else { return false };
            permit.epoch == self.epoch && self.leases.iter().any(|(p, _)| *p == place)
        };
        self.permits.iter().flatten().filter(alive).count()
    }

    /// Never stuck: once the longest cooldown and a lease have passed, somebody is admitted, whether the calls under
    /// way have vanished or hang.
    pub(crate) fn is_stuck(&self) -> bool {
        let auto = !matches!(self.state, State::ForcedOpen | State::ForcedClosed);
        auto && [true, false].into_iter().any(|vanish| {
            let mut later = self.clone();
            if vanish {
                (0..CALLERS).for_each(|caller| later.drop_permit(caller));
            }
            later.now += COOLDOWN_CAP + LEASE;
            later.acquire(0).is_err()
        })
    }
}

fn hint(outcome: Outcome) -> Option<u64> {
    match outcome {
        Outcome::Failure { retry_after } => retry_after.map(|wait| wait.as_millis() as u64),
        _ => None,
    }
}
