//! Who is out of time, and who is to blame for it.

use backstop::{
    Stage,
    mock::server::{End, Reply},
    prelude::*,
};
use backstop_core::breaker::State;
use backstop_mock::{MockProvider, Step};
use backstop_tests::{course, millis, secs};
use tokio::time::Instant;

use crate::support::{answering, at, breaker, chain, registry, server, state};

#[tokio::test]
async fn to_01_a_body_that_stalls_is_a_timeout_like_any_other() {
    let stalls = Reply::text("a long answer").content_length(5_000).cut_at(6, End::Hang);
    let (first, second) = (server([stalls]).await, answering("served").await);
    let answer =
        chain([at(&first, "first").timeout(millis(150)), at(&second, "second")]).complete("x").await.unwrap();
    let attempt = &answer.report.attempts[0];
    assert_eq!((attempt.failure(), attempt.stage), (Some(FailureKind::Timeout), Some(Stage::Body)));
    assert!(attempt.latency >= millis(150) && attempt.latency < millis(1_500), "{:?}", attempt.latency);
    assert_eq!(answer.value, "served");
}

#[tokio::test]
async fn to_06_a_body_that_drips_does_not_renew_its_time() {
    let drips = Reply::text("a long answer, byte by byte").slow_body(1, millis(20));
    let (first, second) = (server([drips]).await, answering("served").await);
    let answer =
        chain([at(&first, "first").timeout(millis(200)), at(&second, "second")]).complete("x").await.unwrap();
    let attempt = &answer.report.attempts[0];
    assert_eq!((attempt.failure(), attempt.stage), (Some(FailureKind::Timeout), Some(Stage::Body)));
    assert!(attempt.latency >= millis(200) && attempt.latency < millis(1_500), "{:?}", attempt.latency);
}

#[tokio::test(start_paused = true)]
async fn to_07_callers_in_a_hurry_do_not_open_a_breaker() {
    let provider = MockProvider::new("a", [Step::text("ok").after(millis(20))]);
    let registry = registry(3, 60);
    let chain = Chain::builder().target(provider.clone().model("m")).breakers(&registry).build().unwrap();
    for _ in 0..10 {
        let error = chain.complete("x").deadline(millis(1)).await.unwrap_err();
        assert_eq!(error.kind(), ChainErrorKind::Deadline);
    }
    assert_eq!((state(&registry, "a"), breaker(&registry, "a").window.failed), (State::Closed, 0));
    assert_eq!(chain.complete("x").await.unwrap().value, "ok");
}

#[tokio::test(start_paused = true)]
async fn to_08_a_hanging_target_leaves_the_next_its_time() {
    let first = MockProvider::new("first", [Step::hang(Stage::Headers)]);
    // Its own timeout ends it in time, or would use up the deadline.
    for timeout in [millis(1_000), secs(30)] {
        let second = MockProvider::new("second", [Step::text("served").after(millis(400))]);
        let target = first.clone().model("m").timeout(timeout).retries(2);
        let chain = chain([target, second.model("m")]);
        let began = Instant::now();
        let answer = chain.complete("x").deadline(secs(2)).await.unwrap();
        assert_eq!(answer.value, "served");
        assert!(began.elapsed() <= secs(2), "{:?}", began.elapsed());
        assert_eq!(course(&answer.report), [("first/m", Some(FailureKind::Timeout)), ("second/m", None)]);
    }
}
