//! What is asked again at the same target, how often, and after what wait.

use std::{future::IntoFuture, sync::Mutex, time::Duration};

use async_trait::async_trait;
use backstop::{
    Disposition, Skip,
    mock::server::{ApiError, Completion, Reply},
    prelude::*,
};
use backstop_tests::{millis, secs};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{answering, at, at_gemini, bodies, chain, hits, kinds, over, server};

#[tokio::test]
async fn rt_01_an_empty_account_is_not_waited_for() {
    let broke =
        ApiError::status(429).kind("insufficient_quota").code("insufficient_quota").message("No money.");
    let (first, second) = (server([broke]).await, answering("served").await);
    let answer = chain([at(&first, "first").retries(3), at(&second, "second")]).complete("x").await.unwrap();
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::QuotaExhausted], 1));
}

/// The wait before the second attempt, which must be what was asked for and up to a tenth more.
fn assert_waited(report: &Report, asked: Duration) {
    let [_, again] = report.attempts.as_slice() else { panic!("{report}") };
    assert!(again.wait >= asked && again.wait <= asked.mul_f64(1.1), "{:?} for {asked:?}", again.wait);
    assert!(again.at >= asked, "{report}");
}

#[tokio::test]
async fn rt_03_a_wait_is_understood_in_each_of_the_places_where_servers_put_it() {
    let limited = || Reply::from(ApiError::rate_limited());
    for (reply, asked) in [
        (limited().header("retry-after-ms", "120"), 120),
        (limited().retry_after("0.15"), 150),
        (limited().header("retry-after-ms", "130").retry_after("9"), 130),
    ] {
        let first = server([reply, Reply::text("ok")]).await;
        let answer = over(&[&first]).complete("x").await.unwrap();
        assert_waited(&answer.report, millis(asked));
    }
    let in_the_body = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.14s"}]);
    let limited = ApiError::rate_limited().field("details", in_the_body);
    let first = server([Reply::from(limited), Reply::text("ok")]).await;
    let answer = chain([at_gemini(&first, "first")]).complete("x").await.unwrap();
    assert_waited(&answer.report, millis(140));
}

#[tokio::test]
async fn rt_04_a_wait_of_half_an_hour_is_not_waited() {
    let first = server([Reply::from(ApiError::rate_limited()).retry_after(1800)]).await;
    let second = answering("served").await;
    let chain = over(&[&first, &second]);
    let answer = chain.complete("x").deadline(secs(5)).await.unwrap();
    assert!(answer.report.attempts.iter().all(|attempt| attempt.wait.is_zero()), "{}", answer.report);
    let answer = chain.complete("x").await.unwrap();
    let Skip::GateClosed { retry_in } = answer.report.skips[0].reason else { panic!("{}", answer.report) };
    assert!(retry_in > secs(800) && retry_in <= secs(900), "{retry_in:?}");
    assert_eq!(hits(&first), 1);
}

#[tokio::test]
async fn rt_07_nonsense_in_a_header_is_no_wait() {
    let nonsense =
        ["-3", "soon", "1e999", "999999999999999999999999", "NaN", "inf", "", "2, 3", "\u{e9}", "0x1f", "--"];
    for value in nonsense {
        for name in ["retry-after", "retry-after-ms"] {
            let first =
                server([Reply::from(ApiError::rate_limited()).header(name, value), Reply::text("ok")]).await;
            let answer = over(&[&first]).complete("x").await.unwrap();
            assert_eq!(answer.value, "ok", "{name}: {value}");
            assert!(answer.report.attempts[1].wait <= millis(1), "{name}: {value}\n{}", answer.report);
        }
    }
}

#[tokio::test]
async fn rt_08_reset_times_with_units_are_read_whole_and_the_longest_counts() {
    let limited = Reply::from(ApiError::rate_limited())
        .header("x-ratelimit-reset-requests", "6m0s")
        .header("x-ratelimit-reset-tokens", "90ms");
    let (first, second) = (server([limited]).await, answering("served").await);
    let chain = over(&[&first, &second]);
    chain.complete("x").await.unwrap();
    assert_eq!(hits(&first), 1, "six minutes are not waited");
    let answer = chain.complete("x").await.unwrap();
    let Skip::GateClosed { retry_in } = answer.report.skips[0].reason else { panic!("{}", answer.report) };
    assert!(retry_in > secs(350) && retry_in <= secs(360), "{retry_in:?}");
}

