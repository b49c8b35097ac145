//! Places and limits are given back, whatever becomes of the call that had them.

use std::future::IntoFuture;

use backstop::{
    Skip, Stage,
    mock::{MockProvider, Step},
    prelude::*,
};
use backstop_tests::{millis, secs};
use tokio::time::{Instant, advance, timeout};

use crate::support::{chain, saying};

#[tokio::test(start_paused = true)]
async fn cc_01_a_dropped_call_gives_its_place_back() {
    let provider = MockProvider::new("a", [Step::hang(Stage::Body), Step::text("ok")]);
    let chain = chain([provider.clone().model("m").max_in_flight(1).queue_wait(secs(0))]);
    assert!(timeout(secs(1), chain.complete("x")).await.is_err());
    assert_eq!(chain.snapshot().targets[0].in_flight, 0);
    assert_eq!(chain.complete("x").await.unwrap().value, "ok");
}

#[tokio::test(start_paused = true)]
async fn cc_02_timeouts_give_their_places_back() {
    let script = vec![Step::hang(Stage::Headers); 4];
    let provider = MockProvider::new("a", script.into_iter().chain([Step::text("ok")]));
    let target = provider.clone().model("m").max_in_flight(2).timeout(millis(100));
    let chain = Chain::builder().target(target).deadline(secs(2)).build().unwrap();
    let calls: Vec<_> = (0..4).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.report().failures().count(), 1, "{error}");
    }
    let target = &chain.snapshot().targets[0];
    assert_eq!((target.in_flight, target.queued, target.most_in_flight), (0, 0, 2));
    assert_eq!(chain.complete("x").await.unwrap().value, "ok");
}

#[tokio::test(start_paused = true)]
async fn cc_03_waiting_for_a_place_is_part_of_the_callers_time() {
    let slow = MockProvider::new("slow", [Step::text("slow").after(secs(2))]);
    // How long it may wait, and by when it must have gone on.
    for (wait, most) in [(secs(30), millis(200)), (secs(0), millis(0))] {
        let target = slow.clone().model("m").max_in_flight(1).queue_wait(wait);
        let chain = chain([target, saying("spare", "spare").model("m")]);
        let holder = tokio::spawn(chain.complete("x").into_future());
        while chain.snapshot().targets[0].in_flight == 0 {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        let answer = chain.complete("x").deadline(millis(200)).await.unwrap();
        assert_eq!(answer.value, "spare");
        assert!(began.elapsed() <= most, "{:?}", began.elapsed());
        assert!(matches!(answer.report.skips[0].reason, Skip::BulkheadFull { .. }), "{}", answer.report);
        holder.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn cc_04_a_call_that_was_turned_away_has_used_up_nothing() {
    let provider = MockProvider::new("a", [Step::text("ok").after(secs(5))]);
    // One request in ten seconds, one at a time.
    let target = provider.clone().model("m").requests_per_minute(6).max_in_flight(1).queue_wait(secs(0));
    let chain = chain([target]);
    let first = tokio::spawn(chain.complete("x").into_future());
    advance(secs(1)).await;
    let error = chain.complete("x").await.unwrap_err();
    assert!(matches!(error.report().skips[0].reason, Skip::BulkheadFull { .. }), "{error:?}");
    first.await.unwrap().unwrap();
    advance(secs(6)).await;
    assert_eq!(chain.complete("x").await.unwrap().value, "ok");
    assert_eq!(provider.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn cc_04_what_one_limit_gave_is_given_back_when_another_says_no() {
    let usage = Usage::new(50, 0);
    let provider = MockProvider::new("a", [Step::text("ok").usage(usage)]);
    // One request in ten seconds, and two hundred tokens at once.
    let target =
        provider.clone().model("m").requests_per_minute(6).tokens_per_minute(1_200).queue_wait(secs(0));
    let chain = chain([target]);
    let request = Request::new("x").max_tokens(49);
    chain.complete(request.clone()).await.unwrap();
    for _ in 0..3 {
        let error = chain.complete(request.clone()).await.unwrap_err();
        assert!(matches!(error.report().skips[0].reason, Skip::OwnRateLimit { .. }), "{error:?}");
    }
    advance(millis(9_900)).await;
    for _ in 0..3 {
        chain.complete(request.clone()).await.unwrap_err();
    }
    advance(millis(100)).await;
    let large = Request::new("x").max_tokens(199);
    assert_eq!(chain.complete(large).await.unwrap().value, "ok", "the bucket is full again");
}
