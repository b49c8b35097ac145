//! The states of a breaker, one behaviour per test.

use std::sync::Arc;
use std::time::Duration;

use backstop_core::breaker::{Breaker, BreakerConfig, Outcome, RejectReason, State};
use backstop_core::clock::{Clock, ManualClock};

use super::support::{SECOND, breaker, fail, probe, rejection, settle, state};

/// Opens it and waits until a probe is due.
fn probe_due(breaker: &Arc<Breaker>, clock: &ManualClock) {
    while breaker.try_acquire().map(|permit| permit.settle(Outcome::FAILURE)).is_ok() {}
    clock.advance(breaker.snapshot().probe_in.unwrap());
}

#[test]
fn five_failures_in_a_row_open_it_for_the_cooldown() {
    let (breaker, clock) = breaker(BreakerConfig::builder().without_failure_rate());
    fail(&breaker, 4);
    settle(&breaker, [Outcome::Success]);
    fail(&breaker, 4);
    assert_eq!(state(&breaker), State::Closed, "a success in between begins the count anew");
    fail(&breaker, 1);
    assert_eq!(rejection(&breaker), (RejectReason::Open, Some(45 * SECOND)));
    clock.advance(44 * SECOND);
    assert_eq!(rejection(&breaker), (RejectReason::Open, Some(SECOND)));
    clock.advance(SECOND);
    probe(&breaker).settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn half_of_the_windows_calls_open_it() {
    let (breaker, clock) = breaker(BreakerConfig::builder().without_consecutive_failures());
    for _ in 0..5 {
        settle(&breaker, [Outcome::Success, Outcome::Success, Outcome::FAILURE]);
        clock.advance(SECOND);
    }
    fail(&breaker, 4);
    assert_eq!(state(&breaker), State::Closed, "9 of 19");
    settle(&breaker, [Outcome::Success]);
    fail(&breaker, 1);
    assert_eq!(state(&breaker), State::Closed, "10 of 21");
    fail(&breaker, 1);
    assert_eq!(state(&breaker), State::Open, "11 of 22");
}

#[test]
fn a_retry_after_lengthens_the_cooldown_up_to_the_cap() {
    for (hint, open_for) in [(10, 45), (120, 120), (86_400, 300)] {
        let (breaker, _clock) = breaker(BreakerConfig::builder());
        fail(&breaker, 4);
        settle(&breaker, [Outcome::Failure { retry_after: Some(hint * SECOND) }]);
        assert_eq!(rejection(&breaker), (RejectReason::Open, Some(open_for * SECOND)));
    }
}

#[test]
fn a_probe_in_flight_keeps_others_out_and_says_for_how_long() {
    let (breaker, clock) = breaker(BreakerConfig::builder().probe_lease(30 * SECOND));
    probe_due(&breaker, &clock);
    let permit = probe(&breaker);
    clock.advance(10 * SECOND);
    assert_eq!(rejection(&breaker), (RejectReason::Probing, Some(20 * SECOND)));
    permit.settle(Outcome::FAILURE);
    assert_eq!(rejection(&breaker), (RejectReason::Open, Some(90 * SECOND)), "the cooldown grows");
}

#[test]
fn several_probes_and_several_successes() {
    let (breaker, clock) = breaker(BreakerConfig::builder().probes(2).successes_to_close(3));
    probe_due(&breaker, &clock);
    let (first, second) = (probe(&breaker), probe(&breaker));
    assert_eq!(rejection(&breaker).0, RejectReason::Probing);
    first.settle(Outcome::Success);
    second.settle(Outcome::Success);
    assert_eq!((state(&breaker), breaker.snapshot().probe_successes), (State::HalfOpen, 2));
    probe(&breaker).settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn slow_calls_open_it_only_if_watched() {
    let slow = |breaker: &Arc<Breaker>, clock: &ManualClock| {
        for _ in 0..10 {
            let permit = breaker.try_acquire().unwrap();
            clock.advance(2 * SECOND);
            permit.settle(Outcome::Success);
        }
    };
    let (unwatched, clock) = breaker(BreakerConfig::builder());
    slow(&unwatched, &clock);
    assert_eq!(state(&unwatched), State::Closed);

    let (watched, clock) = breaker(BreakerConfig::builder().slow_calls(2 * SECOND, 1.0));
    slow(&watched, &clock);
    assert_eq!(state(&watched), State::Open);
    clock.advance(45 * SECOND);
    probe(&watched).settle_timed(Outcome::Success, 2 * SECOND, clock.now());
    assert_eq!(rejection(&watched), (RejectReason::Open, Some(90 * SECOND)), "a slow probe is no recovery");
    clock.advance(90 * SECOND);
    let permit = probe(&watched);
    clock.advance(5 * SECOND);
    permit.settle_timed(Outcome::Success, SECOND, clock.now());
    assert_eq!(state(&watched), State::Closed, "a measured time to first content outranks the total");
}

#[test]
fn forced_states_depend_on_nothing_else() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    breaker.force_open();
    assert_eq!(rejection(&breaker), (RejectReason::Forced, None));
    clock.advance(86_400 * SECOND);
    assert_eq!(rejection(&breaker), (RejectReason::Forced, None));
    breaker.force_closed();
    fail(&breaker, 100);
    settle(&breaker, [Outcome::Throttled { retry_after: None }]);
    assert_eq!(state(&breaker), State::ForcedClosed);
    breaker.reset();
    fail(&breaker, 4);
    assert_eq!(state(&breaker), State::Closed, "nothing of before was counted");
    fail(&breaker, 1);
    breaker.reset();
    assert_eq!(state(&breaker), State::Closed);
    fail(&breaker, 5);
    assert_eq!(rejection(&breaker).1, Some(45 * SECOND), "a reset forgets past trips");
}

#[test]
fn a_snapshot_changes_nothing_and_shows_a_due_probe() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    fail(&breaker, 5);
    clock.advance(60 * SECOND);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.probe_in), (State::Open, Some(Duration::ZERO)));
    assert_eq!(breaker.snapshot(), snapshot);
    let json = serde_json::to_value(&snapshot).unwrap();
    assert_eq!(json["state"], "open");
    assert_eq!(json["reason"]["consecutive"]["failures"], 5);
}

#[test]
fn debug_and_errors_say_what_to_do_and_nothing_else() {
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    assert_eq!(
        format!("{breaker:?}"),
        r#"Breaker { key: BreakerKey { provider: "openai", group: "gpt-4o" }, state: Closed, epoch: 1, .. }"#
    );
    fail(&breaker, 5);
    let message = breaker.try_acquire().unwrap_err().to_string();
    assert_eq!(message, "circuit open: use another target, or try again in 45.0s");
}

#[test]
fn acquiring_with_await_never_waits_without_shared_state() {
    use futures_util::FutureExt;
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    assert!(breaker.acquire().now_or_never().unwrap().is_ok());
}
