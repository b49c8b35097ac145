//! When the next target is asked, and when it is not.

use backstop::{
    Skip,
    mock::server::{ApiError, ClosedPort, Completion, End, Reply},
    prelude::*,
};
use backstop_core::breaker::State;
use backstop_tests::course;
use serde_json::json;

use crate::support::{answering, at, at_anthropic, chain, hits, kinds, over, registry, server, short};

#[tokio::test]
async fn fb_02_no_retries_do_not_mean_no_failover() {
    let first = server([ApiError::rate_limited().code("tokens_spent_too_fast")]).await;
    let second = answering("served").await;
    let chain = chain([at(&first, "first").retries(0), at(&second, "second")]);
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.value, "served");
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::RateLimited], 1));
}

#[tokio::test]
async fn fb_03_a_prompt_that_one_vendors_filter_stops_goes_to_the_next_vendor() {
    let filtered = ApiError::status(400)
        .code("content_filter")
        .message("Azure has stopped this prompt.")
        .field("innererror", json!({"code": "ResponsibleAIPolicyViolation"}));
    let (first, second) = (server([filtered]).await, answering("served").await);
    let chain = over(&[&first, &second]);
    for _ in 0..3 {
        let answer = chain.complete("x").await.unwrap();
        assert_eq!(kinds(&answer.report), [FailureKind::Filtered], "once, without a retry");
    }
    let breaker = &chain.snapshot().targets[0].members[0].breaker;
    assert_eq!((breaker.state, breaker.consecutive, breaker.window.failed), (State::Closed, 0, 0));
}

#[tokio::test]
async fn fb_04_a_filter_is_known_by_its_code_in_any_wording_and_without_a_code_by_its_wording() {
    let novel = "We would rather not look at this one.";
    let variants = [
        ApiError::status(400).code("content_filter").message(novel),
        ApiError::status(400).message(novel).field("innererror", json!({"code": "ContentFiltered"})),
        ApiError::status(403).kind("moderation_blocked").message(novel),
        ApiError::status(400)
            .message("The response was filtered: Azure OpenAI\u{2019}s content management policy."),
        ApiError::status(400).message("Invalid prompt: it may be violating our usage policy."),
        ApiError::status(400).message("Your request was rejected by our safety system."),
    ];
    for (index, variant) in variants.into_iter().enumerate() {
        let (first, second) = (server([variant]).await, answering("served").await);
        let answer = over(&[&first, &second]).complete("x").await.unwrap();
        assert_eq!(kinds(&answer.report), [FailureKind::Filtered], "variant {index}\n{}", answer.report);
    }
}

#[tokio::test]
async fn fb_05_a_prompt_that_is_too_long_is_known_however_the_server_puts_it() {
    let wordings = [
        "The input (12000 tokens) is longer than the model's context length (8192 tokens).",
        "Requested token count exceeds the model's maximum context length of 8192 tokens.",
        "Prompt contains 12000 tokens, too large for model with 8192 maximum context length",
        "This model's maximum prompt length is 8192 but the request contains 12000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Your request exceeded model token limit: 8192",
        "prompt is too long: 12000 tokens > 8192 maximum",
        "The decoder prompt (length 12000) is longer than the maximum model length of 8192.",
        "Input is too long for requested model.",
        "too many tokens: the prompt cannot exceed 8192 tokens",
    ];
    for wording in wordings {
        let first = server([ApiError::status(400).code(400).message(wording)]).await;
        let second = answering("served").await;
        let small = at(&first, "first").context_window(8_192);
        let chain = chain([small, at(&second, "second").context_window(128_000)]);
        let answer = chain.complete("x").await.unwrap();
        assert_eq!(kinds(&answer.report), [FailureKind::ContextTooLong], "{wording}");
        assert_eq!((hits(&first), hits(&second)), (1, 1));
    }
}

#[tokio::test]
async fn fb_06_the_inner_error_that_an_aggregator_wraps_decides() {
    let inner = json!({"error": {"message": "input length and `max_tokens` exceed context limit: 9 > 8"}});
    let wrapped = ApiError::status(400)
        .code(400)
        .message("The upstream returned an error")
        .field("metadata", json!({"raw": inner.to_string(), "provider_name": "Someone"}));
    let (first, second) = (server([wrapped]).await, answering("served").await);
    let larger = at(&second, "second").context_window(1_000_000);
    let answer = chain([at(&first, "first"), larger]).complete("x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::ContextTooLong]);
}

#[tokio::test]
async fn fb_07_an_empty_account_is_left_alone_for_minutes_whatever_its_status() {
    let broke = ApiError::status(400)
        .kind("invalid_request_error")
        .message("Your credit balance is too low to access this API.");
    let (first, second) = (server([broke]).await, answering("served").await);
    let chain = chain([at_anthropic(&first, "first"), at(&second, "second")]);
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::QuotaExhausted]);
    for _ in 0..2 {
        let answer = chain.complete("x").await.unwrap();
        let Skip::GateClosed { retry_in } = answer.report.skips[0].reason else {
            panic!("{}", answer.report)
        };
        assert!(retry_in.as_secs() > 10 * 60, "{retry_in:?}");
    }
    assert_eq!(hits(&first), 1);
}

