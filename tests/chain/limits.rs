//! What keeps a target from being asked: its bulkhead, its limits a minute, its switch, its answers to a task.

use std::{future::IntoFuture, sync::Arc};

use backstop_core::{
    Candidate, Chain, ChainErrorKind, ConfigError, FailureKind, ProviderExt, QualityWindows, Rejection, Skip,
    Stage, validator,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{millis, secs};
use tokio::{
    sync::Notify,
    time::{Instant, advance, sleep, timeout},
};

fn spare() -> MockProvider {
    MockProvider::new("spare", [Step::text("spare")])
}

#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_queues_for_a_bounded_time_and_then_fails_over() {
    let gate = Arc::new(Notify::new());
    let local = MockProvider::new("local", [Step::text("local").once_notified(Arc::clone(&gate))]);
    let chain = Chain::builder()
        .target(local.clone().model("m").max_in_flight(2).queue_wait(millis(400)))
        .target(spare().model("m"))
        .build()
        .unwrap();
    let calls: Vec<_> = (0..4).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
    sleep(millis(300)).await;
    let target = chain.snapshot().targets[0].clone();
    assert_eq!((target.in_flight, target.queued, target.max_in_flight), (2, 2, Some(2)));
    gate.notify_one();
    sleep(millis(200)).await;
    gate.notify_waiters();
    let mut served = Vec::new();
    for call in calls {
        let answer = call.await.unwrap().unwrap();
        if let Some(skip) = answer.report.skips.first() {
            assert_eq!(skip.reason, Skip::BulkheadFull { waited: millis(400) });
            assert!(answer.report.to_string().contains("full, waited 400 ms"), "{}", answer.report);
        }
        served.push(answer.value);
    }
    served.sort();
    assert_eq!(served, ["local", "local", "local", "spare"], "one place was freed in time");
    let target = chain.snapshot().targets[0].clone();
    assert_eq!((target.in_flight, target.most_in_flight, target.queued), (0, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn dropped_calls_free_their_places_and_leave_the_queue() {
    let local = MockProvider::new("local", [Step::hang(Stage::Headers), Step::text("hi")]);
    let chain = Chain::builder().target(local.clone().model("m").max_in_flight(1)).build().unwrap();
    let busy = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    assert!(timeout(millis(100), chain.complete("x")).await.is_err());
    assert_eq!(chain.snapshot().targets[0].queued, 0);
    busy.abort();
    assert!(busy.await.unwrap_err().is_cancelled());
    assert_eq!(chain.complete("x").await.unwrap().value, "hi");
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_does_not_fill_the_queue_and_a_permit_is_not_taken_in_it() {
    let local = MockProvider::new("local", [Step::hang(Stage::Headers), Step::fail(FailureKind::Overloaded)]);
    let config = backstop_core::BreakerConfig::builder().consecutive_failures(1).build().unwrap();
    let registry = backstop_core::Registry::builder().config(config).build();
    let target = local.clone().model("m").max_in_flight(1).retries(0).queue_wait(secs(5));
    let chain =
        Chain::builder().target(target).target(spare().model("m")).breakers(&registry).build().unwrap();
    let breaker = registry.breaker(&backstop_core::breaker::BreakerKey::new("local", "m"));
    let busy = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    breaker.force_open();
    let began = Instant::now();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(
        (began.elapsed(), &answer.report.skips[0].reason),
        (secs(0), &Skip::BreakerOpen { retry_in: None })
    );

    // It opens while a call queues: no request goes out.
    breaker.reset();
    let queued = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    breaker.force_open();
    busy.abort();
    assert_eq!(queued.await.unwrap().unwrap().value, "spare");
    assert_eq!(local.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_queue_ends_with_the_time_that_the_call_has() {
    let local = MockProvider::new("local", [Step::hang(Stage::Headers)]);
    let target = local.clone().model("m").max_in_flight(1).queue_wait(secs(60));
    let chain = Chain::builder().target(target).build().unwrap();
    let _busy = tokio::spawn(chain.complete("x").into_future());
    tokio::task::yield_now().await;
    let began = Instant::now();
    let error = chain.complete("x").deadline(secs(2)).await.unwrap_err();
    assert_eq!((began.elapsed(), error.kind()), (secs(2), ChainErrorKind::Deadline));
    assert_eq!(error.report().skips[0].reason, Skip::BulkheadFull { waited: secs(2) });
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_ones_own_spreads_requests_and_fails_over_beyond_its_wait() {
    let slow = MockProvider::new("slow", [Step::text("slow")]);
    let chain = Chain::builder()
        .target(slow.clone().model("m").requests_per_minute(12).queue_wait(secs(6)))
        .target(spare().model("m"))
        .build()
        .unwrap();
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(chain.complete("x").await.unwrap().value, "slow");
    }
    let waited = began.elapsed();
    assert!(waited >= millis(4900) && waited <= millis(5100), "two at once, the third 5 s later: {waited:?}");
    let answer = chain.complete("x").deadline(secs(4)).await.unwrap();
    assert_eq!(answer.value, "spare");
    let Skip::OwnRateLimit { retry_in } = answer.report.skips[0].reason else {
        panic!("{}", answer.report);
    };
    assert!(retry_in > secs(4) && retry_in <= secs(5), "{retry_in:?}");
    assert_eq!(slow.calls(), 3);

    let error = chain.complete("x").deadline(secs(1)).only("slow/m").await.unwrap_err();
    let ChainErrorKind::NoTargetAvailable { retry_in: Some(wait) } = error.kind() else {
        panic!("{error}");
    };
    assert!(wait > secs(4) && wait <= secs(5), "{wait:?}");
}

#[tokio::test(start_paused = true)]
async fn tokens_beyond_the_guess_hold_back_the_calls_that_follow() {
    let usage = backstop_core::Usage::new(100, 500);
    let slow = MockProvider::new("slow", [Step::text("slow").usage(usage)]);
    let chain = Chain::builder()
        .target(slow.clone().model("m").tokens_per_minute(600).queue_wait(secs(0)))
        .target(spare().model("m"))
        .build()
        .unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "slow");
    assert_eq!(chain.complete("x").await.unwrap().value, "spare", "600 tokens are owed, 100 fit at once");
    advance(secs(61)).await;
    let served: Vec<_> =
        [chain.complete("x").await, chain.complete("x").await].map(|answer| answer.unwrap().value).into();
    assert_eq!(served, ["slow", "spare"]);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_switched_off_is_skipped_by_all_clones_until_it_is_on_again() {
    let first = MockProvider::new("first", [Step::text("first")]);
    let chain = Chain::builder().target(first.clone().model("m")).target(spare().model("m")).build().unwrap();
    let clone = chain.clone();
    chain.set_enabled("first/m", false).unwrap();
    let answer = clone.complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), &answer.report.skips[0].reason), ("spare", &Skip::Disabled));
    assert!(answer.report.to_string().contains("switched off"), "{}", answer.report);
    assert!(!clone.snapshot().targets[0].enabled && !clone.snapshot().targets[0].available);
    let error = clone.complete("x").only("first/m").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::NoTargetAvailable { retry_in: None });
    clone.set_enabled("first/m", true).unwrap();
    assert_eq!(chain.complete("x").await.unwrap().value, "first");
    let error = chain.set_enabled("third/m", false).unwrap_err();
    assert!(matches!(error, ConfigError::UnknownTarget { .. }), "{error}");
    assert!(error.to_string().contains("first/m, spare/m"), "{error}");
}

fn windows() -> QualityWindows {
    QualityWindows::on(QualityWindows::settings().min_calls(4).jitter(0.0).build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_target_that_keeps_answering_junk_is_skipped_for_that_task_only() {
    let junk = |seen: &backstop_mock::Seen| seen.last_text().contains("invoice");
    let small = MockProvider::new("small", [Step::text("fine")]).when(junk, Step::refusal("no"));
    let chain = Chain::builder()
        .target(small.clone().model("m"))
        .target(spare().model("m"))
        .quality(windows())
        .build()
        .unwrap();
    for _ in 0..4 {
        assert_eq!(chain.complete("an invoice").task("invoices").await.unwrap().value, "spare");
    }
    let answer = chain.complete("an invoice").task("invoices").await.unwrap();
    assert_eq!(answer.report.skips[0].reason, Skip::Quality { retry_in: Some(secs(300)) });
    assert!(answer.report.to_string().contains("useless answers to this task"), "{}", answer.report);
    assert_eq!(small.calls(), 4);
    let error = chain.complete("an invoice").task("invoices").only("small/m").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::NoTargetAvailable { retry_in: Some(secs(300)) });
    assert_eq!(chain.complete("a letter").task("letters").await.unwrap().value, "fine");
    assert_eq!(chain.complete("a letter").await.unwrap().value, "fine");
    assert!(chain.snapshot().targets[0].available, "the outage breaker knows nothing of it");

    advance(secs(300)).await;
    assert_eq!(chain.complete("a mended prompt").task("invoices").await.unwrap().value, "fine");
    assert_eq!(chain.complete("a mended prompt").task("invoices").await.unwrap().value, "fine");
}

#[tokio::test(start_paused = true)]
async fn a_reask_that_helps_and_failures_that_are_not_the_targets_do_not_count_against_it() {
    let second_time = MockProvider::answering("p", |seen| {
        backstop_core::Response::new(if seen.number == 1 { "seven" } else { "7" })
    });
    let chain = Chain::builder().target(second_time.clone().model("m")).quality(windows()).build().unwrap();
    let number = validator::from_fn(|answer: Candidate<'_>| {
        answer.text().parse::<u8>().map_err(|_| Rejection::not_json("not a number"))
    });
    for _ in 0..20 {
        assert_eq!(chain.call("x", &number).await.unwrap().value, 7);
    }

    let hard = MockProvider::new("p", [Step::fail(FailureKind::InvalidRequest)]);
    let chain = Chain::builder().target(hard.clone().model("m")).quality(windows()).build().unwrap();
    for _ in 0..20 {
        chain.complete("x").await.unwrap_err();
    }
    assert_eq!(hard.calls(), 20);

    let asks = MockProvider::new("p", [Step::text("Please attach the document.")]);
    let chain = Chain::builder().target(asks.clone().model("m")).quality(windows()).build().unwrap();
    let lacks_input = validator::from_fn(|_: Candidate<'_>| -> Result<(), Rejection> {
        Err(Rejection::of(FailureKind::NeedsInput, "asks for a document"))
    });
    for _ in 0..20 {
        chain.call("x", &lacks_input).await.unwrap_err();
    }
    assert_eq!(asks.calls(), 20, "what the caller left out says nothing about the target");
}

#[tokio::test(start_paused = true)]
async fn limits_that_cannot_work_are_config_errors() {
    let target = || spare().model("m");
    let error = |target| Chain::builder().target(target).build().unwrap_err().to_string();
    assert!(error(target().max_in_flight(0)).contains("`max_in_flight` of target spare/m is 0"));
    assert!(error(target().requests_per_minute(0)).contains("`requests_per_minute`"));
    assert!(error(target().tokens_per_minute(0)).contains("`tokens_per_minute`"));
    let floor = backstop_core::AdaptiveTimeout::new().floor(secs(31));
    assert!(error(target().adaptive_timeout(floor)).contains("`adaptive_timeout.floor`"));
    let none: [MockProvider; 0] = [];
    assert!(error(backstop_core::Target::pool(none, "m")).contains("`pool` of target pool/m is empty"));
    assert!(error(target().first_content(secs(0))).contains("`first_content` of target spare/m is 0 s"));
    assert!(error(target().idle(secs(0))).contains("`idle`"));
    let keep = Chain::builder().target(target()).keep_time(1.5).build().unwrap_err().to_string();
    assert!(keep.contains("`keep_time` is 1.5"), "{keep}");
    assert!(Chain::builder().target(target()).canary("nobody", 0.1).build().is_err());
    assert!(Chain::builder().target(target()).canary("spare/m", 2.0).build().is_err());
    let hedge = backstop_core::Hedge::at_quantile(1.0, secs(1));
    assert!(Chain::builder().target(target()).hedge(hedge).build().is_err());
}
