//! Answers that follow a schema.

use backstop::{
    FailureKind,
    mock::server::{ApiError, Reply},
    prelude::*,
};
use serde_json::{Value, json};

use crate::bench::every;

/// Has what many vendors do not hold a model to: a pattern, a bound, a property that may be missing.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "number": { "type": "string", "pattern": "^A-[0-9]+$" },
            "total": { "type": "number", "maximum": 100 },
            "note": { "type": "string" },
        },
        "required": ["number", "total"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn the_schema_reaches_the_model() {
    every(async |bench| {
        let request = Request::new("Pull the invoice out.").json_schema("invoice", schema());
        let answer = r#"{"number":"A-1","total":12.5}"#;
        let response = bench.answers(Reply::text(answer)).complete(&request).await.unwrap();
        assert_eq!(response.text, answer);
        let body = bench.received().json().to_string();
        for property in ["number", "total", "note"] {
            assert!(body.contains(property), "{body}");
        }
    })
    .await;
}

#[tokio::test]
async fn answers_are_held_against_the_callers_own_schema() {
    every(async |bench| {
        let wrong = r#"{"number":"B-7","total":12.5}"#;
        let too_much = r#"{"number":"A-1","total":1000}"#;
        for bad in [wrong, too_much] {
            bench.answers(Reply::text(bad)).server.push(Reply::text(r#"{"number":"A-1","total":12.5}"#));
            let before = bench.server.requests().len();
            let answer = bench.chain().extract_value(schema(), "mail").await.unwrap();
            assert_eq!(answer.value, json!({ "number": "A-1", "total": 12.5 }));
            let kinds: Vec<_> = answer.report.failures().map(|(_, kind)| kind).collect();
            assert_eq!(kinds, [FailureKind::SchemaMismatch], "{bad}");
            assert_eq!(bench.server.requests().len() - before, 2);
        }
    })
    .await;
}

#[tokio::test]
async fn a_list_is_a_list_whatever_the_wire_needs() {
    every(async |bench| {
        bench.server.respond_with(|request| {
            // A vendor that takes objects only has been sent a wrapped schema, and answers likewise.
            let wrapped = request.json().to_string().contains(r#""required":["value"]"#);
            Reply::text(if wrapped { r#"{"value":["a","b"]}"# } else { r#"["a","b"]"# })
        });
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let answer = bench.chain().extract_value(list, "letters").await.unwrap();
        assert_eq!(answer.value, json!(["a", "b"]));
        assert_eq!(bench.server.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_schema_that_the_vendor_refuses_is_asked_for_in_a_weaker_form() {
    every(async |bench| {
        bench.server.push(ApiError::schema_rejected());
        bench.server.push(Reply::text(r#"{"number":"A-1","total":12.5}"#));
        let answer = bench.chain().extract_value(schema(), "mail").await.unwrap();
        let kinds: Vec<_> = answer.report.failures().map(|(_, kind)| kind).collect();
        assert_eq!(kinds, [FailureKind::SchemaRejected]);
        let [first, second] = [0, 1].map(|index| bench.server.requests()[index].json().clone());
        assert_ne!(first, second);
    })
    .await;
}
