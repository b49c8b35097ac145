//! Random sequences of everything that can happen to a breaker, against a reference and its invariants I1 to I14.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "breaker_model/reference.rs"]
mod reference;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use backstop_core::breaker::{
    Breaker, BreakerConfig, BreakerKey, Outcome, Permit, Reason, Rejected, Snapshot, State, Transition,
};
use backstop_core::clock::{Clock, ManualClock};
use proptest::prelude::*;
use reference::{CALLERS, COOLDOWN_CAP, Kind, LEASE, Reference};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Acquire(usize),
    /// Acquire, and if rejected, wait as long as told and acquire again.
    AcquirePatiently(usize),
    Settle(usize, Outcome),
    SettleTimed(usize, Outcome, u64),
    Drop(usize),
    Renew(usize),
    Tick(u64),
    ForceOpen,
    ForceClosed,
    Reset,
    SharedOpen(u64),
    Look,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let wait = || prop_oneof![3 => Just(None), 1 => (0_u64..8_000).prop_map(|wait| Some(ms(wait)))];
    prop_oneof![
        4 => Just(Outcome::Success),
        6 => wait().prop_map(|retry_after| Outcome::Failure { retry_after }),
        1 => wait().prop_map(|retry_after| Outcome::Throttled { retry_after }),
        2 => Just(Outcome::NoAnswer),
        2 => Just(Outcome::Neutral),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let caller = || 0..CALLERS;
    prop_oneof![
        12 => caller().prop_map(Op::Acquire),
        2 => caller().prop_map(Op::AcquirePatiently),
        10 => (caller(), outcome()).prop_map(|(caller, outcome)| Op::Settle(caller, outcome)),
        2 => (caller(), outcome(), 0_u64..8_000).prop_map(|(caller, outcome, took)| Op::SettleTimed(caller, outcome, took)),
        2 => caller().prop_map(Op::Drop),
        1 => caller().prop_map(Op::Renew),
        8 => prop_oneof![Just(1), Just(1_000), Just(2_000), 0_u64..2_500, 0_u64..40_000].prop_map(Op::Tick),
        1 => prop_oneof![
            Just(Op::ForceOpen), Just(Op::ForceClosed), Just(Op::Reset), Just(Op::Reset),
            (0_u64..5_000).prop_map(Op::SharedOpen), Just(Op::Look),
        ],
    ]
}

struct World {
    breaker: Arc<Breaker>,
    clock: ManualClock,
    told: Arc<Mutex<Vec<Transition>>>,
    permits: [Option<Permit>; CALLERS],
    model: Reference,
}

impl World {
    fn new(probes: u32, successes: u32, watch_slow: bool) -> Self {
        let mut config = BreakerConfig::builder()
            .consecutive_failures(reference::CONSECUTIVE)
            .consecutive_gap(ms(reference::CONSECUTIVE_GAP))
            .failure_rate(0.5)
            .min_calls(reference::MIN_CALLS)
            .window(ms(reference::WINDOW))
            .cooldown(ms(reference::COOLDOWN))
            .cooldown_cap(ms(COOLDOWN_CAP))
            .jitter(0.0)
            .probes(probes)
            .successes_to_close(successes)
            .probe_lease(ms(LEASE))
            .throttle(ms(reference::THROTTLE))
            .throttle_cap(ms(reference::THROTTLE_CAP));
        if watch_slow {
            config = config.slow_calls(ms(reference::SLOW), 0.5);
        }
        let clock = ManualClock::new();
        let breaker = Breaker::builder(BreakerKey::new("provider", "model"))
            .config(config.build().unwrap())
            .clock(clock.clone())
            .build();
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        breaker.subscribe(move |transition| tell.lock().unwrap().push(transition.clone())).keep();
        let model = Reference::new(probes as usize, successes, watch_slow);
        Self { breaker, clock, told, permits: [const { None }; CALLERS], model }
    }

    fn tick(&mut self, millis: u64) {
        self.clock.advance(ms(millis));
        self.model.now += millis;
    }

    /// Both acquire and must agree, on the rejection's reason and wait as well.
    fn acquire(&mut self, caller: usize) -> Option<Rejected> {
        if self.permits[caller].is_some() {
            return None;
        }
        let before = self.breaker.snapshot();
        let (ours, theirs) = (self.breaker.try_acquire(), self.model.acquire(caller));
        let after = self.breaker.snapshot();
        match (ours, theirs) {
            (Ok(permit), Ok(expected)) => {
                assert_eq!(permit.is_probe(), matches!(expected.kind, Kind::Probe { .. }));
                assert_ne!(before.state, State::ForcedOpen, "I11");
                if (before.state, after.state) == (State::Open, State::HalfOpen) {
                    assert!(permit.is_probe(), "I2: half-open only with its probe");
                }
                self.permits[caller] = Some(permit);
                None
            }
            (Err(rejected), Err((reason, wait))) => {
                assert_eq!((rejected.reason, rejected.retry_in), (reason, wait.map(ms)));
                assert_ne!(rejected.retry_in, Some(Duration::ZERO), "I13: a wait is positive");
                assert_ne!(before.state, State::ForcedClosed, "I11");
                assert_eq!(after.rejected_total, before.rejected_total + 1);
                assert_eq!(decided(&before), decided(&after), "I8: a rejection changes nothing");
                Some(rejected)
            }
            (ours, theirs) => panic!("breaker says {ours:?}, reference says {theirs:?}"),
        }
    }

