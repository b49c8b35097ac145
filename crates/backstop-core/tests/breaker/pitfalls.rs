//! What circuit breakers have been known to get wrong, one behaviour per test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use backstop_core::breaker::{
    Breaker, BreakerConfig, BreakerConfigBuilder, BreakerKey, Outcome, Permit, Reason, RejectReason, State,
    Transition,
};
use backstop_core::clock::ManualClock;

use super::support::{SECOND, breaker, fail, probe, rejection, state};

const DAY: Duration = Duration::from_secs(86_400);

/// Open, and its cooldown is over.
fn probe_due(config: BreakerConfigBuilder) -> (Arc<Breaker>, ManualClock) {
    let (breaker, clock) = breaker(config);
    fail(&breaker, 5);
    clock.advance(45 * SECOND);
    (breaker, clock)
}

/// `threads` threads acquire at the same moment and keep what they get.
fn herd(breaker: &Arc<Breaker>, threads: usize) -> Vec<Permit> {
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        let herd: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..50).filter_map(|_| breaker.try_acquire().ok()).collect::<Vec<_>>()
                })
            })
            .collect();
        herd.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn hear(breaker: &Breaker) -> Arc<Mutex<Vec<Transition>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    breaker.subscribe(move |transition| hear.lock().unwrap().push(transition.clone())).keep();
    heard
}

// ---- places of probes

#[test]
fn a_cancelled_probe_frees_its_place_and_counts_as_nothing() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder());
    for _ in 0..100 {
        drop(probe(&breaker));
        assert_eq!((state(&breaker), breaker.snapshot().trips), (State::HalfOpen, 1));
    }
    probe(&breaker).settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[tokio::test]
async fn a_probe_whose_future_is_dropped_frees_its_place() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder());
    let permit = probe(&breaker);
    let call = tokio::spawn(async move {
        let _permit = permit;
        std::future::pending::<()>().await;
    });
    tokio::task::yield_now().await;
    assert!(breaker.try_acquire().is_err());
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert!(breaker.try_acquire().unwrap().is_probe());
}

#[test]
fn a_panicking_probe_frees_its_place() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder());
    let permit = probe(&breaker);
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let _permit = permit;
        panic!("in the middle of a probe");
    }));
    assert!(panicked.is_err());
    probe(&breaker).settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_hung_probe_loses_its_place_after_its_lease() {
    let (breaker, clock) = probe_due(BreakerConfig::builder().probe_lease(40 * SECOND));
    let mut hung = Vec::new();
    for lost in 0..10 {
        hung.push(probe(&breaker));
        assert_eq!(breaker.snapshot().lost_probe_total, lost);
        clock.advance(39 * SECOND);
        assert_eq!(rejection(&breaker), (RejectReason::Probing, Some(SECOND)));
        clock.advance(SECOND);
    }
    let last = probe(&breaker);
    for late in hung {
        late.settle(Outcome::FAILURE);
    }
    assert_eq!((state(&breaker), breaker.snapshot().stale_total), (State::HalfOpen, 10));
    assert!(breaker.try_acquire().is_err(), "a lost probe does not free its successor's place");
    last.settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_lease_that_was_set_by_hand_is_not_made_to_fit() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder().probe_lease(2 * SECOND));
    breaker.fit_timeout(120 * SECOND);
    assert_eq!(breaker.probe_lease(), 2 * SECOND);
}

#[test]
fn a_patient_targets_probe_keeps_its_place_for_as_long_as_an_attempt_may_take() {
    let (breaker, clock) = probe_due(BreakerConfig::builder());
    breaker.fit_timeout(120 * SECOND);
    breaker.fit_timeout(5 * SECOND);
    let patient = probe(&breaker);
    clock.advance(120 * SECOND);
    assert_eq!(rejection(&breaker), (RejectReason::Probing, Some(10 * SECOND)));
    patient.settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_probe_that_ends_in_a_callers_mistake_neither_closes_nor_reopens() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder());
    probe(&breaker).settle(Outcome::Neutral);
    assert_eq!(state(&breaker), State::HalfOpen);
    probe(&breaker).settle(Outcome::Throttled { retry_after: Some(SECOND) });
    assert_eq!(state(&breaker), State::HalfOpen);
}

#[test]
fn a_probe_is_not_spent_by_looking() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder());
    for _ in 0..10 {
        assert_eq!(breaker.snapshot().probe_in, Some(Duration::ZERO));
    }
    assert!(breaker.try_acquire().unwrap().is_probe());
}

// ---- too many probes