#[tokio::test]
async fn rt_10_one_owner_of_retries_so_that_counts_are_exact() {
    // Failure, requests with two retries allowed: overload is retried once at most, whatever is allowed.
    let cases: [(Reply, usize); 5] = [
        (ApiError::server().into(), 3),
        (Reply::html(502, "<h1>Bad Gateway</h1>"), 3),
        (Reply::redirect(307, "/v1/elsewhere"), 3),
        (Reply::from(ApiError::server()).close_unannounced(), 3),
        (ApiError::overloaded().into(), 2),
    ];
    for (index, (reply, requests)) in cases.into_iter().enumerate() {
        let first = server([reply]).await;
        let error = chain([at(&first, "first").retries(2)]).complete("x").await.unwrap_err();
        assert_eq!(hits(&first), requests, "case {index}\n{}", error.report());
        assert_eq!(error.report().attempts.len(), requests, "case {index}");
    }
}

#[tokio::test]
async fn rt_12_a_server_can_forbid_a_retry_but_only_the_policy_orders_one() {
    let forbidden = Reply::from(ApiError::server()).header("x-should-retry", "false");
    let (first, second) = (server([forbidden]).await, answering("served").await);
    over(&[&first, &second]).complete("x").await.unwrap();
    assert_eq!(hits(&first), 1);

    let wanted = Reply::from(ApiError::invalid_request()).header("x-should-retry", "true");
    let first = server([wanted.clone(), Reply::text("ok")]).await;
    let error = over(&[&first]).complete("x").await.unwrap_err();
    assert_eq!((error.kind(), hits(&first)), (ChainErrorKind::GaveUp(FailureKind::InvalidRequest), 1));

    let first = server([wanted, Reply::text("ok")]).await;
    let policy = FailurePolicy::default().on(FailureKind::InvalidRequest, Disposition::Retry);
    let answer = over(&[&first]).complete("x").policy(policy).await.unwrap();
    assert_eq!((answer.value.as_str(), hits(&first)), ("ok", 2));
}

#[tokio::test]
async fn rt_13_an_answer_that_was_cut_off_is_asked_for_again_with_more_room_or_not_at_all() {
    let cut = || server([Completion::truncated("{\"a\": \"xy")]);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let (first, second) = (cut().await, answering("{\"a\": \"z\"}").await);
    let request = Request::new("x").max_tokens(50);
    let chain_ = chain([at(&first, "first").retries(3), at(&second, "second")]);
    let answer = chain_.extract_value(schema.clone(), request.clone()).await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::Truncated, FailureKind::Truncated]);
    let limits: Vec<_> = bodies(&first).iter().map(|body| body["max_tokens"].as_u64()).collect();
    assert_eq!(limits, [Some(50), Some(100)]);

    let (first, second) = (cut().await, answering("{\"a\": \"z\"}").await);
    let full = at(&first, "first").retries(3).max_output_tokens(50);
    chain([full, at(&second, "second")]).extract_value(schema, request).await.unwrap();
    assert_eq!(hits(&first), 1, "the same limit would cut at the same place");
}

#[tokio::test]
async fn rt_14_a_refusal_is_not_asked_again() {
    let (first, second) = (server([Reply::refusal("Not this.")]).await, answering("{\"a\": 1}").await);
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let eager = at(&first, "first").retries(5).reasks(5);
    let answer = chain([eager, at(&second, "second")]).extract_value(schema, "x").await.unwrap();
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::Refused], 1));
}

/// Answers once nobody has asked for a second; asking earlier begins the second anew.
struct Touchy {
    open_from: Mutex<Option<Instant>>,
    hits: Mutex<Vec<Instant>>,
}

#[async_trait]
impl Provider for Touchy {
    fn name(&self) -> &str {
        "touchy"
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        let now = Instant::now();
        self.hits.lock().unwrap().push(now);
        let mut open_from = self.open_from.lock().unwrap();
        if open_from.is_some_and(|from| now >= from) {
            return Ok(Response::new("ok"));
        }
        *open_from = Some(now + secs(1));
        Err(ProviderError::new(FailureKind::RateLimited, "too fast").with_retry_after(secs(1)))
    }
}

#[tokio::test(start_paused = true)]
async fn rt_15_after_the_first_429_nobody_asks_until_its_wait_is_over() {
    let touchy = std::sync::Arc::new(Touchy { open_from: Mutex::default(), hits: Mutex::default() });
    let chain = Chain::builder().target(Target::new(touchy.clone(), "m")).build().unwrap();
    let began = Instant::now();
    let calls = (0..20_u64).map(|number| {
        let call = chain.complete("x").into_future();
        tokio::spawn(async move {
            sleep(millis(number)).await;
            call.await
        })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().unwrap().value, "ok");
    }
    let hits: Vec<Duration> = touchy.hits.lock().unwrap().iter().map(|hit| *hit - began).collect();
    assert_eq!(hits.len(), 21, "{hits:?}");
    assert!(hits[1..].iter().all(|hit| *hit >= secs(1)), "{hits:?}");
    let spread = hits[20] - hits[1];
    assert!(spread >= millis(20), "all at once: {hits:?}");
}
