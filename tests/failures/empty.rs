//! Answers without an answer in them.

use backstop::{
    FinishKind,
    mock::server::{Completion, Reply},
    prelude::*,
};
use serde_json::{Value, json};

use crate::support::{
    answering, anthropic, ask, at, at_anthropic, at_gemini, bodies, chain, hits, kinds, over, server,
};

fn choice(choice: &Value) -> Reply {
    Reply::json(
        &json!({"id": "c1", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}),
    )
}

#[tokio::test]
async fn sf_01_reasoning_that_used_up_the_limit_is_truncation_and_is_paid_for() {
    let spent =
        Completion::truncated("").reasoning("so much to think about").tokens(9, 150).reasoning_tokens(150);
    let (first, second) = (server([spent]).await, answering("served").await);
    let answer = over(&[&first, &second]).complete("x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::Truncated, FailureKind::Truncated]);
    let usage = answer.report.attempts[0].usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.reasoning_tokens), (9, 150, 150));
    assert_eq!(
        bodies(&first)[1]["max_completion_tokens"].as_u64().or(bodies(&first)[1]["max_tokens"].as_u64()),
        Some(300)
    );
    let shown = answer.report.to_string();
    assert!(shown.contains("150 tokens of reasoning") && shown.contains("max_tokens"), "{shown}");
}

#[tokio::test]
async fn sf_03_a_list_of_no_choices_is_no_answer() {
    let none = Completion::no_choices().tokens(19, 0);
    let (first, second) = (server([none]).await, answering("served").await);
    let answer = over(&[&first, &second]).complete("x").await.unwrap();
    assert_eq!(answer.value, "served");
    assert!(kinds(&answer.report).iter().all(|kind| *kind == FailureKind::MalformedResponse));
    assert_eq!(answer.report.attempts[0].usage.map(|usage| usage.input_tokens), Some(19));
    assert!(answer.report.to_string().contains("no choice"), "{}", answer.report);
}

#[tokio::test]
async fn sf_04_a_candidate_without_parts_is_read() {
    let thought_too_long = json!({
        "candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 7, "thoughtsTokenCount": 60, "totalTokenCount": 67},
    });
    for parts in [None, Some(Value::Null), Some(json!([]))] {
        let mut body = thought_too_long.clone();
        if let Some(parts) = parts {
            body["candidates"][0]["content"]["parts"] = parts;
        }
        let (first, second) = (server([Reply::json(&body)]).await, answering("served").await);
        let answer = chain([at_gemini(&first, "first"), at(&second, "second")]).complete("x").await.unwrap();
        assert!(
            kinds(&answer.report).iter().all(|kind| *kind == FailureKind::Truncated),
            "{}",
            answer.report
        );
        let usage = answer.report.attempts[0].usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 60), "thoughts are output");
    }
}

#[tokio::test]
async fn sf_07_thinking_is_not_an_answer() {
    const THOUGHT: &str = "thinking-out-loud";
    let only_thinking = || Completion::empty().reasoning(THOUGHT);
    for (adapter, target) in [("openai", 0), ("anthropic", 1), ("gemini", 2)] {
        let (first, second) = (server([only_thinking()]).await, answering("served").await);
        let target = match target {
            0 => at(&first, "first"),
            1 => at_anthropic(&first, "first"),
            _ => at_gemini(&first, "first"),
        };
        let answer = chain([target, at(&second, "second")]).complete("x").await.unwrap();
        assert_eq!(kinds(&answer.report), [FailureKind::Empty, FailureKind::Empty], "{adapter}");
        let notes = answer.report.attempts[0].notes.join(" ");
        assert!(notes.contains("has reasoning and no text"), "{adapter}: {notes}\n{}", answer.report);
        assert!(!format!("{:?} {}", answer.response, answer.report).contains(THOUGHT), "{adapter}");
    }
}

#[tokio::test]
async fn sf_08_thoughts_are_kept_out_of_the_answer_by_what_they_are_not_by_their_signature() {
    let body = json!({"candidates": [{"content": {"parts": [
        {"text": "First I plan.", "thought": true},
        {"text": "{\"a\": 1}", "thoughtSignature": "c2ln"},
    ]}, "finishReason": "STOP"}]});
    let first = server([Reply::json(&body)]).await;
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let answer = chain([at_gemini(&first, "first")]).extract_value(schema, "x").await.unwrap();
    assert_eq!((answer.value, answer.repairs.len()), (json!({"a": 1}), 0));
}

#[tokio::test]
async fn sf_09_a_failure_inside_a_choice_is_a_failure() {
    let broken = json!({
        "finish_reason": "error",
        "error": {"code": 502, "message": "the upstream went away"},
        "message": {"content": "half of the answ"},
    });
    let (first, second) = (server([choice(&broken)]).await, answering("served").await);
    let answer = over(&[&first, &second]).complete("x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::Server, FailureKind::Server]);
    assert_eq!((answer.value.as_str(), hits(&first)), ("served", 2));
}

#[tokio::test]
async fn sf_10_an_unknown_reason_to_stop_is_kept_and_does_not_break_the_answer() {
    let reasons = [json!("endturn"), json!("eos"), json!(null), json!(7), json!({"type": "stop"})];
    for reason in reasons.into_iter().map(Some).chain([None]) {
        let mut body = json!({"message": {"role": "assistant", "content": "ok"}});
        if let Some(reason) = &reason {
            body["finish_reason"] = reason.clone();
        }
        let first = server([choice(&body)]).await;
        let answer = over(&[&first]).complete("x").await.unwrap();
        assert_eq!(answer.value, "ok", "{reason:?}");
        if reason == Some(json!("endturn")) {
            assert_eq!(answer.response.finish.kind, FinishKind::Other);
            assert_eq!(answer.response.finish.raw.as_deref(), Some("endturn"));
        }
    }
    let later = json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "bored"});
    let first = server([Reply::json(&later)]).await;
    assert_eq!(
        ask(&anthropic(&first), "claude-sonnet-4-5").await.unwrap().finish.raw.as_deref(),
        Some("bored")
    );
    let later = json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "BORED"}]});
    let first = server([Reply::json(&later)]).await;
    assert_eq!(chain([at_gemini(&first, "first")]).complete("x").await.unwrap().value, "ok");
}