#[test]
fn sixty_four_threads_at_cooldown_end_make_one_probe() {
    for _ in 0..20 {
        let (breaker, _clock) = probe_due(BreakerConfig::builder());
        let permits = herd(&breaker, 64);
        assert_eq!(permits.len(), 1);
        assert!(permits[0].is_probe());
        assert_eq!(breaker.snapshot().rejected_total, 64 * 50 - 1);
    }
}

#[test]
fn as_many_probes_as_configured_and_no_more() {
    for _ in 0..20 {
        let (breaker, _clock) = probe_due(BreakerConfig::builder().probes(3).successes_to_close(3));
        let permits = herd(&breaker, 64);
        assert_eq!(permits.len(), 3);
        permits.into_iter().for_each(|permit| permit.settle(Outcome::Success));
        assert_eq!(state(&breaker), State::Closed);
    }
}

#[test]
fn one_failing_probe_of_several_reopens_and_silences_the_others() {
    let (breaker, _clock) = probe_due(BreakerConfig::builder().probes(3).successes_to_close(2));
    let [first, second, third] = [(); 3].map(|()| probe(&breaker));
    first.settle(Outcome::Success);
    second.settle(Outcome::FAILURE);
    assert_eq!(state(&breaker), State::Open);
    third.settle(Outcome::Success);
    assert_eq!((state(&breaker), breaker.snapshot().stale_total), (State::Open, 1));
}

#[test]
fn breakers_that_opened_together_do_not_probe_together() {
    let clock = ManualClock::new();
    let waits: std::collections::BTreeSet<Duration> = (0..50)
        .map(|seed| {
            let key = BreakerKey::new("provider", "model");
            let breaker = Breaker::builder(key).clock(clock.clone()).seed(seed).build();
            fail(&breaker, 5);
            breaker.try_acquire().unwrap_err().retry_in.unwrap()
        })
        .collect();
    assert!(waits.len() > 45, "spread over {} moments", waits.len());
    assert!(waits.iter().all(|wait| (45 * SECOND..=54 * SECOND).contains(wait)), "never shorter than 45 s");
    assert!(*waits.last().unwrap() - *waits.first().unwrap() > 5 * SECOND);
}

// ---- the wrong result

#[test]
fn a_late_success_of_before_the_outage_does_not_close_it() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    let late: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    fail(&breaker, 5);
    let mut late = late.into_iter();
    late.next().unwrap().settle(Outcome::Success);
    assert_eq!(state(&breaker), State::Open);
    clock.advance(45 * SECOND);
    let probe = probe(&breaker);
    late.next().unwrap().settle(Outcome::Success);
    assert_eq!(state(&breaker), State::HalfOpen);
    probe.settle(Outcome::FAILURE);
    late.next().unwrap().settle(Outcome::Success);
    assert_eq!((state(&breaker), breaker.snapshot().stale_total), (State::Open, 3));
}

#[test]
fn a_late_failure_or_cancellation_of_before_the_outage_does_not_reopen_it() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    let (failing, cancelled) = (breaker.try_acquire().unwrap(), breaker.try_acquire().unwrap());
    let many: Vec<_> = (0..50).map(|_| breaker.try_acquire().unwrap()).collect();
    fail(&breaker, 5);
    clock.advance(45 * SECOND);
    let probe = probe(&breaker);
    failing.settle(Outcome::FAILURE);
    drop(cancelled);
    assert_eq!(state(&breaker), State::HalfOpen);
    assert!(breaker.try_acquire().is_err(), "nor does it free the probe's place");
    probe.settle(Outcome::Success);
    many.into_iter().for_each(|permit| permit.settle(Outcome::FAILURE));
    assert_eq!((state(&breaker), breaker.snapshot().window.failed), (State::Closed, 0));
}

#[test]
fn a_burst_of_failures_opens_it_once_and_does_not_extend_the_deadline() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    let heard = hear(&breaker);
    let burst: Vec<_> = (0..64).map(|_| breaker.try_acquire().unwrap()).collect();
    let (first, rest) = burst.into_iter().enumerate().partition::<Vec<_>, _>(|(n, _)| *n < 32);
    std::thread::scope(|scope| {
        for (_, permit) in first {
            scope.spawn(move || permit.settle(Outcome::FAILURE));
        }
    });
    clock.advance(20 * SECOND);
    rest.into_iter().for_each(|(_, permit)| permit.settle(Outcome::FAILURE));
    assert_eq!(heard.lock().unwrap().len(), 1);
    assert_eq!(breaker.snapshot().trips, 1);
    assert_eq!(rejection(&breaker), (RejectReason::Open, Some(25 * SECOND)));
}

// ---- what counts

