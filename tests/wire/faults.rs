//! What a server may do to a call, and what becomes of it.

use std::{future::IntoFuture, time::SystemTime};

use backstop::{
    Skip, Stage,
    mock::{
        MockServer,
        server::{ApiError, ClosedPort, Completion, End, Gate, Reply},
    },
    openai::ClientOptions,
    prelude::*,
};

use crate::support::{chain, kinds, millis, provider, target};

#[tokio::test]
async fn the_happy_path_is_one_request_on_one_connection() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("hello"));
    let chain = chain(&[&server]);
    for _ in 0..3 {
        assert_eq!(chain.complete("hi").await.unwrap().value, "hello");
    }
    assert_eq!((server.requests().len(), server.connections()), (3, 1), "one request a call, and reuse");
}

#[tokio::test]
async fn a_body_that_stalls_after_the_headers_is_a_timeout_that_keeps_the_request_id() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("hello").header("x-request-id", "req-42").cut_at(20, End::Hang));
    let chain = Chain::builder().target(target(&server, "first").timeout(millis(150))).build().unwrap();
    let error = chain.complete("hi").await.unwrap_err();
    let attempt = &error.report().attempts[0];
    assert_eq!((attempt.failure(), attempt.stage), (Some(FailureKind::Timeout), Some(Stage::Body)));
    assert_eq!(attempt.request_id.as_deref(), Some("req-42"));
    server.wait_for_disconnect().await.unwrap();
}

#[tokio::test]
async fn an_error_whose_body_hangs_is_the_error_that_its_head_says() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(Reply::from(ApiError::rate_limited()).retry_after(60).cut_at(0, End::Hang));
    second.push(Reply::text("served"));
    let options = ClientOptions::new().error_body_wait(millis(100));
    let hasty = OpenAi::builder().base_url(first.url()).client(options).build().unwrap();
    let chain = Chain::builder()
        .target(hasty.model("gpt-4o").named("first").timeout(millis(5_000)))
        .target(target(&second, "second"))
        .build()
        .unwrap();
    let answer = chain.complete("hi").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::RateLimited]);
    assert_eq!(answer.report.served_by(), Some("second"));
    first.wait_for_disconnect().await.unwrap();
}

#[tokio::test]
async fn the_deadline_holds_over_two_servers_that_hang() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    for server in [&first, &second] {
        server.push(Reply::nothing(End::Hang));
    }
    let chain = Chain::builder()
        .target(target(&first, "first").timeout(millis(200)))
        .target(target(&second, "second").timeout(millis(200)))
        .deadline(millis(300))
        .build()
        .unwrap();
    let error = chain.complete("hi").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Deadline);
    assert_eq!(kinds(error.report()), [FailureKind::Timeout, FailureKind::Timeout]);
    let stages: Vec<_> = error.report().attempts.iter().map(|attempt| attempt.stage).collect();
    assert_eq!(stages, [Some(Stage::Headers), Some(Stage::Headers)]);
    for server in [&first, &second] {
        server.wait_for_closed(0).await.ok();
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::text("late").after(&gate));
    let chain = chain(&[&server]);
    let call = tokio::spawn(chain.complete("hi").into_future());
    server.wait_for_requests(1).await.unwrap();
    call.abort();
    server.wait_for_disconnect().await.unwrap();
    assert_eq!(server.disconnects().len(), 1);
}

#[tokio::test]
async fn each_hard_fault_is_its_kind_and_the_second_target_serves() {
    let faults: [(Reply, FailureKind); 9] = [
        (ApiError::server().into(), FailureKind::Server),
        (ApiError::overloaded().into(), FailureKind::Overloaded),
        (Reply::from(ApiError::status(529)), FailureKind::Overloaded),
        (Reply::nothing(End::Reset), FailureKind::Connect),
        (Reply::garbage("not http at all\r\n\r\n"), FailureKind::MalformedResponse),
        (Reply::html(200, "<html>login</html>"), FailureKind::MalformedResponse),
        (Reply::from(Completion::no_choices()), FailureKind::MalformedResponse),
        (Reply::text("a long answer").cut_at(30, End::Close), FailureKind::MalformedResponse),
        (Reply::in_band(ApiError::overloaded()), FailureKind::Overloaded),
    ];
    for (index, (fault, kind)) in faults.into_iter().enumerate() {
        let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
        first.push(fault);
        second.push(Reply::text("served"));
        let answer = chain(&[&first, &second]).complete("hi").await.unwrap();
        assert_eq!(answer.report.served_by(), Some("second"));
        let seen = kinds(&answer.report);
        assert!(
            seen.iter().all(|seen| *seen == kind),
            "fault {index}: {seen:?}, not {kind}\n{}",
            answer.report
        );
        assert_eq!(first.requests().len(), 2, "fault {index} is retried once:\n{}", answer.report);
    }
}

