//! Breakers of several processes that agree on who probes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use backstop_core::breaker::{
    Admission, Breaker, BreakerConfig, BreakerKey, Evidence, LeaseAnswer, LeaseToken, LeaseVerdict, Outcome,
    RejectReason, SharedState, SharedStatus, State, Transition,
};
use backstop_core::clock::{Clock, ManualClock};

use super::support::SECOND;

/// A store of one lease per key, which never expires by itself.
#[derive(Default)]
struct Store {
    leases: Mutex<HashMap<BreakerKey, LeaseToken>>,
    asked: Mutex<u32>,
    settled: Mutex<Vec<LeaseVerdict>>,
    changed: Mutex<Vec<State>>,
    evidence: Mutex<Vec<Evidence>>,
    attached: Mutex<Vec<Weak<Breaker>>>,
    down: bool,
    panics: bool,
}

#[async_trait]
impl SharedState for Store {
    fn attached(&self, breaker: &Arc<Breaker>) {
        self.attached.lock().unwrap().push(Arc::downgrade(breaker));
    }

    fn status(&self) -> SharedStatus {
        if self.down { SharedStatus::Degraded } else { SharedStatus::Connected }
    }

    async fn lease(&self, key: &BreakerKey, token: LeaseToken, lease: Duration) -> LeaseAnswer {
        *self.asked.lock().unwrap() += 1;
        if self.down {
            return LeaseAnswer::Unknown;
        }
        match *self.leases.lock().unwrap().entry(key.clone()).or_insert(token) {
            holder if holder == token => LeaseAnswer::Granted,
            _ => LeaseAnswer::Refused { wait: lease },
        }
    }

    fn changed(&self, transition: &Transition) {
        assert!(!self.panics, "the store is out of order");
        self.changed.lock().unwrap().push(transition.to);
        self.evidence.lock().unwrap().extend(transition.evidence);
    }

    fn settled(&self, key: &BreakerKey, token: LeaseToken, verdict: LeaseVerdict) {
        assert!(!self.panics, "the store is out of order");
        let mut leases = self.leases.lock().unwrap();
        if leases.get(key) == Some(&token) {
            leases.remove(key);
            self.settled.lock().unwrap().push(verdict);
        }
    }
}

fn process(store: &Arc<Store>, clock: &ManualClock) -> Arc<Breaker> {
    let config = BreakerConfig::builder().jitter(0.0).build().unwrap();
    Breaker::builder(BreakerKey::new("provider", "model"))
        .config(config)
        .clock(clock.clone())
        .shared_state(Arc::clone(store) as Arc<dyn SharedState>)
        .build()
}

/// Two processes that have both opened, with their cooldowns over.
fn two_due(store: Store) -> (Arc<Store>, ManualClock, [Arc<Breaker>; 2]) {
    let (store, clock) = (Arc::new(store), ManualClock::new());
    let both = [process(&store, &clock), process(&store, &clock)];
    for breaker in &both {
        for _ in 0..5 {
            breaker.try_acquire().unwrap().settle(Outcome::FAILURE);
        }
    }
    clock.advance(45 * SECOND);
    (store, clock, both)
}

#[tokio::test]
async fn a_closed_circuit_never_asks_the_store() {
    let store = Arc::new(Store::default());
    let breaker = process(&store, &ManualClock::new());
    for _ in 0..100 {
        breaker.acquire().await.unwrap().settle(Outcome::Success);
    }
    assert_eq!(*store.asked.lock().unwrap(), 0);
}

#[tokio::test]
async fn one_of_two_processes_probes() {
    let (store, clock, [first, second]) = two_due(Store::default());
    let permit = first.acquire().await.unwrap();
    assert!(permit.is_probe());
    let rejected = second.acquire().await.unwrap_err();
    assert_eq!((rejected.reason, rejected.retry_in), (RejectReason::Open, Some(40 * SECOND)));
    permit.settle(Outcome::Success);
    assert_eq!(first.snapshot().state, State::Closed);
    assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Recovered]);
    assert_eq!(*store.changed.lock().unwrap(), [State::Open, State::Open, State::HalfOpen, State::Closed]);

    second.shared_close();
    clock.advance(SECOND);
    second.acquire().await.unwrap().settle(Outcome::FAILURE);
    let failed = LeaseVerdict::Failed { cooldown: second.snapshot().probe_in.unwrap() };
    assert_eq!(store.settled.lock().unwrap().last(), Some(&failed));
}

#[tokio::test]
async fn a_dropped_probe_gives_its_lease_to_the_other_process() {
    let (store, _clock, [first, second]) = two_due(Store::default());
    drop(first.acquire().await.unwrap());
    assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Released]);
    let permit = second.acquire().await.unwrap();
    assert!(permit.is_probe());
    let rejected = first.acquire().await.unwrap_err();
    assert_eq!((rejected.reason, rejected.retry_in), (RejectReason::Probing, Some(40 * SECOND)));
    let asked = *store.asked.lock().unwrap();
    assert!(first.acquire().await.is_err());
    assert_eq!(
        *store.asked.lock().unwrap(),
        asked,
        "it does not ask again before the lease it lost to has ended"
    );
}

#[tokio::test]
async fn a_store_that_is_down_leaves_each_process_to_itself() {
    let (_store, _clock, both) = two_due(Store { down: true, ..Store::default() });
    for breaker in both {
        let permit = breaker.acquire().await.unwrap();
        assert!(permit.is_probe());
        assert!(breaker.acquire().await.is_err(), "one probe, as without a store");
        permit.settle(Outcome::Success);
        assert_eq!(breaker.snapshot().state, State::Closed);
    }
}

