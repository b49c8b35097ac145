//! Canaries and pools: who is asked first, and who of several.

use std::{collections::BTreeMap, future::IntoFuture};

use backstop_core::{
    Chain, ChainErrorKind, ConfigError, CredentialId, FailureKind, FailurePolicy, ProviderError, ProviderExt,
    Registry, Skip, Target,
    breaker::{BreakerKey, State},
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, secs};

fn answering(name: &'static str) -> MockProvider {
    MockProvider::new(name, [Step::text(name)])
}

fn with_canary(share: f64, seed: u64) -> Chain {
    ["first", "second", "third"]
        .into_iter()
        .fold(Chain::builder(), |chain, name| chain.target(answering(name).model("m")))
        .canary("third/m", share)
        .seed(seed)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_share_of_the_calls_begins_at_the_canary_and_reports_say_so() {
    let chain = with_canary(0.1, 1);
    let mut served = 0;
    for _ in 0..1000 {
        let answer = chain.complete("x").await.unwrap();
        assert_eq!(answer.report.canary, answer.value == "third");
        assert!(!answer.report.used_fallback, "the call began there");
        served += usize::from(answer.report.canary);
    }
    assert!((70..=130).contains(&served), "{served} of 1000");
    assert_eq!(with_canary(1.0, 1).complete("x").await.unwrap().value, "third");
    assert_eq!(with_canary(0.0, 1).complete("x").await.unwrap().value, "first");
    let shown = with_canary(1.0, 1).complete("x").await.unwrap().report.to_string();
    assert!(shown.contains("(canary): served by third/m"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn which_calls_are_canaries_follows_from_the_seed() {
    let run = |seed| async move {
        let (chain, mut canaries) = (with_canary(0.3, seed), Vec::new());
        for _ in 0..64 {
            canaries.push(chain.complete("x").await.unwrap().report.canary);
        }
        canaries
    };
    assert_eq!(run(5).await, run(5).await);
    assert_ne!(run(5).await, run(6).await);
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_fails_is_followed_by_the_others_in_their_order() {
    let failing = |name| MockProvider::new(name, [Step::fail(FailureKind::Filtered)]);
    let chain = Chain::builder()
        .target(failing("first").model("m"))
        .target(answering("second").model("m"))
        .target(failing("third").model("m"))
        .canary("third/m", 1.0)
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    let targets: Vec<_> = course(&answer.report).into_iter().map(|(target, _)| target).collect();
    assert_eq!(targets, ["third/m", "first/m", "second/m"]);
    assert!(answer.report.canary && answer.report.used_fallback);
    let only = chain.complete("x").only("second/m").await.unwrap();
    assert!(!only.report.canary);
    let first = chain.complete("x").no_failover().await.unwrap_err();
    assert_eq!(course(first.report()), [("first/m", Some(FailureKind::Filtered))]);
}

#[test]
fn targets_of_one_name_are_refused_and_the_error_says_how_to_rename() {
    let twice = || Chain::builder().target(answering("p").model("m"));
    let error = twice().target(answering("p").model("m")).build().unwrap_err();
    assert!(matches!(&error, ConfigError::DuplicateTarget { name } if name == "p/m"), "{error}");
    assert!(error.to_string().contains("`p/m`") && error.to_string().contains(".named("), "{error}");
    assert!(twice().target(answering("q").model("n").named("p/m")).build().is_err());
    assert!(twice().target(answering("p").model("m").named("again")).build().is_ok());
    assert!(twice().target(answering("p").model("n")).build().is_ok());
}

/// One endpoint, several keys.
fn keys(steps: impl IntoIterator<Item = Vec<Step>>) -> Vec<MockProvider> {
    let member = |(number, steps): (usize, Vec<Step>)| {
        let provider = MockProvider::new("vendor", steps);
        provider.set_credential(CredentialId(number as u64 + 1));
        provider
    };
    steps.into_iter().enumerate().map(member).collect()
}

fn pool(members: &[MockProvider]) -> Target {
    Target::pool(members.iter().cloned(), "m").retries(0)
}

#[tokio::test(start_paused = true)]
async fn members_share_the_load_and_take_turns() {
    let slow = || vec![Step::text("hi").after(secs(5))];
    let members = keys([slow(), slow(), slow()]);
    let chain = Chain::builder().target(pool(&members)).build().unwrap();
    let calls: Vec<_> = (0..9).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    tokio::task::yield_now().await;
    assert_eq!(members.iter().map(MockProvider::in_flight).collect::<Vec<_>>(), [3, 3, 3]);
    let mut by_member = BTreeMap::new();
    for call in calls {
        let report = call.await.unwrap().unwrap().report;
        assert_eq!(report.served_by(), Some("vendor/m"));
        *by_member.entry(report.attempts[0].member).or_insert(0) += 1;
    }
    assert_eq!(by_member, BTreeMap::from([(Some(1), 3), (Some(2), 3), (Some(3), 3)]));
    for _ in 0..9 {
        chain.complete("x").await.unwrap();
    }
    assert_eq!(members.iter().map(MockProvider::calls).collect::<Vec<_>>(), [6, 6, 6]);
}

#[tokio::test(start_paused = true)]
async fn the_least_loaded_member_is_asked() {
    let members = keys([vec![Step::text("a").after(secs(60))], vec![Step::text("b").after(secs(1))]]);
    let chain = Chain::builder().target(pool(&members).timeout(secs(90))).build().unwrap();
    let busy: Vec<_> = (0..2).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    tokio::time::sleep(secs(2)).await;
    for _ in 0..5 {
        chain.complete("x").await.unwrap();
    }
    assert_eq!(members.iter().map(MockProvider::calls).collect::<Vec<_>>(), [1, 6]);
    drop(busy);
}

#[tokio::test(start_paused = true)]
async fn a_keys_rate_limit_leads_to_the_other_key_before_the_next_target() {
    let limited =
        Step::error(|| ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(30)));
    let empty = Step::fail(FailureKind::QuotaExhausted);
    let members = keys([vec![limited], vec![empty], vec![Step::text("third key")]]);
    let chain =
        Chain::builder().target(pool(&members)).target(answering("spare").model("m")).build().unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.used_fallback), ("third key", false));
    let members_asked: Vec<_> = answer.report.attempts.iter().map(|attempt| attempt.member).collect();
    assert_eq!(members_asked, [Some(1), Some(2), Some(3)]);
    assert!(answer.report.to_string().contains("vendor/m#2"), "{}", answer.report);
    for _ in 0..5 {
        assert_eq!(chain.complete("x").await.unwrap().report.attempts[0].member, Some(3));
    }
    assert_eq!(members.iter().map(MockProvider::calls).collect::<Vec<_>>(), [1, 1, 6]);
    let closed: Vec<_> =
        chain.snapshot().targets[0].members.iter().map(|it| it.closed_for.is_some()).collect();
    assert_eq!(closed, [true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_key_surfaces_once_and_is_left_out_afterwards() {
    let members = keys([vec![Step::fail(FailureKind::Authentication)], vec![Step::text("good key")]]);
    let chain = Chain::builder().target(pool(&members)).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Authentication));
    for _ in 0..4 {
        assert_eq!(chain.complete("x").await.unwrap().value, "good key");
    }
    assert_eq!(members[0].calls(), 1);

    let members = keys([vec![Step::fail(FailureKind::Authentication)], vec![Step::text("good key")]]);
    let chain =
        Chain::builder().target(pool(&members)).policy(FailurePolicy::keep_serving()).build().unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.has_alert()), ("good key", true));
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_one_endpoint_leads_to_the_other_and_of_a_shared_one_to_the_next_target() {
    let down = || Step::fail(FailureKind::Overloaded);
    let registry = Registry::new();
    let endpoints = [
        MockProvider::new("vendor", [down()]).at("vendor@east"),
        MockProvider::new("vendor", [Step::text("west")]).at("vendor@west"),
    ];
    let chain = Chain::builder()
        .target(pool(&endpoints))
        .target(answering("spare").model("m"))
        .breakers(&registry)
        .build()
        .unwrap();
    for _ in 0..20 {
        assert_eq!(chain.complete("x").await.unwrap().value, "west");
    }
    assert_eq!(endpoints[0].calls(), 5, "then its breaker is open");
    let state = |instance| registry.breaker(&BreakerKey::new(instance, "m")).snapshot().state;
    assert_eq!((state("vendor@east"), state("vendor@west")), (State::Open, State::Closed));

    let members = keys([vec![down()], vec![down()]]);
    let chain =
        Chain::builder().target(pool(&members)).target(answering("spare").model("m")).build().unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(
        (answer.value.as_str(), answer.report.attempts.len()),
        ("spare", 2),
        "one endpoint, one outage"
    );
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_to_another_member_than_the_one_that_failed() {
    let members = keys([vec![Step::fail(FailureKind::Server), Step::text("one")], vec![Step::text("two")]]);
    let chain = Chain::builder().target(pool(&members).retries(1)).build().unwrap();
    let retrying = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    // It would be the first one's turn again after this.
    assert_eq!(chain.complete("x").await.unwrap().value, "two");
    let report = retrying.await.unwrap().unwrap().report;
    let asked: Vec<_> = report.attempts.iter().map(|attempt| attempt.member).collect();
    assert_eq!(asked, [Some(1), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_asked_for_again_from_another_member() {
    let members = keys([vec![Step::refusal("no")], vec![Step::text("never")]]);
    let chain =
        Chain::builder().target(pool(&members)).target(answering("spare").model("m")).build().unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "spare");
}

#[tokio::test(start_paused = true)]
async fn a_pool_of_which_all_are_closed_is_skipped_until_the_first_is_back() {
    let limited = |seconds| {
        Step::error(move || {
            ProviderError::new(FailureKind::RateLimited, "wait").with_retry_after(secs(seconds))
        })
    };
    let members = keys([vec![limited(50)], vec![limited(20), Step::text("back")]]);
    let chain = Chain::builder().target(pool(&members)).build().unwrap();
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!((error.report().attempts.len(), error.retry_in()), (2, Some(secs(20))));
    let error = chain.complete("x").await.unwrap_err();
    assert_eq!(error.report().skips[0].reason, Skip::GateClosed { retry_in: secs(20) });
    tokio::time::advance(secs(20)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "back");
}
