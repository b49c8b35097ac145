//! Bytes that are not what was promised.

use backstop::{
    mock::server::{Completion, End, Reply},
    prelude::*,
};
use backstop_core::breaker::State;
use serde_json::json;
use tokio::time::sleep;

use crate::support::{answering, at, at_anthropic, at_gemini, chain, hits, kinds, over, raw, server};
use backstop_tests::millis;

#[tokio::test]
async fn tr_02_a_web_page_with_a_200_is_no_answer() {
    for page in [
        Reply::html(200, "<html><form>Sign in</form></html>"),
        raw(200, "application/json", "<!doctype html>"),
    ] {
        let (first, second) = (server([page]).await, answering("served").await);
        let answer = over(&[&first, &second]).complete("x").await.unwrap();
        assert_eq!(kinds(&answer.report), [FailureKind::MalformedResponse, FailureKind::MalformedResponse]);
        assert!(answer.report.to_string().contains("web page"), "{}", answer.report);
    }
}

#[tokio::test]
async fn tr_03_an_error_body_of_any_shape_leaves_the_status_and_its_words() {
    use FailureKind::{InvalidRequest, ModelNotFound, Overloaded, Server};
    const JSON: &str = "application/json";
    let list =
        json!([{"error": {"code": 400, "message": "the words", "status": "INVALID_ARGUMENT"}}]).to_string();
    let cases: [(Reply, FailureKind, &str); 10] = [
        (Reply::bare(404), ModelNotFound, "404"),
        (raw(503, "text/plain", "upstream connect error: the words"), Overloaded, "the words"),
        (raw(400, JSON, list), InvalidRequest, "the words"),
        (raw(500, JSON, "\"the words\""), Server, "the words"),
        (raw(500, JSON, r#"{"detail": "the words"}"#), Server, "the words"),
        (raw(500, JSON, r#"{"error": "the words"}"#), Server, "the words"),
        (raw(500, JSON, r#"{"message": "the words"}"#), Server, "the words"),
        (raw(502, JSON, r#"{"error": {"message": "the wor"#), Server, "502"),
        (raw(500, JSON, "null"), Server, "500"),
        (raw(500, JSON, b"the words \xff\xfe".to_vec()), Server, "the words"),
    ];
    for (index, (reply, kind, words)) in cases.into_iter().enumerate() {
        for adapter in 0..3 {
            let first = server([reply.clone()]).await;
            let target = match adapter {
                0 => at(&first, "first"),
                1 => at_anthropic(&first, "first"),
                _ => at_gemini(&first, "first"),
            };
            let error = chain([target.retries(0)]).complete("x").await.unwrap_err();
            assert_eq!(kinds(error.report()), [kind], "case {index}, adapter {adapter}: {error}");
            assert!(error.to_string().contains(words), "case {index}, adapter {adapter}: {error}");
        }
    }
}

#[tokio::test]
async fn tr_07_connections_that_the_server_closed_meanwhile_cost_no_call() {
    let first = server([Reply::text("ok").close_unannounced()]).await;
    let chain = chain([at(&first, "first").retries(0)]);
    for _ in 0..5 {
        assert_eq!(chain.complete("x").await.unwrap().value, "ok");
        sleep(millis(20)).await;
    }
    // Without a pause the client may not have heard of the close yet.
    for _ in 0..20 {
        assert_eq!(chain.complete("x").await.unwrap().value, "ok");
    }
    assert_eq!(hits(&first), 25);
    let breaker = &chain.snapshot().targets[0].members[0].breaker;
    assert_eq!((breaker.state, breaker.window.failed), (State::Closed, 0));
}

#[tokio::test]
async fn tr_08_a_reset_before_or_after_the_head_is_retried() {
    for broken in [Reply::nothing(End::Reset), Reply::text("never whole").cut_at(10, End::Reset)] {
        let first = server([broken, Reply::text("ok")]).await;
        let answer = over(&[&first]).complete("x").await.unwrap();
        assert_eq!((answer.value.as_str(), hits(&first)), ("ok", 2));
        let kind = kinds(&answer.report)[0];
        assert!(matches!(kind, FailureKind::Connect | FailureKind::MalformedResponse), "{kind}");
    }
}

#[tokio::test]
async fn tr_09_bytes_that_are_no_utf_8_are_no_answer_and_no_panic() {
    let bodies: [&[u8]; 3] = [
        b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"}}]}",
        b"{\"content\":[{\"type\":\"text\",\"text\":\"caf\xe9\"}],\"stop_reason\":\"end_turn\"}",
        b"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"caf\xe9\"}]},\"finishReason\":\"STOP\"}]}",
    ];
    for (adapter, body) in bodies.into_iter().enumerate() {
        let (first, second) = (server([raw(200, "application/json", body)]).await, answering("served").await);
        let target = match adapter {
            0 => at(&first, "first"),
            1 => at_anthropic(&first, "first"),
            _ => at_gemini(&first, "first"),
        };
        let answer = chain([target, at(&second, "second")]).complete("x").await.unwrap();
        assert_eq!(answer.value, "served");
        assert!(
            kinds(&answer.report).iter().all(|kind| *kind == FailureKind::MalformedResponse),
            "{}",
            answer.report
        );
    }
}

#[tokio::test]
async fn tr_10_a_redirect_takes_neither_key_nor_prompt_elsewhere() {
    let elsewhere = server([Completion::text("stolen")]).await;
    for status in [301, 302, 303, 307, 308] {
        let away = Reply::redirect(status, format!("{}/v1/chat/completions", elsewhere.url()));
        let (first, second) = (server([away]).await, answering("served").await);
        let answer = over(&[&first, &second]).complete("x").await.unwrap();
        assert!(kinds(&answer.report).iter().all(|kind| *kind == FailureKind::MalformedResponse), "{status}");
        assert!(answer.report.to_string().contains("redirect"), "{}", answer.report);
    }
    assert_eq!((hits(&elsewhere), elsewhere.connections()), (0, 0));
}