#[tokio::test]
async fn a_store_that_panics_hurts_nobody() {
    let (_store, _clock, [first, _]) = two_due(Store { panics: true, ..Store::default() });
    first.acquire().await.unwrap().settle(Outcome::Success);
    assert_eq!(first.snapshot().state, State::Closed);
}

#[test]
fn without_asking_a_probe_is_made_locally() {
    let (store, _clock, [first, second]) = two_due(Store::default());
    assert!(first.try_acquire().unwrap().is_probe());
    assert!(second.try_acquire().unwrap().is_probe());
    assert_eq!(*store.asked.lock().unwrap(), 0);
}

#[test]
fn a_lease_counts_though_a_refusal_overtook_it() {
    let (_store, clock, [breaker, _]) = two_due(Store::default());
    let ask = || match breaker.admit_at(clock.now()) {
        Admission::NeedsLease(request) => request,
        other => panic!("{other:?}"),
    };
    let (granted, refused) = (ask(), ask());
    assert_ne!(granted.token(), refused.token());
    let answer = LeaseAnswer::Refused { wait: 40 * SECOND };
    assert!(refused.answer_at(answer, clock.now()).is_err());
    assert!(granted.answer_at(LeaseAnswer::Granted, clock.now()).unwrap().is_probe());
}

#[tokio::test]
async fn a_lease_that_came_to_nothing_is_given_back() {
    let (store, clock, [breaker, _]) = two_due(Store::default());
    let Admission::NeedsLease(request) = breaker.admit_at(clock.now()) else { panic!() };
    let local = breaker.try_acquire().unwrap();
    let rejected = request.ask().await.unwrap_err();
    assert_eq!(rejected.reason, RejectReason::Probing);
    assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Released]);
    drop(local);

    let Admission::NeedsLease(request) = breaker.admit_at(clock.now()) else { panic!() };
    store.lease(breaker.key(), request.token(), SECOND).await;
    drop(request);
    assert!(store.leases.lock().unwrap().is_empty(), "a dropped call may have been granted one");
}

#[tokio::test]
async fn a_hung_probe_loses_its_lease_with_its_place() {
    let (store, clock, [breaker, _]) = two_due(Store::default());
    let hung = breaker.acquire().await.unwrap();
    clock.advance(40 * SECOND);
    let next = breaker.acquire().await.unwrap();
    assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Released]);
    hung.settle(Outcome::FAILURE);
    assert_eq!(breaker.snapshot().state, State::HalfOpen);
    next.settle(Outcome::Success);
    assert_eq!(breaker.snapshot().state, State::Closed);
}

#[tokio::test]
async fn forced_and_shared_transitions_give_a_lease_back() {
    for act in [Breaker::force_open as fn(&Breaker), |breaker| breaker.shared_open(SECOND), Breaker::reset] {
        let (store, _clock, [breaker, _]) = two_due(Store::default());
        let _probe = breaker.acquire().await.unwrap();
        act(&breaker);
        assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Released]);
    }
}

#[tokio::test]
async fn a_probe_without_an_answer_proves_nothing_to_others() {
    let (store, _clock, [first, second]) = two_due(Store::default());
    first.acquire().await.unwrap().settle(Outcome::NoAnswer);
    assert_eq!(first.snapshot().state, State::Open, "here it is a failure");
    assert_eq!(*store.settled.lock().unwrap(), [LeaseVerdict::Released]);
    assert_eq!(store.evidence.lock().unwrap().last(), Some(&Evidence::Local));
    assert!(second.acquire().await.unwrap().is_probe(), "the other may probe at once");
}

#[tokio::test]
async fn a_row_of_failures_without_answers_is_local_evidence() {
    let (store, clock) = (Arc::new(Store::default()), ManualClock::new());
    let breaker = process(&store, &clock);
    for _ in 0..5 {
        breaker.try_acquire().unwrap().settle(Outcome::NoAnswer);
    }
    assert_eq!(breaker.snapshot().state, State::Open);
    breaker.reset();
    for outcome in
        [Outcome::NoAnswer, Outcome::NoAnswer, Outcome::FAILURE, Outcome::FAILURE, Outcome::FAILURE]
    {
        breaker.try_acquire().unwrap().settle(outcome);
    }
    assert_eq!(*store.evidence.lock().unwrap(), [Evidence::Local, Evidence::Provider]);
    breaker.reset();
    breaker.shared_open(SECOND);
    assert_eq!(store.evidence.lock().unwrap().len(), 2, "what others found is no evidence of this process's");
}

#[test]
fn a_store_knows_its_breakers_and_they_show_how_it_is() {
    for down in [false, true] {
        let (store, clock) = (Arc::new(Store { down, ..Store::default() }), ManualClock::new());
        let breaker = process(&store, &clock);
        let attached = store.attached.lock().unwrap()[0].upgrade().unwrap();
        assert!(Arc::ptr_eq(&attached, &breaker));
        let status = if down { SharedStatus::Degraded } else { SharedStatus::Connected };
        assert_eq!(breaker.snapshot().shared, Some(status));
    }
    let alone = Breaker::builder(BreakerKey::new("provider", "model")).build();
    assert_eq!(alone.snapshot().shared, None);
}
