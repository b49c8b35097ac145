//! Text that is almost JSON, or more than JSON.

use backstop::{
    mock::{MockProvider, Step, server::Completion},
    prelude::*,
    validate::{Typed, coerce::Mode, json::Policy},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{answering, at, chain, kinds, over, server};

fn object(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// What becomes of an answer, in a chain of one target that is asked once: the value with the kinds of repair, or
/// the kind of failure.
async fn read(text: &str, schema: &Value) -> Result<(Value, Vec<String>), FailureKind> {
    let provider = MockProvider::new("p", [Step::text(text)]);
    let chain = chain([provider.model("m").reasks(0).retries(0)]);
    match chain.extract_value(schema.clone(), "x").await {
        Ok(answer) => {
            let repairs = answer.repairs.iter().chain(&answer.coercions);
            Ok((answer.value, repairs.map(|change| change.kind.to_string()).collect()))
        }
        Err(error) => Err(kinds(error.report())[0]),
    }
}

async fn taken(text: &str, schema: &Value, value: Value, repairs: &[&str]) {
    let repairs = repairs.iter().map(|&repair| repair.to_owned()).collect();
    assert_eq!(read(text, schema).await, Ok((value, repairs)), "{text}");
}

async fn refused(text: &str, schema: &Value, kind: FailureKind) {
    assert_eq!(read(text, schema).await, Err(kind), "{text}");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Line {
    a: String,
}

/// The same under a policy of repair.
async fn line(text: &str, policy: Policy) -> Result<String, FailureKind> {
    let provider = MockProvider::new("p", [Step::text(text)]);
    let chain = chain([provider.model("m").reasks(0).retries(0)]);
    let answer = chain.call("x", Typed::<Line>::new().policy(policy)).await;
    answer.map(|answer| answer.value.a).map_err(|error| kinds(error.report())[0])
}

#[tokio::test]
async fn js_01_a_fence_of_any_kind_is_taken_off() {
    let schema = object(json!({"a": {"type": "integer"}}));
    for text in [
        "```json\n{\"a\": 1}\n```",
        "```JSON\n{\"a\": 1}\n```",
        "~~~\n{\"a\": 1}\n~~~",
        "\n\n```\n\n{\"a\": 1}\n```\n",
    ] {
        taken(text, &schema, json!({"a": 1}), &["fence"]).await;
    }
}

#[tokio::test]
async fn js_06_backticks_inside_strings_and_prose_are_no_fences() {
    let schema = object(json!({"code": {"type": "string"}}));
    let code = "call `run` and then\n```js\nrun()\n``` again";
    let value = json!({"code": code});
    taken(&value.to_string(), &schema, value.clone(), &[]).await;
    taken(&format!("Here is `the` object: {value}"), &schema, value, &["prose"]).await;
}

#[tokio::test]
async fn js_07_an_array_is_kept_whole_or_not_taken() {
    let one = object(json!({"a": {"type": "integer"}}));
    let list = json!({"type": "array", "items": one});
    let text = "[{\"a\": 1}, {\"a\": 2}]";
    taken(text, &list, json!([{"a": 1}, {"a": 2}]), &[]).await;
    assert!(read(text, &one).await.is_err(), "no element may stand for the whole");
    refused("[{\"a\": 1}]", &one, FailureKind::SchemaMismatch).await;
}

#[tokio::test]
async fn js_08_of_two_different_objects_none_is_chosen_unless_the_schema_chooses() {
    let schema = object(json!({"a": {"type": "integer"}}));
    refused("{\"a\": 1}\n{\"a\": 2}", &schema, FailureKind::Ambiguous).await;
    let (value, repairs) = read("{\"a\": 1}\n{\"a\": 1}", &schema).await.unwrap();
    assert_eq!(value, json!({"a": 1}));
    assert!(!repairs.is_empty(), "that there were two is said");
    let (value, _) = read("{\"b\": \"x\"}\n{\"a\": 2}", &schema).await.unwrap();
    assert_eq!(value, json!({"a": 2}));
}

#[tokio::test]
async fn js_09_json_in_a_string_is_unpacked_where_the_schema_wants_no_string() {
    let schema = object(json!({"a": {"type": "integer"}}));
    let once = Value::String("{\"a\": 1}".to_owned()).to_string();
    let (value, repairs) = read(&once, &schema).await.unwrap();
    assert_eq!((value, repairs.contains(&"double_encoded".to_owned())), (json!({"a": 1}), true));
    let twice = Value::String(once.clone()).to_string();
    assert_eq!(read(&twice, &schema).await.unwrap().0, json!({"a": 1}));
    let many = (0..2).fold(once.clone(), |text, _| Value::String(text).to_string());
    assert!(read(&many, &schema).await.is_err(), "not without end");
    taken(&once, &json!({"type": "string"}), json!("{\"a\": 1}"), &[]).await;
}

#[tokio::test]
async fn js_10_a_field_that_holds_its_json_as_text_is_unpacked_only_by_coercion() {
    let schema =
        object(json!({"items": {"type": "array", "items": object(json!({"n": {"type": "integer"}}))}}));
    let text = r#"{"items": "[{\"n\": 1}]"}"#;
    taken(text, &schema, json!({"items": [{"n": 1}]}), &["json_in_string"]).await;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Order {
        items: Vec<u8>,
    }
    let provider = MockProvider::new("p", [Step::text(r#"{"items": "[1, 2]"}"#)]);
    let chain = chain([provider.model("m").reasks(0)]);
    let error = chain.extractor::<Order>().input("x").coercion(Mode::Off).await.unwrap_err();
    assert_eq!(kinds(error.report()), [FailureKind::SchemaMismatch]);
    assert!(error.to_string().contains("/items"), "{error}");
    assert_eq!(chain.extract::<Order>("x").await.unwrap().value.items, [1, 2]);
}

#[tokio::test]
async fn js_11_trailing_commas_go_and_strings_that_look_alike_stay() {
    let schema = object(json!({"a": {"type": "array"}, "s": {"type": "string"}}));
    let (value, repairs) = read(r#"{"a":[3,4,],"s":",]",}"#, &schema).await.unwrap();
    assert_eq!(value, json!({"a": [3, 4], "s": ",]"}));
    assert!(repairs.iter().all(|repair| repair == "trailing_comma") && !repairs.is_empty(), "{repairs:?}");
}

#[tokio::test]
async fn js_12_what_was_cut_off_is_never_closed_and_passed_off_as_whole() {
    let schema = object(json!({"items": {"type": "array"}}));
    let cut = r#"{"items":[{"n":1},{"n":2},{"n":3"#;
    for reply in [Completion::truncated(cut), Completion::text(cut)] {
        let (first, second) = (server([reply]).await, answering(r#"{"items":[]}"#).await);
        let answer = over(&[&first, &second]).extract_value(schema.clone(), "x").await.unwrap();
        assert!(
            kinds(&answer.report).iter().all(|kind| *kind == FailureKind::Truncated),
            "{}",
            answer.report
        );
        assert_eq!(answer.value, json!({"items": []}));
    }
}

#[tokio::test]
async fn js_13_words_of_other_languages_are_read_where_they_mean_one_thing() {
    let schema = object(json!({"b": {"type": "boolean"}, "c": {"type": ["string", "null"]}}));
    let (value, repairs) = read(r#"{"b": True, "c": None}"#, &schema).await.unwrap();
    assert_eq!(value, json!({"b": true, "c": null}));
    assert!(repairs.iter().all(|repair| repair == "literal"), "{repairs:?}");
    for word in ["NaN", "Infinity", "-Infinity"] {
        let schema = object(json!({"d": {"type": "number"}}));
        assert!(read(&format!("{{\"d\": {word}}}"), &schema).await.is_err(), "{word} is no number");
    }
    let action = object(json!({"action": {"type": "string", "enum": ["buy", "sell"]}}));
    assert!(read(r#"{"action": NONE}"#, &action).await.is_err());
    for policy in [Policy::Strict, Policy::Tolerant] {
        assert!(line(r#"{"a": NONE}"#, policy).await.is_err());
    }
}

#[tokio::test]
async fn js_14_a_missing_quote_is_not_guessed_where_text_could_change_its_field() {
    let schema = object(json!({
        "title": {"type": "string"}, "rating": {"type": "integer"}, "slug": {"type": "string"}
    }));
    assert!(read(r#"{"title":"abc"rating": 4,"slug":"x"}"#, &schema).await.is_err());
    // Where the comma says what was meant, it is mended and said.
    let meant = json!({"title": "abc", "rating": 4, "slug": "x"});
    taken(r#"{"title":"abc, "rating": 4,"slug":"x"}"#, &schema, meant, &["missing_quote"]).await;
}

#[tokio::test]
async fn js_16_raw_control_characters_in_strings_are_kept_and_said() {
    let text = "{\"a\":\"one\ntwo\tthree\"}";
    assert_eq!(line(text, Policy::Tolerant).await.as_deref(), Ok("one\ntwo\tthree"));
    assert_eq!(line(text, Policy::Strict).await, Err(FailureKind::NotJson));
    let (_, repairs) = read(text, &object(json!({"a": {"type": "string"}}))).await.unwrap();
    assert!(repairs.contains(&"raw_control".to_owned()), "{repairs:?}");
}

#[tokio::test]
async fn js_18_halves_of_characters_are_joined_or_replaced_and_never_a_panic() {
    assert_eq!(line(r#"{"a": "\ud83d\ude00!"}"#, Policy::Strict).await.as_deref(), Ok("\u{1f600}!"));
    for lone in [r#"{"a": "\ud83d"}"#, r#"{"a": "\ude00 x"}"#, r#"{"a": "\ud83d\u0041"}"#] {
        let tolerant = line(lone, Policy::Tolerant).await;
        assert!(
            tolerant.is_err() || tolerant.as_ref().is_ok_and(|text| text.contains('\u{fffd}')),
            "{lone}: {tolerant:?}"
        );
        assert_eq!(line(lone, Policy::Strict).await, Err(FailureKind::NotJson), "{lone}");
    }
}

#[tokio::test]
async fn js_19_an_answer_that_starts_over_is_not_taken_from_its_first_half() {
    let schema = object(json!({"r": {"type": "string"}}));
    refused(r#"{"r":"The beginning {"r":"The whole"}"#, &schema, FailureKind::NotJson).await;
}

#[tokio::test]
async fn js_21_an_answer_of_blank_lines_up_to_the_limit_was_cut_off() {
    let text = format!("{{\"a\":{}", "\n".repeat(5_000));
    let schema = object(json!({"a": {"type": "integer"}}));
    let first = server([Completion::truncated(&text).tokens(5, 4_000)]).await;
    let chain = chain([at(&first, "first").max_output_tokens(4_000)]);
    let error = chain.extract_value(schema, Request::new("x").max_tokens(4_000)).await.unwrap_err();
    assert_eq!(kinds(error.report()), [FailureKind::Truncated]);
    assert!(error.to_string().len() < 500, "{error}");
}
