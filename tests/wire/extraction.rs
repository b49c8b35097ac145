//! Typed extraction over the wire: each soft failure leads where the taxonomy says.

use std::future::IntoFuture;

use backstop::{
    Output,
    mock::{
        MockServer,
        server::{Completion, Reply},
    },
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{chain, kinds};

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
struct Invoice {
    number: String,
    total: f64,
}

const GOOD: &str = r#"{"number":"A-1","total":12.5}"#;

fn good() -> Invoice {
    Invoice { number: "A-1".into(), total: 12.5 }
}

/// Extracts over two servers, of which the second always answers well. Gives the kinds of the failures and the
/// requests that each server got.
async fn extract(replies: Vec<Reply>) -> (Vec<FailureKind>, Vec<Value>, Vec<Value>) {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    for reply in replies {
        first.push(reply);
    }
    second.push(Reply::text(GOOD));
    let answer = chain(&[&first, &second]).extract::<Invoice>("mail").await.unwrap();
    assert_eq!(answer.value, good());
    let bodies =
        |server: &MockServer| server.requests().iter().map(|request| request.json().clone()).collect();
    (kinds(&answer.report), bodies(&first), bodies(&second))
}

#[tokio::test]
async fn clean_json_is_taken_as_it_is_and_the_schema_goes_out_strict() {
    let (failures, first, _) = extract(vec![Reply::text(GOOD)]).await;
    assert_eq!(failures, []);
    let format = &first[0]["response_format"];
    assert_eq!(
        (format["type"].as_str(), format["json_schema"]["strict"].as_bool()),
        (Some("json_schema"), Some(true))
    );
    assert_eq!(format["json_schema"]["schema"]["properties"]["total"]["type"], "number");
}

#[tokio::test]
async fn json_in_fences_or_prose_is_accepted_and_recorded() {
    for text in [format!("```json\n{GOOD}\n```"), format!("Sure! Here it is: {GOOD} Anything else?")] {
        let server = MockServer::start().await.unwrap();
        server.push(Reply::text(text));
        let answer = chain(&[&server]).extract::<Invoice>("mail").await.unwrap();
        assert_eq!(answer.value, good());
        assert!(!answer.repairs.is_empty() && answer.coercions.is_empty());
    }
}

#[tokio::test]
async fn an_answer_that_breaks_the_schema_is_sent_back_once_with_the_errors() {
    let bad = r#"{"number":"A-1","total":"twelve"}"#;
    let (failures, first, _) = extract(vec![Reply::text(bad), Reply::text(GOOD)]).await;
    assert_eq!(failures, [FailureKind::SchemaMismatch]);
    let messages = first[1]["messages"].as_array().unwrap();
    let tail: Vec<_> =
        messages[messages.len() - 2..].iter().map(|message| message["content"].to_string()).collect();
    assert!(tail[0].contains("twelve"), "the model's own answer: {tail:?}");
    assert!(tail[1].contains("/total") && tail[1].contains("expected number"), "the errors: {tail:?}");
}

#[tokio::test]
async fn after_failing_over_nothing_of_the_first_providers_answer_is_in_the_request() {
    let bad = r#"{"number":"LEAK","total":"LEAK"}"#;
    let (failures, first, second) = extract(vec![Reply::text(bad)]).await;
    assert_eq!(failures, [FailureKind::SchemaMismatch, FailureKind::SchemaMismatch]);
    assert_eq!((first.len(), second.len()), (2, 1));
    assert!(first[1].to_string().contains("LEAK"));
    assert!(!second[0].to_string().contains("LEAK"));
    assert_eq!(second[0]["messages"], first[0]["messages"]);
}

#[tokio::test]
async fn each_unusable_answer_leads_where_the_taxonomy_says() {
    use FailureKind::{Empty, NotJson, Refused, Truncated};
    let cases: [(Reply, FailureKind, usize); 7] = [
        (Completion::empty().into(), Empty, 2),
        (Reply::refusal("I can't help with that."), Refused, 1),
        (Reply::text("I'm sorry, but I can't help with that request."), Refused, 1),
        (Reply::text("The invoice is number A-1."), NotJson, 2),
        (Completion::truncated(r#"{"number":"A-"#).into(), Truncated, 2),
        (Reply::text(r#"{"number":"A-1","tot"#), Truncated, 2),
        (Completion::filtered("").into(), FailureKind::Filtered, 1),
    ];
    for (index, (reply, kind, requests)) in cases.into_iter().enumerate() {
        let (failures, first, second) = extract(vec![reply]).await;
        assert_eq!(failures, vec![kind; requests], "case {index}");
        assert_eq!((first.len(), second.len()), (requests, 1), "case {index}");
    }
}

#[tokio::test]
async fn roots_that_are_no_objects_are_wrapped_on_the_wire_only() {
    #[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mood {
        Good,
        Bad,
    }
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text(r#"{"value":["one","two"]}"#));
    server.push(Reply::text(r#"["one"]"#));
    server.push(Reply::text(r#"{"value":"good"}"#));
    server.push(Reply::text(r#"{"value":7}"#));
    let chain = chain(&[&server]);
    assert_eq!(chain.extract::<Vec<String>>("x").await.unwrap().value, ["one", "two"]);
    assert_eq!(chain.extract::<Vec<String>>("x").await.unwrap().value, ["one"]);
    assert_eq!(chain.extract::<Mood>("x").await.unwrap().value, Mood::Good);
    assert_eq!(chain.extract::<u8>("x").await.unwrap().value, 7);
    let requests = server.requests();
    let schema = &requests[0].json()["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["properties"]["value"]["type"], "array");
}

#[tokio::test]
async fn a_schema_known_at_run_time_is_held_against_the_answer() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text(r#"{"city":"Paris"}"#));
    let chain = chain(&[&server]);
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let answer = chain.extract_value(schema, "capital of France?").await.unwrap();
    assert_eq!(answer.value, json!({"city": "Paris"}));
    let error = chain.extract_value(json!({"type": "no such type"}), "x").await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Config);
    assert!(error.to_string().contains("no usable JSON Schema"), "{error}");
    assert_eq!(server.requests().len(), 1, "nothing is sent for a schema that cannot work");
}

#[tokio::test]
async fn many_inputs_are_extracted_side_by_side_and_one_failure_ends_nothing() {
    use futures_util::StreamExt;
    let server = MockServer::start().await.unwrap();
    server.respond_with(|request| {
        let messages = request.messages();
        match messages.iter().find(|message| message.role == "user").map(|message| message.text.as_str()) {
            Some("bad") | None => Reply::text("no"),
            Some(text) => Reply::text(format!(r#"{{"number":"{text}","total":1}}"#)),
        }
    });
    let chain = chain(&[&server]);
    let mut results: Vec<_> = chain.extract_all::<Invoice, _>(["a", "bad", "c"], 2).collect().await;
    results.sort_by_key(|(index, _)| *index);
    let numbers: Vec<_> = results
        .iter()
        .map(|(_, result)| result.as_ref().ok().map(|answer| answer.value.number.as_str()))
        .collect();
    assert_eq!(numbers, [Some("a"), None, Some("c")]);
}

#[tokio::test]
async fn text_is_checked_for_refusals_in_words() {
    let (first, second) = (MockServer::start().await.unwrap(), MockServer::start().await.unwrap());
    first.push(Reply::text("I'm sorry, but I can't assist with that."));
    second.push(Reply::text("It opens at nine."));
    let answer = chain(&[&first, &second]).text("When does it open?").await.unwrap();
    assert_eq!(
        (answer.value.as_str(), kinds(&answer.report)),
        ("It opens at nine.", vec![FailureKind::Refused])
    );
}

#[tokio::test]
async fn a_call_runs_on_another_task() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text(GOOD));
    let call = chain(&[&server]).extract::<Invoice>(Request::new("mail").output(Output::Text));
    assert_eq!(tokio::spawn(call.into_future()).await.unwrap().unwrap().value, good());
}
