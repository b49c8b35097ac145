//! What goes wrong, and what it is called.

use std::time::{Duration, SystemTime};

use backstop::{
    FailureKind,
    mock::server::{ApiError, ClosedPort, End, Reply},
    prelude::*,
};
use serde_json::json;

use crate::{
    adapters::{Adapter, Has},
    bench::every,
    problem::Problem,
};

fn kind_of(adapter: &Adapter, problem: Problem) -> FailureKind {
    let odd = adapter.vendor.problems.iter().find(|(of, ..)| *of == problem);
    odd.map_or_else(|| problem.usual_kind(), |(_, kind, _)| *kind)
}

/// A schema must have gone out for a vendor to refuse it.
fn request() -> Request {
    Request::new("x")
        .json_schema("any", json!({ "type": "object", "properties": { "a": { "type": "string" } } }))
}

#[tokio::test]
async fn every_problem_has_its_kind() {
    every(async |bench| {
        for problem in Problem::ALL {
            let error = bench.answers(problem.error()).complete(&request()).await.unwrap_err();
            assert_eq!(error.kind(), kind_of(bench.adapter, problem), "{problem:?}: {error}");
            assert!(error.status().is_some_and(|status| status >= 400), "{problem:?}: {error}");
            assert!(!error.message().is_empty());
            let opened = bench.stream(&request()).await;
            assert_eq!(
                opened.error.map(|error| error.kind()),
                Some(error.kind()),
                "{problem:?}, as a stream"
            );
            assert!(opened.chunks.is_empty());
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_inside_a_success_is_an_error() {
    every(async |bench| {
        for problem in [Problem::RateLimit, Problem::Overloaded, Problem::Server, Problem::ModelNotFound] {
            let reply = Reply::in_band(problem.error());
            let error = bench.answers(reply).complete(&request()).await.unwrap_err();
            let kind = kind_of(bench.adapter, problem);
            assert_eq!(error.kind(), kind, "{problem:?}: {error}");
            let streamed = bench.stream(&request()).await;
            assert_eq!(
                streamed.error.as_ref().map(ProviderError::kind),
                Some(kind),
                "{problem:?}: {streamed:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_wait_that_the_server_names_is_passed_on() {
    every(async |bench| {
        let limited = |wait: &str| Reply::from(ApiError::rate_limited()).retry_after(wait);
        for (wait, seconds) in [("7", 7.0), ("1.5", 1.5)] {
            let error = bench.answered(limited(wait)).await.unwrap_err();
            assert_eq!(error.retry_after(), Some(Duration::from_secs_f64(seconds)), "{wait}");
        }
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
        let wait = bench.answered(limited(&date)).await.unwrap_err().retry_after().unwrap();
        assert!(wait > Duration::from_secs(60) && wait <= Duration::from_secs(91), "{wait:?}");
        for nonsense in ["soon", "-5", "", "0"] {
            let error = bench.answered(limited(nonsense)).await.unwrap_err();
            assert_eq!((error.kind(), error.retry_after()), (FailureKind::RateLimited, None), "{nonsense}");
        }
        let overloaded = Reply::from(ApiError::overloaded()).retry_after(3);
        assert_eq!(bench.answered(overloaded).await.unwrap_err().retry_after(), Some(Duration::from_secs(3)));
    })
    .await;
}

#[tokio::test]
async fn a_wait_in_the_vendors_own_words_is_passed_on() {
    every(async |bench| match bench.adapter.vendor.own_wait {
        Has::Yes(reply) => {
            let error = bench.answered(reply()).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.retry_after()),
                (FailureKind::RateLimited, Some(Duration::from_secs(7)))
            );
        }
        Has::No(why) => {
            let error = bench.answered(ApiError::rate_limited()).await.unwrap_err();
            assert_eq!(error.retry_after(), None, "{why}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_veto_of_the_server_is_passed_on() {
    every(async |bench| {
        for (word, retry) in [("false", Some(false)), ("true", Some(true)), ("perhaps", None)] {
            let reply = Reply::from(ApiError::server()).header("x-should-retry", word);
            assert_eq!(bench.answered(reply).await.unwrap_err().server_retry(), retry, "{word}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_keeps_the_request_id() {
    every(async |bench| {
        let request = Request::new("x");
        bench.answers(Reply::from(ApiError::server()).header("x-request-id", "req-77"));
        let attempt = bench.attempt(&request);
        let error = bench.provider.complete(&attempt).await.unwrap_err();
        let id = error.request_id().map(str::to_owned);
        assert!(id.is_some() || !bench.adapter.vendor.request_id.is_there(), "{error:?}");
        assert_eq!(attempt.progress.take().0, id);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_answer_is_malformed() {
    every(async |bench| {
        let table = [
            ("a login page", Reply::html(200, "<html><body>log in</body></html>")),
            ("nothing", Reply::bytes("application/json", "")),
            ("no JSON", Reply::bytes("application/json", "hello")),
            ("another JSON", Reply::json(&json!({ "of": ["another", "API"] }))),
            ("a list", Reply::json(&json!([]))),
            ("null", Reply::json(&json!(null))),
            ("no HTTP", Reply::garbage("SSH-2.0-OpenSSH\r\n\r\n")),
            ("half a body", Reply::text("a long answer").cut_at(30, End::Close)),
            ("half a body, reset", Reply::text("a long answer").cut_at(30, End::Reset)),
        ];
        for (what, reply) in table {
            let error = bench.answered(reply).await.unwrap_err();
            assert_eq!(error.kind(), FailureKind::MalformedResponse, "{what}: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn pages_of_proxies_are_known_by_their_status() {
    every(async |bench| {
        let page = "<html><h1>nginx</h1></html>";
        let table = [
            (401, FailureKind::Authentication),
            (403, FailureKind::Permission),
            (413, FailureKind::ContextTooLong),
            (429, FailureKind::RateLimited),
            (500, FailureKind::Server),
            (502, FailureKind::Server),
            (503, FailureKind::Overloaded),
            (504, FailureKind::Server),
        ];
        for (status, kind) in table {
            let error = bench.answered(Reply::html(status, page)).await.unwrap_err();
            assert_eq!((error.kind(), error.status()), (kind, Some(status)), "{error}");
            let error = bench.answered(Reply::bare(status)).await.unwrap_err();
            assert_eq!(error.kind(), kind, "without a body: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_reset_before_any_byte_is_a_failed_connection() {
    every(async |bench| {
        let error = bench.answered(Reply::nothing(End::Reset)).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Connect, "{error}");
        let closed = ClosedPort::reserve().unwrap();
        let nobody = (bench.adapter.connect)(closed.url());
        let request = Request::new("x");
        let error = nobody.complete(&bench.attempt(&request)).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Connect, "{error}");
        assert_eq!(nobody.stream(&bench.attempt(&request)).await.err().unwrap().kind(), FailureKind::Connect);
    })
    .await;
}