    fn settle(&mut self, caller: usize, outcome: Outcome, took: Option<u64>) {
        let Some(permit) = self.permits[caller].take() else { return };
        let held = self.model.permits[caller].unwrap();
        let before = self.breaker.snapshot();
        match took {
            Some(took) => permit.settle_timed(outcome, ms(took), self.clock.now()),
            None => permit.settle(outcome),
        }
        let live = self.model.live_probes();
        self.model.settle(caller, outcome, took);
        self.check_settled(&before, held, outcome, live);
    }

    fn drop_permit(&mut self, caller: usize) {
        let Some(permit) = self.permits[caller].take() else { return };
        let held = self.model.permits[caller].unwrap();
        let (before, live) = (self.breaker.snapshot(), self.model.live_probes());
        drop(permit);
        self.model.drop_permit(caller);
        self.check_settled(&before, held, Outcome::Neutral, live);
    }

    fn check_settled(&self, before: &Snapshot, held: reference::Permit, outcome: Outcome, live: usize) {
        let after = self.breaker.snapshot();
        if held.epoch != before.epoch || held.kind == Kind::Bypass {
            assert_eq!(decided(before), decided(&after), "I3: a stale outcome changes nothing");
            assert_eq!(before.probes_in_flight, after.probes_in_flight, "I3");
        }
        if matches!(outcome, Outcome::Neutral | Outcome::Throttled { .. }) {
            assert_eq!(decided(before), decided(&after), "I4: a neutral outcome counts as nothing");
        }
        if before.state == State::HalfOpen && after.state == State::HalfOpen {
            let freed = live - self.model.live_probes();
            assert_eq!(
                before.probes_in_flight - after.probes_in_flight,
                freed,
                "I5c: a place is free at once"
            );
        }
        if (before.state, after.state) == (State::HalfOpen, State::Closed) {
            let successes = self.model.successes_to_close;
            assert_eq!(after.reason, Some(Reason::Recovered { successes }), "I12");
            assert_eq!(outcome, Outcome::Success, "I12");
            assert!(matches!(held.kind, Kind::Probe { .. }) && held.epoch == before.epoch, "I12");
        }
        if (before.state, after.state) == (State::Closed, State::Open) {
            self.check_trip(before, after.reason);
        }
    }

    /// I10: what the breaker gives as its reason follows from what it had counted in this epoch.
    fn check_trip(&self, before: &Snapshot, reason: Option<Reason>) {
        match reason {
            Some(Reason::Consecutive { failures }) => {
                assert!(failures >= reference::CONSECUTIVE && failures == before.consecutive + 1);
            }
            Some(Reason::FailureRate { failed, calls }) => {
                assert!(calls >= reference::MIN_CALLS && failed * 2 >= calls);
                assert_eq!((failed, calls), (before.window.failed + 1, before.window.calls + 1));
            }
            Some(Reason::SlowCalls { slow, calls }) => {
                assert!(self.model.watch_slow && calls >= reference::MIN_CALLS && slow * 2 >= calls);
            }
            other => panic!("I10: opened for {other:?}"),
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Acquire(caller) => {
                self.acquire(caller);
            }
            Op::AcquirePatiently(caller) => {
                let Some(wait) = self.acquire(caller).and_then(|rejected| rejected.retry_in) else { return };
                self.tick(wait.as_millis() as u64);
                self.acquire(caller);
            }
            Op::Settle(caller, outcome) => self.settle(caller, outcome, None),
            Op::SettleTimed(caller, outcome, took) => self.settle(caller, outcome, Some(took)),
            Op::Drop(caller) => self.drop_permit(caller),
            Op::Renew(caller) => {
                if let Some(permit) = &self.permits[caller] {
                    permit.renew();
                    self.model.renew(caller);
                }
            }
            Op::Tick(millis) => self.tick(millis),
            Op::ForceOpen => {
                self.breaker.force_open();
                self.model.force(State::ForcedOpen);
            }
            Op::ForceClosed => {
                self.breaker.force_closed();
                self.model.force(State::ForcedClosed);
            }
            Op::Reset => {
                self.breaker.reset();
                self.model.force(State::Closed);
            }
            Op::SharedOpen(left) => {
                self.breaker.shared_open(ms(left));
                self.model.shared_open(left);
            }
            Op::Look => assert_eq!(self.breaker.snapshot(), self.breaker.snapshot()),
        }
    }

