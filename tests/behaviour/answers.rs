//! What comes back, whole.

use backstop::{
    FailureKind, FinishKind,
    mock::server::{Completion, Reply},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{adapters::Has, bench::every};

#[tokio::test]
async fn a_refusal_is_an_answer_with_the_vendors_signal() {
    every(async |bench| {
        let response = bench.answered(Reply::refusal("I can't do that.")).await.unwrap();
        match &bench.adapter.vendor.refusal {
            Has::Yes(refusal) => {
                assert_eq!((response.text.as_str(), response.finish.kind), ("", refusal.finish));
                assert_eq!(response.refusal.is_some(), refusal.signal);
                assert_eq!(response.refusal.as_deref() == Some("I can't do that."), refusal.words);
            }
            Has::No(why) => {
                assert_eq!(response.text, "I can't do that.", "{why}");
                assert_eq!((response.refusal, response.finish.kind), (None, FinishKind::Stop), "{why}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_chain_fails_over_from_a_refusal() {
    every(async |bench| {
        bench.answers(Reply::refusal("I can't help with that request."));
        let error = bench.chain().extract_value(json!({ "type": "object" }), "x").await.unwrap_err();
        let kinds: Vec<_> = error.report().failures().map(|(_, kind)| kind).collect();
        let declined = |kind: &FailureKind| matches!(kind, FailureKind::Refused | FailureKind::Filtered);
        assert!(kinds.iter().all(declined) && kinds.len() == 1, "{kinds:?}");
    })
    .await;
}

#[tokio::test]
async fn a_filtered_answer_says_so() {
    every(async |bench| {
        let response = bench.answered(Completion::filtered("half")).await.unwrap();
        let expected = match &bench.adapter.vendor.filter {
            Has::Yes(finish) => *finish,
            Has::No(_) => FinishKind::Stop,
        };
        assert_eq!(response.finish.kind, expected);
    })
    .await;
}

#[tokio::test]
async fn a_truncated_answer_says_so_and_keeps_its_text() {
    every(async |bench| {
        let response = bench.answered(Completion::truncated("half an")).await.unwrap();
        assert_eq!((response.text.as_str(), response.finish.kind), ("half an", FinishKind::Length));
    })
    .await;
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    every(async |bench| {
        for empty in [Completion::empty(), Completion::text("")] {
            let response = bench.answered(empty).await.unwrap();
            assert_eq!((response.text.as_str(), response.finish.kind), ("", FinishKind::Stop));
            assert!(response.tool_calls.is_empty());
        }
    })
    .await;
}

#[tokio::test]
async fn no_answer_at_all_is_malformed() {
    every(async |bench| {
        let result = bench.answered(Completion::no_choices()).await;
        match bench.adapter.vendor.choices {
            Has::Yes(()) => assert_eq!(result.unwrap_err().kind(), FailureKind::MalformedResponse),
            Has::No(why) => assert_eq!(result.unwrap().text, "", "{why}"),
        }
    })
    .await;
}

#[tokio::test]
async fn the_vendors_word_for_the_end_is_kept() {
    every(async |bench| {
        let [stop, length, calls] = bench.adapter.vendor.finish_words;
        let table = [
            (Completion::text("blue"), FinishKind::Stop, stop),
            (Completion::truncated("blue"), FinishKind::Length, length),
            (Completion::empty().tool_call("f", "{}"), FinishKind::ToolCalls, calls),
        ];
        for (completion, kind, word) in table {
            let whole = bench.answered(completion.clone()).await.unwrap().finish;
            assert_eq!((whole.kind, whole.raw.as_deref()), (kind, Some(word)));
            let streamed = bench.streamed(completion).await;
            assert_eq!(streamed.end(), Some(&whole), "{streamed:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_word_that_nobody_knows_is_kept_and_harms_nothing() {
    every(async |bench| {
        let completion = Completion::text("blue").finish_word("moon_phase");
        let response = bench.answered(completion.clone()).await.unwrap();
        assert_eq!(response.text, "blue");
        assert_eq!(
            (response.finish.kind, response.finish.raw.as_deref()),
            (FinishKind::Other, Some("moon_phase"))
        );
        let streamed = bench.streamed(completion).await;
        assert_eq!((streamed.text().as_str(), streamed.end()), ("blue", Some(&response.finish)));
    })
    .await;
}

#[tokio::test]
async fn tokens_are_counted_in_one_way() {
    every(async |bench| {
        let completion =
            Completion::text("blue").reasoning("hm").tokens(120, 30).cached_tokens(100).reasoning_tokens(20);
        let usage = bench.answered(completion).await.unwrap().usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (120, 30, false));
        let vendor = &bench.adapter.vendor;
        assert_eq!(usage.cached_tokens, if vendor.cached_tokens.is_there() { 100 } else { 0 });
        assert_eq!(usage.reasoning_tokens, if vendor.reasoning_tokens.is_there() { 20 } else { 0 });
        let silent = bench.answered(Completion::text("blue").no_usage()).await.unwrap();
        assert_eq!((silent.text.as_str(), silent.usage), ("blue", None));
    })
    .await;
}

#[tokio::test]
async fn reasoning_is_no_part_of_the_text() {
    every(async |bench| {
        let completion = Completion::text("blue").reasoning("The sky is. So");
        assert_eq!(bench.answered(completion.clone()).await.unwrap().text, "blue");
        let streamed = bench.streamed(completion).await;
        assert_eq!((streamed.text().as_str(), streamed.reasoning().as_str()), ("blue", "The sky is. So"));
    })
    .await;
}

#[tokio::test]
async fn the_request_id_and_the_serving_model_are_kept() {
    every(async |bench| {
        let request = Request::new("x");
        bench.answers(Completion::text("blue").model("served-by-another"));
        let attempt = bench.attempt(&request);
        let response = bench.provider.complete(&attempt).await.unwrap();
        assert_eq!(response.model.as_deref(), Some("served-by-another"));
        let (noted, usage) = attempt.progress.take();
        assert_eq!((&noted, usage), (&response.request_id, response.usage));
        match bench.adapter.vendor.request_id {
            Has::Yes(()) => assert!(noted.is_some_and(|id| id.contains("mock"))),
            Has::No(why) => assert_eq!(noted, None, "{why}"),
        }
    })
    .await;
}

#[tokio::test]
async fn the_raw_answer_is_kept_on_request_only() {
    every(async |bench| {
        let request = Request::new("x");
        let plain = bench.answers(Reply::text("blue")).complete(&request).await.unwrap();
        assert_eq!(plain.raw, None);
        let raw = bench.complete(&request.keep_raw()).await.unwrap().raw.unwrap();
        assert!(raw.is_object() && raw.to_string().contains("blue"), "{raw}");
    })
    .await;
}

#[tokio::test]
async fn the_least_that_is_an_answer_is_enough() {
    every(async |bench| {
        let least: Value = serde_json::from_str(bench.adapter.vendor.least).unwrap();
        let response = bench.answered(Reply::json(&least)).await.unwrap();
        assert_eq!((response.text.as_str(), response.usage, response.model), ("ok", None, None));
    })
    .await;
}

/// Adds what a later version of an API may have, to every object.
fn grown(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, grown(field)));
            fields.chain([("of_tomorrow".to_owned(), json!({ "a": [1, null] }))]).collect()
        }
        Value::Array(items) => items.into_iter().map(grown).collect(),
        other => other,
    }
}

#[tokio::test]
async fn fields_that_nobody_knows_harm_nothing() {
    every(async |bench| {
        bench.answers(Completion::text("blue").reasoning("hm").tokens(12, 3));
        let mut today = bench.complete(&Request::new("x").keep_raw()).await.unwrap();
        let raw = *today.raw.take().unwrap();
        let mut tomorrow = bench.answered(Reply::json(&grown(raw))).await.unwrap();
        // The server numbers its replies; where the id is a header it is another one.
        (today.request_id, tomorrow.request_id) = (None, None);
        assert!(today == tomorrow, "{today:?} {tomorrow:?}");
    })
    .await;
}