#[tokio::test]
async fn fb_08_whether_an_empty_answer_will_do_is_for_the_caller_to_say() {
    let empty =
        json!({"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 6, "output_tokens": 2}});
    let (first, second) = (server([Reply::json(&empty)]).await, server([ApiError::invalid_request()]).await);
    let chain = chain([at_anthropic(&first, "first"), at(&second, "second")]);
    let answer = chain.complete(Request::new("x").allow_empty()).await.unwrap();
    assert_eq!((answer.value.as_str(), answer.report.usage.total()), ("", 8));
    assert_eq!((hits(&first), hits(&second)), (1, 0));

    let error = chain.complete("x").await.unwrap_err();
    let failures = kinds(error.report());
    assert_eq!(failures, [FailureKind::Empty, FailureKind::Empty, FailureKind::InvalidRequest]);
}

#[tokio::test]
async fn fb_09_a_key_rejected_at_the_first_provider_is_passed_over_and_one_alert_is_raised() {
    let first = server([ApiError::bad_key()]).await;
    let second = server([Completion::text("served").tokens(21, 4)]).await;
    let chain = Chain::builder()
        .target(at(&first, "first"))
        .target(at(&second, "second"))
        .policy(FailurePolicy::keep_serving())
        .build()
        .unwrap();
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::Authentication]);
    assert!(answer.report.has_alert());
    let served = &answer.report.attempts[1];
    assert_eq!(served.usage.map(|usage| (usage.input_tokens, usage.output_tokens)), Some((21, 4)));
    let answer = chain.complete("x").await.unwrap();
    assert_eq!(answer.report.skips[0].reason, Skip::CredentialLatched);
    assert!(!answer.report.has_alert());
    assert_eq!(hits(&first), 1);
}

#[tokio::test]
async fn fb_10_a_primary_that_cannot_be_reached_is_failed_over_and_stays_visible() {
    let (closed, second) = (ClosedPort::reserve().unwrap(), answering("served").await);
    let nobody = OpenAi::builder().base_url(closed.url()).build().unwrap();
    let chain = Chain::builder()
        .target(short(nobody.model("gpt-4o"), "first").retries(0))
        .target(at(&second, "second"))
        .breakers(&registry(2, 60))
        .build()
        .unwrap();
    for _ in 0..3 {
        let answer = chain.complete("x").await.unwrap();
        assert_eq!(answer.report.served_by(), Some("second"));
        assert!(kinds(&answer.report).iter().all(|kind| *kind == FailureKind::Connect));
        assert!(answer.report.used_fallback);
    }
    let target = &chain.snapshot().targets[0];
    let breaker = &target.members[0].breaker;
    assert!(!target.available && breaker.state == State::Open, "{breaker:?}");
    assert_eq!(
        (breaker.reason.map(|reason| reason.to_string().contains('2')), breaker.rejected_total),
        (Some(true), 1)
    );

    let (first, second) = (server([Reply::bare(526)]).await, answering("served").await);
    let answer = over(&[&first, &second]).complete("x").await.unwrap();
    assert!(kinds(&answer.report).iter().all(|kind| *kind == FailureKind::Connect), "{}", answer.report);
}

#[tokio::test]
async fn fb_14_a_chain_that_fails_names_every_attempt_and_begins_with_the_first() {
    let first = server([ApiError::forbidden().message("this project may not use the model")]).await;
    let (second, third) = (server([ApiError::server()]).await, server([Reply::nothing(End::Reset)]).await);
    let chain = Chain::builder()
        .target(at(&first, "first").retries(0))
        .target(at(&second, "second").retries(0))
        .target(at(&third, "third").retries(0))
        .policy(FailurePolicy::keep_serving())
        .build()
        .unwrap();
    let error = chain.complete("x").await.unwrap_err();
    let expected = [
        ("first", Some(FailureKind::Permission)),
        ("second", Some(FailureKind::Server)),
        ("third", Some(FailureKind::Connect)),
    ];
    assert_eq!(course(error.report()), expected);
    let statuses: Vec<_> = error.report().attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [Some(403), Some(500), None]);
    assert!(error.report().attempts.iter().all(|attempt| !attempt.latency.is_zero()));
    let shown = error.to_string();
    let first_cause = shown.find("this project may not use the model");
    assert!(first_cause.is_some_and(|at| shown.find("connect").is_some_and(|last| at < last)), "{shown}");
}

#[tokio::test]
async fn fb_15_retries_at_the_primary_are_counted_although_another_answered() {
    let (first, second) = (server([ApiError::server()]).await, answering("served").await);
    let chain = chain([at(&first, "first").retries(2), at(&second, "second")]);
    let report = chain.complete("x").await.unwrap().report;
    let numbers: Vec<_> =
        report.attempts.iter().map(|attempt| (attempt.target.as_str(), attempt.number)).collect();
    assert_eq!(numbers, [("first", 1), ("first", 2), ("first", 3), ("second", 1)]);
    assert!(report.used_fallback);
}
