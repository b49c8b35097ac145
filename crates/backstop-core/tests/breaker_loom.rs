//! The breaker on every interleaving of two or three threads:
//! `RUSTFLAGS="--cfg backstop_loom" cargo test -p backstop-core --release --test breaker_loom`.
#![cfg(backstop_loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use backstop_core::breaker::{Breaker, BreakerConfig, BreakerKey, Outcome, Permit, State};
use backstop_core::clock::ManualClock;
use loom::thread;

const COOLDOWN: Duration = Duration::from_secs(10);

struct World {
    breaker: Arc<Breaker>,
    start: Instant,
}

/// One failure opens it for 10 s.
fn world() -> World {
    let clock = ManualClock::new();
    let config = BreakerConfig::builder()
        .consecutive_failures(1)
        .without_failure_rate()
        .cooldown(COOLDOWN)
        .jitter(0.0)
        .build()
        .unwrap();
    let start = backstop_core::clock::Clock::now(&clock);
    let breaker = Breaker::builder(BreakerKey::new("p", "m")).config(config).clock(clock).seed(1).build();
    World { breaker, start }
}

/// Open, with its cooldown over.
fn probe_due() -> World {
    let world = world();
    world.breaker.try_acquire_at(world.start).unwrap().settle_at(Outcome::FAILURE, world.start);
    World { start: world.start + COOLDOWN, ..world }
}

fn acquire(breaker: Arc<Breaker>, now: Instant) -> thread::JoinHandle<Option<Permit>> {
    thread::spawn(move || breaker.try_acquire_at(now).ok())
}

/// I1 and I2, on every interleaving of two callers.
#[test]
fn one_of_two_callers_at_cooldown_end_probes() {
    loom::model(|| callers_at_cooldown_end(1));
}

/// The same for three callers, with at most two preemptions: more would take hours.
#[test]
fn one_of_three_callers_at_cooldown_end_probes() {
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = Some(2);
    bounded.check(|| callers_at_cooldown_end(2));
}

fn callers_at_cooldown_end(others: usize) {
    let World { breaker, start } = probe_due();
    let others: Vec<_> = (0..others).map(|_| acquire(Arc::clone(&breaker), start)).collect();
    let own = breaker.try_acquire_at(start).ok();
    let permits: Vec<_> =
        others.into_iter().map(|other| other.join().unwrap()).chain([own]).flatten().collect();
    assert_eq!(permits.len(), 1);
    assert!(permits[0].is_probe());
    assert_eq!(breaker.snapshot().state, State::HalfOpen);
}

/// I3: a failure of a call from before the trip, while the probe succeeds.
#[test]
fn a_late_failure_cannot_spoil_a_recovery() {
    loom::model(|| {
        let world = world();
        let (breaker, start) = (world.breaker, world.start);
        let late = breaker.try_acquire_at(start).unwrap();
        breaker.try_acquire_at(start).unwrap().settle_at(Outcome::FAILURE, start);
        let now = start + COOLDOWN;
        let late = thread::spawn(move || late.settle_at(Outcome::FAILURE, now));
        let probe = breaker.try_acquire_at(now).unwrap();
        assert!(probe.is_probe());
        probe.settle_at(Outcome::Success, now);
        late.join().unwrap();
        let snapshot = breaker.snapshot();
        assert_eq!((snapshot.state, snapshot.epoch), (State::Closed, 4));
        assert_eq!((snapshot.stale_total, snapshot.consecutive), (1, 0));
    });
}

/// I3: a call is admitted while the circuit opens. Whichever epoch it was admitted in, its success closes nothing.
#[test]
fn a_call_admitted_during_the_trip_cannot_close_the_circuit() {
    loom::model(|| {
        let World { breaker, start } = world();
        let failing = breaker.try_acquire_at(start).unwrap();
        let other = {
            let breaker = Arc::clone(&breaker);
            thread::spawn(move || {
                if let Ok(permit) = breaker.try_acquire_at(start) {
                    permit.settle_at(Outcome::Success, start);
                }
            })
        };
        failing.settle_at(Outcome::FAILURE, start);
        other.join().unwrap();
        assert_eq!(breaker.snapshot().state, State::Open);
        assert!(breaker.try_acquire_at(start).is_err());
    });
}

/// I5: the probe vanishes while another call asks. Nobody is shut out afterwards.
#[test]
fn a_vanishing_probe_leaves_its_place() {
    loom::model(|| {
        let World { breaker, start } = probe_due();
        let probe = breaker.try_acquire_at(start).unwrap();
        let other = acquire(Arc::clone(&breaker), start);
        drop(probe);
        let other = other.join().unwrap();
        assert!(breaker.try_acquire_at(start).is_ok() || other.is_some());
        drop(other);
        assert!(breaker.try_acquire_at(start).unwrap().is_probe());
    });
}

/// I5: a probe loses its lease to another call and reports at the same moment; there is never a second one.
#[test]
fn a_lost_probe_and_its_successor_do_not_both_count() {
    loom::model(|| {
        let World { breaker, start } = probe_due();
        let probe = breaker.try_acquire_at(start).unwrap();
        let later = start + breaker.config().probe_lease();
        let other = acquire(Arc::clone(&breaker), later);
        probe.settle_at(Outcome::FAILURE, later);
        let other = other.join().unwrap();
        let snapshot = breaker.snapshot();
        match other {
            // The place was given away first: the verdict came too late.
            Some(permit) => {
                assert!(permit.is_probe());
                assert_eq!((snapshot.state, snapshot.stale_total), (State::HalfOpen, 1));
            }
            // The verdict came first.
            None => assert_eq!((snapshot.state, snapshot.stale_total), (State::Open, 0)),
        }
    });
}

/// I7: two threads cause transitions, and a listener hears of each once and in order.
#[test]
fn transitions_are_told_once_and_in_order() {
    loom::model(|| {
        let World { breaker, .. } = world();
        // Loom's own lock, so that another thread can come between a listener's call and what it does.
        let heard = Arc::new(loom::sync::Mutex::new(Vec::new()));
        let hear = Arc::clone(&heard);
        breaker.subscribe(move |transition| hear.lock().unwrap().push(transition.epoch)).keep();
        let other = {
            let breaker = Arc::clone(&breaker);
            thread::spawn(move || breaker.force_open())
        };
        breaker.reset();
        other.join().unwrap();
        assert_eq!(*heard.lock().unwrap(), [2, 3]);
    });
}