#[tokio::test]
async fn a_refused_connection_is_retried_and_fails_over() {
    let closed = ClosedPort::reserve().unwrap();
    let second = MockServer::start().await.unwrap();
    second.push(Reply::text("served"));
    let nobody = OpenAi::builder().base_url(closed.url()).build().unwrap().model("m").named("nobody");
    let chain = Chain::builder().target(nobody).target(target(&second, "second")).build().unwrap();
    let answer = chain.complete("hi").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::Connect, FailureKind::Connect]);
}

#[tokio::test]
async fn a_rejected_key_surfaces_and_a_bad_request_is_sent_once() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(ApiError::bad_key());
    second.push(Reply::text("served"));
    let calls = chain(&[&first, &second]);
    let error = calls.complete("hi").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Authentication));
    assert!(error.report().attempts[0].alert);
    let answer = calls.complete("hi").await.unwrap();
    assert_eq!(answer.report.skips[0].reason, Skip::CredentialLatched);
    assert_eq!((first.requests().len(), second.requests().len()), (1, 1));

    let third = MockServer::start().await.unwrap();
    third.push(ApiError::invalid_request());
    let error = chain(&[&third, &second]).complete("hi").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::InvalidRequest));
    assert_eq!((third.requests().len(), second.requests().len()), (1, 1));
}

#[tokio::test]
async fn rate_limits_lead_where_the_wait_that_they_name_says() {
    // Header value, requests that the first server gets, whether the gate keeps the next call away from it.
    let in_a_minute = httpdate::fmt_http_date(SystemTime::now() + millis(60_000));
    let forms = [
        ("0", 2, true),
        ("0.02", 2, true),
        ("3", 1, true),
        ("1800", 1, true),
        (in_a_minute.as_str(), 1, true),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 2, true),
        ("soon", 2, true),
        ("-5", 2, true),
    ];
    for (form, requests, closed) in forms {
        let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
        first.push(Reply::from(ApiError::rate_limited()).retry_after(form));
        second.push(Reply::text("served"));
        let chain = chain(&[&first, &second]);
        let answer = chain.complete("hi").await.unwrap();
        assert_eq!(answer.report.served_by(), Some("second"));
        assert_eq!(first.requests().len(), requests, "Retry-After: {form}\n{}", answer.report);
        let answer = chain.complete("hi").await.unwrap();
        let skipped =
            matches!(answer.report.skips.first().map(|skip| &skip.reason), Some(Skip::GateClosed { .. }));
        // A gate of no time, or of 20 ms, may be open again.
        let may_be_open = form.starts_with("0");
        assert!(may_be_open || skipped == closed, "Retry-After: {form}\n{}", answer.report);
    }
}

#[tokio::test]
async fn an_empty_account_is_no_rate_limit() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(ApiError::quota_exhausted());
    second.push(Reply::text("served"));
    let chain = chain(&[&first, &second]);
    let answer = chain.complete("hi").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::QuotaExhausted]);
    assert!(answer.report.has_alert());
    chain.complete("hi").await.unwrap();
    assert_eq!(first.requests().len(), 1);
}

#[tokio::test]
async fn a_server_that_forbids_a_retry_is_obeyed() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(Reply::from(ApiError::server()).header("x-should-retry", "false"));
    second.push(Reply::text("served"));
    chain(&[&first, &second]).complete("hi").await.unwrap();
    assert_eq!(first.requests().len(), 1);
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_read_to_its_end() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::filler("application/json", 1 << 30));
    let client = backstop::openai::ClientOptions::new().body_limit(64 * 1024);
    let provider = OpenAi::builder().base_url(server.url()).client(client).build().unwrap();
    let chain = Chain::builder().target(provider.model("m").retries(0)).build().unwrap();
    let error = chain.complete("hi").await.unwrap_err();
    assert_eq!(kinds(error.report()), [FailureKind::MalformedResponse]);
    server.wait_for_disconnect().await.unwrap();
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (server, elsewhere) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    server.push(Reply::redirect(307, elsewhere.url()));
    elsewhere.push(Reply::text("stolen"));
    let chain = Chain::builder().target(provider(&server).model("m").retries(0)).build().unwrap();
    assert!(chain.complete("hi").await.is_err());
    assert_eq!(elsewhere.requests().len(), 0, "a redirect would carry prompt and key elsewhere");
}