#[test]
fn a_callers_mistake_is_neither_a_failure_nor_a_success() {
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    for _ in 0..100 {
        breaker.try_acquire().unwrap().settle(Outcome::Neutral);
    }
    assert_eq!(breaker.snapshot().window.calls, 0);
    fail(&breaker, 4);
    breaker.try_acquire().unwrap().settle(Outcome::Neutral);
    fail(&breaker, 1);
    assert_eq!(state(&breaker), State::Open, "a 400 in between does not begin the count anew");
}

#[test]
fn cancelled_calls_do_not_open_it() {
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    for _ in 0..100 {
        drop(breaker.try_acquire().unwrap());
    }
    assert_eq!((state(&breaker), breaker.snapshot().window.calls), (State::Closed, 0));
}

#[test]
fn being_throttled_is_no_outage_and_ends_when_the_provider_said() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for _ in 0..20 {
        breaker.try_acquire().unwrap().settle(Outcome::Throttled { retry_after: Some(10 * SECOND) });
        assert_eq!(
            rejection(&breaker),
            (RejectReason::Throttled, Some(10 * SECOND)),
            "the wait does not grow"
        );
        clock.advance(10 * SECOND);
    }
    assert_eq!((state(&breaker), breaker.snapshot().trips), (State::Closed, 0));
}

#[test]
fn an_absurd_wait_is_capped_and_the_later_of_two_deadlines_stays() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    let [first, second, third] = [(); 3].map(|()| breaker.try_acquire().unwrap());
    first.settle(Outcome::Throttled { retry_after: Some(20 * SECOND) });
    clock.advance(SECOND);
    second.settle(Outcome::Throttled { retry_after: Some(SECOND) });
    assert_eq!(rejection(&breaker).1, Some(19 * SECOND));
    third.settle(Outcome::Throttled { retry_after: Some(30 * DAY) });
    assert_eq!(rejection(&breaker).1, Some(60 * SECOND));
}

#[tokio::test]
async fn a_stream_is_judged_at_its_end_and_keeps_its_lease_while_it_flows() {
    let (breaker, clock) = probe_due(BreakerConfig::builder().probe_lease(40 * SECOND));
    let permit = probe(&breaker);
    for _ in 0..10 {
        clock.advance(39 * SECOND);
        permit.renew();
        assert_eq!(rejection(&breaker), (RejectReason::Probing, Some(40 * SECOND)));
    }
    let breaks_off = tokio::spawn(async move { permit.settle(Outcome::FAILURE) });
    breaks_off.await.unwrap();
    assert_eq!(breaker.snapshot().reason, Some(Reason::ProbeFailed), "hundreds of tokens are no success");
}

// ---- windows

#[test]
fn the_first_failure_after_a_silence_opens_nothing() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for _ in 0..20 {
        breaker.try_acquire().unwrap().settle(Outcome::Success);
    }
    clock.advance(600 * SECOND);
    fail(&breaker, 1);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_trickle_of_failures_opens_it_though_no_window_ever_holds_enough_calls() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for _ in 0..5 {
        assert!(breaker.snapshot().window.calls < 10);
        fail(&breaker, 1);
        clock.advance(50 * SECOND);
    }
    assert_eq!(breaker.snapshot().reason, Some(Reason::Consecutive { failures: 5 }));
}

#[test]
fn failures_days_apart_are_not_in_a_row() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for _ in 0..50 {
        fail(&breaker, 1);
        clock.advance(DAY);
    }
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_call_that_takes_longer_than_the_window_counts_all_the_same() {
    let (breaker, clock) =
        breaker(BreakerConfig::builder().without_consecutive_failures().window(10 * SECOND));
    let slow: Vec<_> = (0..10).map(|_| breaker.try_acquire().unwrap()).collect();
    clock.advance(90 * SECOND);
    slow.into_iter().for_each(|permit| permit.settle(Outcome::FAILURE));
    assert_eq!(state(&breaker), State::Open);
}

#[test]
fn a_window_slides_however_many_calls_it_held() {
    let (breaker, clock) = breaker(BreakerConfig::builder().without_consecutive_failures());
    for _ in 0..100_000 {
        breaker.try_acquire().unwrap().settle(Outcome::Success);
    }
    assert_eq!(breaker.snapshot().window.calls, 100_000);
    clock.advance(60 * SECOND);
    fail(&breaker, 10);
    assert_eq!(state(&breaker), State::Open, "past successes do not weigh for ever");
}

// ---- cooldowns

#[test]
fn flapping_makes_the_cooldown_grow_up_to_its_cap_and_steadiness_forgets_it() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for cooldown in [45, 90, 180, 300, 300, 300] {
        fail(&breaker, 5);
        assert_eq!(rejection(&breaker).1, Some(cooldown * SECOND));
        clock.advance(cooldown * SECOND);
        probe(&breaker).settle(Outcome::Success);
        clock.advance(44 * SECOND);
    }
    clock.advance(300 * SECOND);
    fail(&breaker, 5);
    assert_eq!(rejection(&breaker).1, Some(45 * SECOND));
}

