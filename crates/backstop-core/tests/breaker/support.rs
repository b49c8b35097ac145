//! A breaker and what is done to it.

use std::sync::Arc;
use std::time::Duration;

use backstop_core::breaker::{
    Breaker, BreakerConfigBuilder, BreakerKey, Outcome, Permit, RejectReason, State,
};
use backstop_core::clock::ManualClock;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Without jitter.
pub(crate) fn breaker(config: BreakerConfigBuilder) -> (Arc<Breaker>, ManualClock) {
    let clock = ManualClock::new();
    let key = BreakerKey::new("openai", "gpt-4o");
    let config = config.jitter(0.0).build().unwrap();
    (Breaker::builder(key).config(config).clock(clock.clone()).build(), clock)
}

pub(crate) fn settle(breaker: &Arc<Breaker>, outcomes: impl IntoIterator<Item = Outcome>) {
    for outcome in outcomes {
        breaker.try_acquire().unwrap().settle(outcome);
    }
}

pub(crate) fn fail(breaker: &Arc<Breaker>, times: usize) {
    settle(breaker, std::iter::repeat_n(Outcome::FAILURE, times));
}

pub(crate) fn state(breaker: &Breaker) -> State {
    breaker.snapshot().state
}

pub(crate) fn rejection(breaker: &Arc<Breaker>) -> (RejectReason, Option<Duration>) {
    let rejected = breaker.try_acquire().unwrap_err();
    (rejected.reason, rejected.retry_in)
}

pub(crate) fn probe(breaker: &Arc<Breaker>) -> Permit {
    let permit = breaker.try_acquire().unwrap();
    assert!(permit.is_probe());
    permit
}
