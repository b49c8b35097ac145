//! How an adapter behaves as a client: one attempt, one request, no secrets, no sleep.

use std::{
    error::Error,
    fmt::Write as _,
    time::{Duration, Instant},
};

use backstop::{
    FailureKind, Stage,
    mock::{
        MockServer,
        server::{ApiError, Completion, End, Gate, Reply},
    },
    prelude::*,
};
use futures_util::StreamExt;

use crate::bench::{KEY, every};

#[tokio::test]
async fn one_attempt_is_one_request_and_never_sleeps() {
    every(async |bench| {
        let faults = [
            Reply::from(ApiError::rate_limited()).retry_after(60),
            Reply::from(ApiError::overloaded()).retry_after(60),
            Reply::from(ApiError::server()),
            Reply::from(ApiError::status(408)),
            Reply::html(502, "<html>"),
            Reply::bytes("application/json", ""),
        ];
        let begun = Instant::now();
        for (index, fault) in faults.into_iter().enumerate() {
            let before = bench.server.requests().len();
            bench.answered(fault).await.unwrap_err();
            assert_eq!(bench.server.requests().len() - before, 1, "fault {index}");
            bench.stream(&Request::new("x")).await;
            assert_eq!(bench.server.requests().len() - before, 2, "fault {index}, as a stream");
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "a wait that the server named was waited for");
    })
    .await;
}

#[tokio::test]
async fn connections_are_used_again() {
    every(async |bench| {
        for _ in 0..3 {
            bench.answered(Reply::text("blue")).await.unwrap();
        }
        assert_eq!((bench.server.requests().len(), bench.server.connections()), (3, 1));
    })
    .await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    every(async |bench| {
        let elsewhere = MockServer::start().await.unwrap();
        elsewhere.push(Reply::text("stolen"));
        for status in [301, 302, 303, 307, 308] {
            let before = bench.server.requests().len();
            let error = bench.answered(Reply::redirect(status, elsewhere.url())).await.unwrap_err();
            assert_eq!(error.status(), Some(status), "{error}");
            assert_eq!(bench.server.requests().len() - before, 1);
        }
        assert!(elsewhere.requests().is_empty(), "a redirect would carry prompt and key elsewhere");
    })
    .await;
}

#[tokio::test]
async fn a_dropped_attempt_closes_its_connection_and_keeps_what_it_learnt() {
    every(async |bench| {
        bench.answers(Reply::text("late").cut_at(10, End::Hang));
        let request = Request::new("x");
        let attempt = bench.attempt(&request);
        let wait = Duration::from_millis(200);
        assert!(tokio::time::timeout(wait, bench.provider.complete(&attempt)).await.is_err());
        bench.server.wait_for_disconnect().await.unwrap();
        assert_eq!(attempt.progress.stage(), Stage::Body);
    })
    .await;
}

#[tokio::test]
async fn an_attempt_dropped_before_the_answer_closes_its_connection() {
    every(async |bench| {
        let never = Gate::new();
        bench.answers(Reply::text("unread").after(&never));
        let request = Request::new("x");
        let attempt = bench.attempt(&request);
        tokio::select! {
            result = bench.provider.complete(&attempt) => panic!("{result:?}"),
            reached = never.reached(1) => reached.unwrap(),
        }
        bench.server.wait_for_disconnect().await.unwrap();
        assert_eq!(attempt.progress.stage(), Stage::Headers);
    })
    .await;
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    every(async |bench| {
        let never = Gate::new();
        let streaming = backstop::mock::server::Streaming::new().gate_at(1, &never);
        bench.answers(Reply::from(Completion::pieces(["one ", "two ", "three"])).streamed(streaming));
        let request = Request::new("x");
        let mut stream = bench.provider.stream(&bench.attempt(&request)).await.unwrap();
        let first = loop {
            match stream.next().await.unwrap().unwrap() {
                backstop::Chunk::Text(text) => break text,
                _ => continue,
            }
        };
        assert_eq!(first, "one ", "a piece is passed on before the next one is there");
        drop(stream);
        bench.server.wait_for_disconnect().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn the_key_is_in_its_header_and_nowhere_else() {
    every(async |bench| {
        let provider = &bench.provider;
        let mut shown = format!("{} {} {:?}", provider.name(), provider.instance(), provider.credential());
        let echo = format!("The key {KEY} is not valid.");
        for reply in [
            Reply::text("blue"),
            Reply::from(ApiError::bad_key().message(&echo)),
            Reply::from(ApiError::invalid_request().message(&echo)),
            Reply::in_band(ApiError::server().message(&echo)),
            Reply::html(502, &echo),
            Reply::bytes("application/json", echo.clone()),
            Reply::nothing(End::Reset),
        ] {
            let whole = bench.answered(reply.clone()).await;
            write!(shown, "{whole:?}").unwrap();
            let streamed = bench.streamed(reply).await;
            write!(shown, "{streamed:?}").unwrap();
            for error in whole.err().iter().chain(&streamed.error) {
                write!(shown, "{error}").unwrap();
                let mut cause = error.source();
                while let Some(error) = cause {
                    write!(shown, "{error} {error:?}").unwrap();
                    cause = error.source();
                }
            }
        }
        assert!(!shown.contains("HUSH"), "{shown}");
        let (header, prefix) = bench.adapter.vendor.key_header;
        let requests = bench.server.requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert_eq!(request.header(header), Some(format!("{prefix}{KEY}").as_str()));
            let places = request.headers().filter(|(_, value)| value.contains("HUSH")).count();
            assert_eq!(places, 1);
            assert!(!format!("{} {:?}", request.path(), request.query()).contains("HUSH"));
            assert!(!String::from_utf8_lossy(request.body()).contains("HUSH"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_wrong_key_is_an_authentication_failure() {
    every(async |bench| {
        bench.server.require_key("another key");
        let error = bench.answered(Reply::text("blue")).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Authentication, "{error}");
    })
    .await;
}