// ---- clocks

#[test]
fn a_clock_that_goes_back_does_not_hold_it_open() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    clock.advance(10 * DAY);
    fail(&breaker, 5);
    clock.rewind(DAY);
    assert_eq!(rejection(&breaker), (RejectReason::Open, Some(300 * SECOND + Duration::from_nanos(1))));
    clock.advance(301 * SECOND);
    let hung = probe(&breaker);
    clock.rewind(DAY);
    assert_eq!(rejection(&breaker), (RejectReason::Probing, Some(40 * SECOND)));
    clock.advance(40 * SECOND);
    probe(&breaker).settle(Outcome::Success);
    drop(hung);
    assert_eq!(state(&breaker), State::Closed);
}

#[test]
fn a_clock_that_goes_back_clears_no_counts() {
    let (breaker, clock) = breaker(BreakerConfig::builder().without_consecutive_failures());
    clock.advance(10 * DAY);
    fail(&breaker, 5);
    for _ in 0..4 {
        clock.rewind(DAY);
        fail(&breaker, 1);
    }
    assert_eq!(breaker.snapshot().window.failed, 9);
    clock.rewind(SECOND);
    fail(&breaker, 1);
    assert_eq!(state(&breaker), State::Open);
}

#[test]
fn a_jump_of_a_day_ends_cooldowns_leases_and_windows_and_nothing_else() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    fail(&breaker, 4);
    clock.advance(DAY);
    assert_eq!(breaker.snapshot().window.calls, 0);
    fail(&breaker, 4);
    assert_eq!(state(&breaker), State::Closed, "failures of yesterday are not in a row with today's");
    fail(&breaker, 1);
    clock.advance(DAY);
    let hung = probe(&breaker);
    clock.advance(DAY);
    probe(&breaker).settle(Outcome::Success);
    hung.settle(Outcome::FAILURE);
    assert_eq!(state(&breaker), State::Closed);
}

// ---- listeners

#[test]
fn a_listener_may_panic_block_nobody_and_call_the_breaker() {
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    breaker.subscribe(|_| panic!("a listener's own trouble")).keep();
    let inside = Arc::downgrade(&breaker);
    breaker
        .subscribe(move |transition| {
            let breaker = inside.upgrade().unwrap();
            assert_eq!(breaker.snapshot().epoch, transition.epoch, "not under the lock");
            if transition.to == State::Open {
                breaker.force_closed();
            }
        })
        .keep();
    let heard = hear(&breaker);
    fail(&breaker, 5);
    let states: Vec<_> = heard.lock().unwrap().iter().map(|transition| transition.to).collect();
    assert_eq!(states, [State::Open, State::ForcedClosed], "in order, though one caused the other");
}

#[test]
fn transitions_of_many_threads_are_told_once_and_in_order() {
    let (breaker, _clock) = breaker(BreakerConfig::builder());
    let heard = hear(&breaker);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let breaker = &breaker;
            scope.spawn(move || {
                for _ in 0..100 {
                    match thread % 3 {
                        0 => breaker.reset(),
                        1 => breaker.force_open(),
                        _ => fail_if_admitted(breaker),
                    }
                }
            });
        }
    });
    let heard = heard.lock().unwrap();
    assert!(heard.iter().map(|transition| transition.epoch).eq(2..=breaker.snapshot().epoch));
    assert!(heard.windows(2).all(|pair| pair[0].to == pair[1].from));
}

fn fail_if_admitted(breaker: &Arc<Breaker>) {
    if let Ok(permit) = breaker.try_acquire() {
        permit.settle(Outcome::FAILURE);
    }
}

#[test]
fn shared_news_repeated_does_not_postpone_the_probe() {
    let (breaker, clock) = breaker(BreakerConfig::builder());
    for left in (1..=30).rev() {
        breaker.shared_open(left * SECOND);
        clock.advance(SECOND);
    }
    assert!(breaker.try_acquire().unwrap().is_probe());
    let (breaker, clock) = probe_due(BreakerConfig::builder());
    breaker.shared_open(DAY);
    assert_eq!(rejection(&breaker).1, Some(300 * SECOND), "nobody can shut another out for a day");
    assert_eq!(breaker.snapshot().trips, 1, "and its own cooldown does not grow");
    clock.advance(10 * SECOND);
    breaker.shared_close();
    assert_eq!(state(&breaker), State::Open, "it finds out for itself");
    clock.advance(SECOND);
    assert!(breaker.try_acquire().unwrap().is_probe());
}
