//! Schemas that a vendor refuses or ignores, and values that do not follow them.

use backstop::{
    mock::{
        MockProvider, MockServer, Step,
        server::{ApiError, Received, Reply},
    },
    prelude::*,
    validate::coerce::Mode,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{answering, at, bodies, chain, gemini, hits, kinds, openai, over, server, short};

/// Whether a key stands anywhere in a schema as a keyword.
fn has_key(value: &Value, keys: &[&str]) -> bool {
    match value {
        Value::Object(map) => {
            map.iter().any(|(key, inner)| keys.contains(&key.as_str()) || has_key(inner, keys))
        }
        Value::Array(items) => items.iter().any(|inner| has_key(inner, keys)),
        _ => false,
    }
}

#[tokio::test]
async fn sc_02_each_vendor_gets_the_schema_in_the_dialect_that_it_takes() {
    let picky = MockServer::start().await.unwrap();
    picky.respond_with(|request: &Received| {
        let config = &request.json()["generationConfig"];
        match config.get("responseSchema") {
            Some(schema)
                if has_key(
                    schema,
                    &["$schema", "additionalProperties", "title", "default", "$ref", "$defs"],
                ) =>
            {
                Reply::from(
                    ApiError::status(400).kind("INVALID_ARGUMENT").message("Unknown name in the schema"),
                )
            }
            Some(_) => Reply::text("{\"name\": \"n\", \"size\": 3}"),
            None => Reply::from(ApiError::status(400).message("a schema is wanted here")),
        }
    });
    let down = server([ApiError::overloaded()]).await;
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Thing",
        "type": "object",
        "additionalProperties": false,
        "$defs": {"Size": {"type": "integer", "title": "Size"}},
        "properties": {"name": {"type": "string", "default": "none"}, "size": {"$ref": "#/$defs/Size"}},
        "required": ["name", "size"],
    });
    let older = short(gemini(&picky).model("gemini-2.0-flash"), "second");
    let chain = chain([at(&down, "first"), older]);
    let answer = chain.extract_value(schema, "x").await.unwrap();
    assert_eq!(answer.report.served_by(), Some("second"), "{}", answer.report);
    assert_eq!((answer.value, hits(&picky)), (json!({"name": "n", "size": 3}), 1));
}

#[tokio::test]
async fn sc_04_what_a_vendor_took_and_ignored_is_checked_here() {
    let schema = json!({
        "type": "object",
        "properties": {"code": {"type": "string", "pattern": "^[0-9]{5}$"}},
        "required": ["code"],
    });
    let (first, second) = (answering("{\"code\": \"1234\"}").await, answering("{\"code\": \"12345\"}").await);
    let answer = over(&[&first, &second]).extract_value(schema, "x").await.unwrap();
    assert_eq!(kinds(&answer.report), [FailureKind::SchemaMismatch, FailureKind::SchemaMismatch]);
    assert!(answer.report.to_string().contains("/code"), "{}", answer.report);
    assert_eq!(answer.value, json!({"code": "12345"}));
}

fn wants() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false})
}

