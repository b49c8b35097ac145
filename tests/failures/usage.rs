//! Tokens: of failed attempts too, and each counted once.

use backstop::{
    mock::server::{Completion, Reply},
    prelude::*,
};
use serde_json::json;

use crate::support::{anthropic, ask, at, at_anthropic, chain, gemini, openai, over, server};

#[tokio::test]
async fn us_01_the_tokens_of_answers_that_were_of_no_use_are_counted() {
    let first =
        server([Completion::text("no").tokens(11, 21), Completion::text("never").tokens(13, 22)]).await;
    let second = server([Completion::text("{\"a\": 1}").tokens(8, 6)]).await;
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let answer = over(&[&first, &second]).extract_value(schema, "x").await.unwrap();
    let counts = |usage: Usage| (usage.input_tokens, usage.output_tokens);
    let each: Vec<_> =
        answer.report.attempts.iter().filter_map(|attempt| attempt.usage.map(counts)).collect();
    assert_eq!(each, [(11, 21), (13, 22), (8, 6)]);
    assert_eq!(counts(answer.report.usage), (32, 49));
    assert_eq!(answer.response.usage.map(counts), Some((8, 6)), "the answer's own");
}

#[tokio::test]
async fn us_03_cached_tokens_are_part_of_the_input_whoever_counts_them() {
    let theirs = [
        json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1500, "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 1200}}}),
        json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 300, "cache_read_input_tokens": 1200, "cache_creation_input_tokens": 0,
                "output_tokens": 9}}),
        json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1500, "cachedContentTokenCount": 1200,
                "candidatesTokenCount": 9}}),
    ];
    for (adapter, body) in theirs.iter().enumerate() {
        let first = server([Reply::json(body)]).await;
        let response = match adapter {
            0 => ask(&openai(&first), "gpt-4o").await,
            1 => ask(&anthropic(&first), "claude-sonnet-4-5").await,
            _ => ask(&gemini(&first), "gemini-2.5-flash").await,
        };
        let usage = response.unwrap().usage.unwrap();
        assert_eq!(usage, Usage::new(1500, 9).with_cached(1200), "adapter {adapter}");
        assert_eq!(usage.input_tokens - usage.cached_tokens, 300);
    }
}

#[tokio::test]
async fn us_04_tokens_written_to_the_cache_are_a_class_of_their_own_within_the_input() {
    let body = json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 700, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 100,
            "output_tokens": 9}});
    let first = server([Reply::json(&body)]).await;
    let usage = ask(&anthropic(&first), "claude-sonnet-4-5").await.unwrap().usage.unwrap();
    assert_eq!(usage, Usage::new(1000, 9).with_cached(200).with_cache_write(100));
}

#[tokio::test]
async fn us_08_the_report_names_the_model_that_served() {
    let first = server([Completion::text("ok").model("gpt-4o-2030-01-01")]).await;
    let answer = over(&[&first]).complete("x").await.unwrap();
    assert_eq!(answer.report.attempts[0].model.as_deref(), Some("gpt-4o-2030-01-01"));
    let second = server([Completion::text("ok").model("claude-other")]).await;
    let answer = chain([at_anthropic(&second, "first"), at(&first, "second")]).complete("x").await.unwrap();
    assert_eq!(answer.report.attempts[0].model.as_deref(), Some("claude-other"));
}
