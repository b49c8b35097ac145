//! The circuit breaker beside those of recloser, failsafe and tower-resilience:
//! `cargo run --release --bin breaker [rounds]`.
//!
//! They do not do the same. Only ours limits and leases probes, ignores late results, and takes a time that the
//! caller already has; recloser and failsafe's consecutive policy read no clock while closed; tower-resilience's
//! figures contain a tower service and a boxed future.

use std::future::{Ready, poll_fn, ready};
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use backstop_core::breaker::{Breaker, BreakerConfig, BreakerKey, Outcome};
use backstop_peer_benches::{Case, compare};
use failsafe::{CircuitBreaker as _, Config, backoff, failure_policy};
use recloser::Recloser;
use tower::{Layer, Service};
use tower_resilience_circuitbreaker::CircuitBreakerLayer;

const HOUR: Duration = Duration::from_secs(3600);
const CALLS: u64 = 100_000;
const OURS: &str = "backstop";
const OURS_TIMED: &str = "backstop, time passed in";
const RECLOSER: &str = "recloser";
const FAILSAFE: &str = "failsafe default";
const FAILSAFE_CONSECUTIVE: &str = "failsafe consecutive";
const TOWER: &str = "tower-resilience count";

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(40);
    for threads in [1, 2] {
        compare("closed: admit and succeed", threads, rounds, &closed(), &[FAILSAFE, TOWER]);
        compare("open: reject", threads, rounds, &open(), &[RECLOSER]);
    }
}

fn closed() -> Vec<Case> {
    let failsafe = Config::new().build();
    let policy = failure_policy::consecutive_failures(5, backoff::constant(HOUR));
    let consecutive = Config::new().failure_policy(policy).build();
    let recloser = Recloser::custom().open_wait(HOUR).build();
    let tower = CircuitBreakerLayer::builder().build().expect("its defaults are valid");
    vec![
        admit(OURS, ours()),
        admit_timed(OURS_TIMED, ours()),
        Case::new(FAILSAFE, CALLS, move |n| {
            (0..n).for_each(|_| _ = black_box(failsafe.call(succeed).is_ok()))
        }),
        Case::new(FAILSAFE_CONSECUTIVE, CALLS, move |n| {
            (0..n).for_each(|_| _ = black_box(consecutive.call(succeed).is_ok()));
        }),
        Case::new(RECLOSER, CALLS, move |n| {
            (0..n).for_each(|_| _ = black_box(recloser.call(succeed).is_ok()))
        }),
        service(TOWER, CALLS / 4, tower.layer(Nothing)),
    ]
}

fn open() -> Vec<Case> {
    let policy = failure_policy::consecutive_failures(1, backoff::constant(HOUR));
    let failsafe = Config::new().failure_policy(policy).build();
    let _ = failsafe.call(|| Err::<(), ()>(()));
    assert!(matches!(failsafe.call(succeed), Err(failsafe::Error::Rejected)));

    let recloser = Recloser::custom().closed_len(1).open_wait(HOUR).build();
    for _ in 0..3 {
        let _ = recloser.call(|| Err::<(), ()>(()));
    }
    assert!(matches!(recloser.call(succeed), Err(recloser::Error::Rejected)));

    let layer = CircuitBreakerLayer::builder().wait_duration_in_open(HOUR).build().expect("valid");
    let tower = layer.layer(Nothing);
    runtime().block_on(tower.force_open());

    vec![
        reject(OURS, ours_open()),
        reject_timed(OURS_TIMED, ours_open()),
        Case::new(FAILSAFE_CONSECUTIVE, CALLS, move |n| {
            (0..n).for_each(|_| _ = black_box(failsafe.call(succeed).is_ok()));
        }),
        Case::new(RECLOSER, CALLS, move |n| {
            (0..n).for_each(|_| _ = black_box(recloser.call(succeed).is_ok()))
        }),
        service(TOWER, CALLS / 40, tower),
    ]
}

// Results are looked at and not moved through `black_box`, which would measure the copying of a large result.
fn succeed() -> Result<(), ()> {
    Ok(())
}

fn ours() -> Arc<Breaker> {
    Breaker::builder(BreakerKey::new("provider", "model")).build()
}

fn ours_open() -> Arc<Breaker> {
    let config = BreakerConfig::builder().cooldown(HOUR).cooldown_cap(HOUR).build().expect("valid");
    let breaker = Breaker::builder(BreakerKey::new("provider", "model")).config(config).build();
    while let Ok(permit) = breaker.try_acquire() {
        permit.settle(Outcome::FAILURE);
    }
    assert!(breaker.try_acquire().is_err());
    breaker
}

fn admit(name: &'static str, breaker: Arc<Breaker>) -> Case {
    Case::new(name, CALLS, move |n| {
        for _ in 0..n {
            breaker.try_acquire().expect("closed").settle(black_box(Outcome::Success));
        }
    })
}

fn admit_timed(name: &'static str, breaker: Arc<Breaker>) -> Case {
    let now = Instant::now();
    Case::new(name, CALLS, move |n| {
        for _ in 0..n {
            let now = black_box(now);
            breaker.try_acquire_at(now).expect("closed").settle_at(black_box(Outcome::Success), now);
        }
    })
}

fn reject(name: &'static str, breaker: Arc<Breaker>) -> Case {
    Case::new(name, CALLS, move |n| {
        for _ in 0..n {
            assert!(!black_box(breaker.try_acquire().is_ok()));
        }
    })
}

fn reject_timed(name: &'static str, breaker: Arc<Breaker>) -> Case {
    let now = Instant::now();
    Case::new(name, CALLS, move |n| {
        for _ in 0..n {
            assert!(!black_box(breaker.try_acquire_at(black_box(now)).is_ok()));
        }
    })
}

/// A service that does nothing.
#[derive(Clone)]
struct Nothing;

impl Service<()> for Nothing {
    type Response = ();
    type Error = ();
    type Future = Ready<Result<(), ()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(Ok(()))
    }
}

fn service<S>(name: &'static str, calls: u64, service: S) -> Case
where
    S: Service<(), Response = ()> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    Case::new(name, calls, move |n| {
        let mut service = service.clone();
        runtime().block_on(async {
            for _ in 0..n {
                let _ = poll_fn(|cx| service.poll_ready(cx)).await;
                let _ = black_box(service.call(()).await.is_ok());
            }
        });
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime without IO")
}