#[tokio::test]
async fn sc_06_a_server_without_response_formats_is_asked_in_words_and_that_is_remembered() {
    type Known = fn(&Value) -> bool;
    let none: Known = |format| format.is_null();
    let json_mode: Known = |format| format.is_null() || format["type"] == "json_object";
    // Which formats the server knows, and in how many requests two calls are served.
    for (knows, requests) in [(none, 4), (json_mode, 3)] {
        let server = MockServer::start().await.unwrap();
        server.respond_with(move |request: &Received| {
            if knows(&request.json()["response_format"]) {
                return Reply::text("Sure:\n```json\n{\"a\": 1}\n```");
            }
            Reply::json(&json!({"error": "unknown field response_format"})).status(400)
        });
        let chain = chain([at(&server, "first")]);
        for _ in 0..2 {
            let answer = chain.extract_value(wants(), "x").await.unwrap();
            assert_eq!(answer.value, json!({"a": 1}));
        }
        let sent = bodies(&server);
        assert_eq!(sent.len(), requests, "{sent:?}");
        let last = sent.last().unwrap();
        assert!(knows(&last["response_format"]) && last["messages"].to_string().contains("JSON Schema"));
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Reading {
    value: Option<f64>,
}

#[tokio::test]
async fn sc_07_null_stays_null_where_null_is_allowed() {
    for mode in [Mode::Off, Mode::Safe, Mode::Eager] {
        let provider = MockProvider::new("p", [Step::text("{\"value\": null}")]);
        let chain = chain([provider.model("m")]);
        let answer = chain.extractor::<Reading>().input("x").coercion(mode).await.unwrap();
        assert_eq!((answer.value.value, answer.coercions.len()), (None, 0));
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Colour {
    Red,
    Blue,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Item {
    n: i64,
    ok: bool,
    colour: Colour,
}

async fn item(text: &str, mode: Mode) -> Result<(Item, usize), String> {
    let provider = MockProvider::new("p", [Step::text(text)]);
    let chain = chain([provider.model("m").reasks(0)]);
    let answer = chain.extractor::<Item>().input("x").coercion(mode).await;
    answer.map(|answer| (answer.value, answer.coercions.len())).map_err(|error| error.to_string())
}

#[tokio::test]
async fn sc_08_values_are_converted_only_where_nothing_is_lost_and_it_is_said() {
    let text = r#"{"n": "42", "ok": "true", "colour": "red"}"#;
    let error = item(text, Mode::Off).await.unwrap_err();
    assert!(["/n", "/ok", "/colour"].iter().all(|place| error.contains(place)), "{error}");
    let red = |n| Item { n, ok: true, colour: Colour::Red };
    assert_eq!(item(text, Mode::Safe).await, Ok((red(42), 3)));
    assert_eq!(
        item(r#"{"n": 3.0, "ok": true, "colour": "Red"}"#, Mode::Safe).await.map(|it| it.0),
        Ok(red(3))
    );
    for n in ["\"1,000\"", "\"4 apples\"", "3.5", "\"\"", "null"] {
        let text = format!("{{\"n\": {n}, \"ok\": true, \"colour\": \"Red\"}}");
        let error = item(&text, Mode::Safe).await.unwrap_err();
        assert!(error.contains("/n"), "{n}: {error}");
    }
}

/// The failure's message, or the value.
async fn reads(text: &str, schema: &Value) -> Result<Value, String> {
    let provider = MockProvider::new("p", [Step::text(text)]);
    let chain = chain([provider.model("m").reasks(0)]);
    let answer = chain.extract_value(schema.clone(), "x").await;
    answer.map(|answer| answer.value).map_err(|error| error.to_string())
}

#[tokio::test]
async fn sc_09_what_does_not_follow_the_schema_is_named_by_its_place() {
    let open = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    assert_eq!(reads(r#"{"a": 1, "more": 2}"#, &open).await, Ok(json!({"a": 1, "more": 2})));
    assert_eq!(reads(r#"{"a": 1, "more": 2}"#, &wants()).await, Ok(json!({"a": 1})), "said as a conversion");
    let missing = reads(r#"{"b": 1}"#, &wants()).await.unwrap_err();
    assert!(missing.contains("`a`"), "{missing}");
    let wrong = reads(r#"{"a": [1]}"#, &wants()).await.unwrap_err();
    assert!(wrong.contains("/a") && wrong.contains("integer"), "{wrong}");
    for text in [r#"{"result": {"a": 1}}"#, r#"{"properties": {"a": 1}}"#, &wants().to_string()] {
        assert!(reads(text, &wants()).await.is_err(), "{text}");
    }
}

#[tokio::test]
async fn sc_10_none_means_none() {
    let provider = MockProvider::new("p", [Step::text("nothing of the kind")]);
    let chain = chain([provider.clone().model("m").retries(0).reasks(0)]);
    chain.extract_value(wants(), "x").await.unwrap_err();
    assert_eq!(provider.calls(), 1);
    let server = answering("nothing of the kind").await;
    let target = short(openai(&server).model("m"), "first").retries(0).reasks(0);
    crate::support::chain([target]).extract_value(wants(), "x").await.unwrap_err();
    assert_eq!(hits(&server), 1);
}
