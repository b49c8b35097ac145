//! What chains share through a registry.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use backstop_core::breaker::{BreakerConfig, BreakerKey, Outcome, State};
use backstop_core::clock::{Clock, ManualClock};
use backstop_core::error::FailureKind;
use backstop_core::provider::CredentialId;
use backstop_core::registry::{CredentialKey, GateKey, Registry};

use super::support::{SECOND, fail};

fn registry(max_keys: usize) -> (Registry, ManualClock) {
    let clock = ManualClock::new();
    let config = BreakerConfig::builder().jitter(0.0).build().unwrap();
    (Registry::builder().config(config).clock(clock.clone()).max_keys(max_keys).build(), clock)
}

fn key(group: usize) -> BreakerKey {
    BreakerKey::new("openai@https://api.openai.com", format!("model-{group}"))
}

fn credential(id: u64) -> CredentialKey {
    CredentialKey::new("openai@https://api.openai.com", CredentialId(id))
}

#[test]
fn two_chains_see_one_outage() {
    let (registry, _clock) = registry(8);
    let (first, second) = (registry.breaker(&key(1)), registry.clone().breaker(&key(1)));
    fail(&first, 5);
    assert!(second.try_acquire().is_err());
    assert!(registry.breaker(&key(2)).try_acquire().is_ok(), "another model is not down with it");
}

#[test]
fn the_first_to_ask_sets_the_config() {
    let (registry, _clock) = registry(8);
    let strict = BreakerConfig::builder().consecutive_failures(1).build().unwrap();
    let first = registry.breaker_with(&key(1), &strict);
    let second = registry.breaker(&key(1));
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(second.config(), &strict);
}

#[test]
fn eviction_takes_idle_breakers_that_nobody_holds() {
    let (registry, clock) = registry(4);
    let held = registry.breaker(&key(0));
    fail(&registry.breaker(&key(1)), 5);
    registry.breaker(&key(2)).try_acquire().unwrap().settle(Outcome::Success);
    let permit = registry.breaker(&key(3)).try_acquire().unwrap();

    let unlisted = registry.breaker(&key(4));
    fail(&unlisted, 5);
    assert_eq!(
        registry.snapshot().unlisted_total,
        1,
        "one is held, one open, one has counts, one a live permit"
    );
    assert!(registry.breaker(&key(4)).try_acquire().is_ok(), "what found no room is not shared");

    clock.advance(61 * SECOND);
    drop(permit);
    registry.breaker(&key(5));
    registry.breaker(&key(6));
    let snapshot = registry.snapshot();
    let groups: Vec<_> = snapshot.breakers.iter().map(|breaker| breaker.key.group.as_ref()).collect();
    assert_eq!(groups, ["model-0", "model-1", "model-5", "model-6"]);
    assert!(Arc::ptr_eq(&held, &registry.breaker(&key(0))), "a chain's breaker stays the registry's");
}

#[test]
fn one_listener_hears_of_all_breakers_present_and_future() {
    let (registry, _clock) = registry(8);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let early = registry.breaker(&key(1));
    let subscription =
        registry.subscribe(move |transition| hear.lock().unwrap().push(transition.to_string()));
    fail(&early, 5);
    registry.breaker(&key(2)).force_open();
    drop(subscription);
    early.reset();
    assert_eq!(
        *heard.lock().unwrap(),
        [
            "openai@https://api.openai.com/model-1: closed -> open for 45.0s: 5 failures in a row (epoch 2)",
            "openai@https://api.openai.com/model-2: closed -> forced_open: opened by hand (epoch 2)",
        ]
    );
}

#[test]
fn a_rate_limit_closes_one_model_and_an_empty_account_all() {
    let (registry, clock) = registry(8);
    let limited = registry.gate(&GateKey::new(credential(1), "gpt-4o"));
    limited.close_for(20 * SECOND, clock.now());
    let same = registry.gate(&GateKey::new(credential(1), "gpt-4o"));
    assert_eq!(same.remaining(clock.now()), Some(20 * SECOND));
    for other in [GateKey::new(credential(1), "gpt-4o-mini"), GateKey::new(credential(2), "gpt-4o")] {
        assert_eq!(registry.gate(&other).remaining(clock.now()), None);
    }

    registry.credential(&credential(1)).gate().close_for(Duration::MAX, clock.now());
    assert_eq!(registry.credential(&credential(1)).gate().remaining(clock.now()), Some(15 * 60 * SECOND));
    assert_eq!(registry.credential(&credential(2)).gate().remaining(clock.now()), None);
}

#[test]
fn a_mended_credential_is_used_again() {
    let (registry, clock) = registry(8);
    let gate = registry.gate(&GateKey::new(credential(7), "gpt-4o"));
    gate.close_for(20 * SECOND, clock.now());
    let bad = registry.credential(&credential(7));
    assert!(bad.latch().latch(FailureKind::Authentication));
    let other = registry.credential(&credential(8));
    other.latch().latch(FailureKind::Permission);

    assert!(registry.reset_credential(&credential(7)));
    assert_eq!((bad.latch().get(), gate.remaining(clock.now())), (None, None));
    assert_eq!(other.latch().get(), Some(FailureKind::Permission));
    assert!(!registry.reset_credential(&credential(7)), "nothing left to reset");
}

#[test]
fn latched_credentials_and_closed_gates_are_not_evicted() {
    let (registry, clock) = registry(2);
    registry.credential(&credential(1)).latch().latch(FailureKind::Authentication);
    registry.credential(&credential(2)).gate().close_for(SECOND, clock.now());
    registry.credential(&credential(3));
    assert_eq!(registry.snapshot().unlisted_total, 1);
    clock.advance(SECOND);
    registry.credential(&credential(3));
    assert_eq!(registry.snapshot().unlisted_total, 1, "the gate has opened, so there is room");
    assert_eq!(registry.credential(&credential(1)).latch().get(), Some(FailureKind::Authentication));
}

#[test]
fn a_snapshot_is_plain_data_without_secrets() {
    let (registry, clock) = registry(8);
    fail(&registry.breaker(&key(1)), 5);
    registry.breaker(&key(0));
    registry.gate(&GateKey::new(credential(1), "gpt-4o")).close_for(20 * SECOND, clock.now());
    registry.credential(&credential(255)).latch().latch(FailureKind::Authentication);
    registry.credential(&credential(2));
    let snapshot = serde_json::to_value(registry.snapshot()).unwrap();
    assert_eq!(snapshot["breakers"][0]["state"], "closed");
    assert_eq!(snapshot["breakers"][1]["state"], "open");
    assert_eq!(snapshot["gates"][0]["closed_for"]["secs"], 20);
    assert_eq!(snapshot["gates"][0]["key"]["model"], "gpt-4o");
    assert_eq!(snapshot["credentials"].as_array().unwrap().len(), 1, "healthy ones are not listed");
    assert_eq!(snapshot["credentials"][0]["key"]["credential"], "00000000000000ff");
    assert_eq!(snapshot["credentials"][0]["latched"], "authentication");
}

#[tokio::test(start_paused = true)]
async fn by_default_time_is_tokios_and_can_be_paused() {
    let registry = Registry::new();
    let breaker = registry.breaker(&key(1));
    fail(&breaker, 5);
    tokio::time::advance(55 * SECOND).await;
    assert_eq!(breaker.snapshot().state, State::Open);
    assert!(breaker.try_acquire().unwrap().is_probe(), "45 s and a fifth of jitter have passed");
}
