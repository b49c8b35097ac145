//! Models that decline.

use backstop::{Disposition, mock::server::Reply, prelude::*};
use backstop_core::breaker::State;
use serde_json::{Value, json};

use crate::support::{answering, anthropic, ask, at, at_anthropic, chain, hits, kinds, over, server};

const WORDS: &str = "I would rather not take this one on.";

fn schema() -> Value {
    json!({"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]})
}

#[tokio::test]
async fn rf_01_a_refusal_field_is_a_refusal_and_never_judged_by_the_schema() {
    let (first, second) = (server([Reply::refusal(WORDS)]).await, answering("{\"note\": \"n\"}").await);
    let chain = over(&[&first, &second]);
    let answer = chain.extract_value(schema(), "x").await.unwrap();
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::Refused], 1));
    assert_eq!(ask(&crate::support::openai(&first), "m").await.unwrap().refusal.as_deref(), Some(WORDS));

    let stop = FailurePolicy::default().on(FailureKind::Refused, Disposition::GiveUp);
    let error = chain.extract_value(schema(), "x").policy(stop).await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::GaveUp(FailureKind::Refused));
}

#[tokio::test]
async fn rf_02_a_stop_reason_of_refusal_is_one_and_says_what_for() {
    let body = json!({
        "content": [],
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "bio", "explanation": WORDS},
        "usage": {"input_tokens": 31, "output_tokens": 0},
    });
    let (first, second) = (server([Reply::json(&body)]).await, answering("served").await);
    let chain = chain([at_anthropic(&first, "first"), at(&second, "second")]);
    let answer = chain.complete("x").await.unwrap();
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::Refused], 1));
    let attempt = &answer.report.attempts[0];
    assert!(attempt.notes.iter().any(|note| note.contains("bio")), "{:?}", attempt.notes);
    assert_eq!(attempt.usage.map(|usage| usage.input_tokens), Some(31));
    let breaker = &chain.snapshot().targets[0].members[0].breaker;
    assert_eq!((breaker.state, breaker.window.failed), (State::Closed, 0));
    assert_eq!(ask(&anthropic(&first), "m").await.unwrap().refusal.as_deref(), Some(WORDS));
}

#[tokio::test]
async fn rf_07_words_of_refusal_count_where_there_is_no_answer_and_nowhere_else() {
    let declines = "I'm sorry, but I can't help with that.";
    let (first, second) = (answering(declines).await, answering("{\"note\": \"n\"}").await);
    let answer = over(&[&first, &second]).extract_value(schema(), "x").await.unwrap();
    assert_eq!((kinds(&answer.report), hits(&first)), (vec![FailureKind::Refused], 1));

    let quoted = json!({"note": declines});
    let first = answering(&quoted.to_string()).await;
    let answer = over(&[&first]).extract_value(schema(), "x").await.unwrap();
    assert_eq!(answer.value, quoted);
}

#[tokio::test]
async fn rf_08_a_vendors_own_fallback_is_read_and_names_who_served() {
    let body = json!({
        "model": "claude-a",
        "content": [
            {"type": "fallback", "from": {"model": "claude-a"}, "to": {"model": "claude-b"}},
            {"type": "something_later", "payload": {"x": 1}},
            {"type": "text", "text": "ok"},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 3, "iterations": [
            {"type": "message", "model": "claude-a", "input_tokens": 12, "output_tokens": 1},
            {"type": "fallback_message", "model": "claude-b", "input_tokens": 12, "output_tokens": 3},
        ]},
    });
    let first = server([Reply::json(&body)]).await;
    let answer = chain([at_anthropic(&first, "first")]).complete("x").await.unwrap();
    assert_eq!((answer.value.as_str(), answer.response.model.as_deref()), ("ok", Some("claude-b")));
    let attempt = &answer.report.attempts[0];
    assert_eq!(attempt.model.as_deref(), Some("claude-b"));
    assert!(attempt.notes.iter().any(|note| note.contains("claude-a")), "{:?}", attempt.notes);
    assert_eq!(answer.report.usage.total(), 28, "what the model that declined cost is counted");
}