    fn check(&self) {
        let (s, m) = (self.breaker.snapshot(), &self.model);
        assert_eq!((s.state, s.epoch, s.trips), (m.state, m.epoch, m.trips));
        assert_eq!((s.probe_successes, s.consecutive), (m.ok, m.consecutive));
        assert_eq!((s.window.calls, s.window.failed, s.window.slow), m.window());
        assert_eq!(s.probes_in_flight, m.leases.len());
        assert_eq!((s.stale_total, s.lost_probe_total), (m.stale, m.lost));
        let left = |until: u64| ms(until.saturating_sub(m.now));
        assert_eq!(s.throttled_for.unwrap_or_default(), left(m.not_before));
        if s.state == State::Open {
            assert_eq!(s.probe_in, Some(left(m.until.max(m.not_before))));
            assert!(left(m.until) <= ms(COOLDOWN_CAP), "I6: open for longer than the cap");
        }
        assert!(m.live_probes() <= m.probes && s.probes_in_flight <= m.probes, "I1: too many probes");
        assert!(s.window.failed <= s.window.calls && s.window.slow <= s.window.calls, "I9");
        assert!(!m.is_stuck(), "I5: stuck");
        let told = self.told.lock().unwrap();
        assert!(told.iter().map(|t| t.epoch).eq(2..=s.epoch), "I7: each transition once, in order");
        assert!(told.windows(2).all(|pair| pair[0].to == pair[1].from), "I7: without a gap");
    }
}

/// What verdicts decide: everything but totals, places of probes and the present time.
fn decided(s: &Snapshot) -> impl PartialEq + std::fmt::Debug {
    (s.state, s.epoch, s.trips, s.probe_successes, s.consecutive, s.window, s.reason)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_breaker_does_what_the_table_says(
        probes in 1_u32..=2,
        successes in 1_u32..=2,
        watch_slow in any::<bool>(),
        ops in prop::collection::vec(op(), 1..120),
        vanish in any::<bool>(),
    ) {
        let mut world = World::new(probes, successes, watch_slow);
        for op in ops {
            world.apply(op);
            world.check();
        }
        // I5 for the breaker itself, not only for its reference: with everybody gone, or hanging for ever.
        if !matches!(world.model.state, State::ForcedOpen | State::ForcedClosed) {
            if vanish {
                world.permits = [const { None }; CALLERS];
            }
            world.clock.advance(ms(COOLDOWN_CAP + LEASE));
            prop_assert!(world.breaker.try_acquire().is_ok());
        }
    }

    /// I14 and I5 with a clock that steps back and jumps ahead by up to a day: nothing is cleared by stepping back,
    /// and nothing gets stuck.
    #[test]
    fn a_wild_clock_neither_clears_nor_sticks(
        steps in prop::collection::vec((op(), prop_oneof![Just(0_i64), -90_000_000_i64..90_000_000, -3_000_i64..3_000]), 1..80),
    ) {
        let mut world = World::new(1, 1, true);
        // Further than all steps together go back: before a breaker was made, its time stands still.
        world.clock.advance(Duration::from_secs(100 * 86_400));
        for (op, step) in steps {
            let before = world.breaker.snapshot();
            match step {
                0.. => world.clock.advance(ms(step.unsigned_abs())),
                _ => world.clock.rewind(ms(step.unsigned_abs())),
            }
            let after = world.breaker.snapshot();
            prop_assert_eq!(before.epoch, after.epoch, "time alone is no transition");
            if step < 0 {
                prop_assert!(after.window.calls >= before.window.calls);
            }
            wild(&mut world, op);
            let s = world.breaker.snapshot();
            if step < 0 && s.epoch == before.epoch {
                prop_assert!(s.window.calls >= before.window.calls, "I14: recording after a step back clears nothing");
            }
            prop_assert!(s.probes_in_flight <= 1);
            prop_assert!(s.window.failed <= s.window.calls && s.window.slow <= s.window.calls);
            let told = world.told.lock().unwrap();
            prop_assert!(told.iter().map(|t| t.epoch).eq(2..=s.epoch));
        }
        if !matches!(world.breaker.snapshot().state, State::ForcedOpen | State::ForcedClosed) {
            // Throttle, cooldown and lease may each be found to lie too far ahead, when a call comes to it; from
            // then on its own limit holds again.
            let admitted = (0..4).any(|_| {
                world.clock.advance(ms(COOLDOWN_CAP + LEASE + 1));
                world.breaker.try_acquire().is_ok()
            });
            prop_assert!(admitted);
        }
    }
}

/// The same operations without a reference, which knows no wild clocks.
fn wild(world: &mut World, op: Op) {
    match op {
        Op::Acquire(caller) | Op::AcquirePatiently(caller) => {
            if world.permits[caller].is_none() {
                world.permits[caller] = world.breaker.try_acquire().ok();
            }
        }
        Op::Settle(caller, outcome) | Op::SettleTimed(caller, outcome, _) => {
            if let Some(permit) = world.permits[caller].take() {
                permit.settle(outcome);
            }
        }
        Op::Drop(caller) => world.permits[caller] = None,
        Op::Renew(caller) => world.permits[caller].iter().for_each(Permit::renew),
        Op::Tick(_) | Op::Look => {}
        Op::ForceOpen => world.breaker.force_open(),
        Op::ForceClosed => world.breaker.force_closed(),
        Op::Reset => world.breaker.reset(),
        Op::SharedOpen(left) => world.breaker.shared_open(ms(left)),
    }
}
