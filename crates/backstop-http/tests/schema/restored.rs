//! Answers back in the form of the caller's schema.

use backstop_http::schema::{Dialect, render};
use serde_json::{Value, json};

fn restored(schema: &Value, answer: &str) -> String {
    render(schema, &Dialect::OPENAI_STRICT).unwrap().restore(schema, answer.to_owned())
}

#[test]
fn nulls_that_stand_for_absence_go() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": ["integer", "null"]},
            "c": {"type": "array", "items": {"$ref": "#/$defs/C"}},
            "d": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]}]},
        },
        "required": ["c"],
        "$defs": {"C": {"type": "object", "properties": {"x": {"type": "string"}, "z": {"type": ["string", "null"]}}}},
    });
    let table = [
        (r#"{"a":null,"b":null,"c":[],"d":null}"#, r#"{"b":null,"c":[]}"#),
        (
            r#"{"a":1,"b":null,"c":[{"x":null,"z":null}],"d":{"x":null}}"#,
            r#"{"a":1,"b":null,"c":[{"z":null}],"d":{}}"#,
        ),
        // A required null is a wrong answer, and stays one.
        (r#"{"c":null}"#, r#"{"c":null}"#),
        (r#"{"a": 1, "c": []}"#, r#"{"a": 1, "c": []}"#),
        (r#"{"a":null,"c":["#, r#"{"a":null,"c":["#),
        ("I cannot.", "I cannot."),
        (r#"{"other":null}"#, r#"{"other":null}"#),
    ];
    for (answer, expected) in table {
        assert_eq!(restored(&schema, answer), expected);
    }
}

#[test]
fn wrapped_answers_are_taken_out() {
    let schema =
        json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let table = [
        (r#"{"value":[{"a":null},{"a":"x"}]}"#, r#"[{},{"a":"x"}]"#),
        (r#"[{"a":"x"}]"#, r#"[{"a":"x"}]"#),
        (r#"{"value":[],"more":1}"#, r#"{"value":[],"more":1}"#),
        (r#"{"value":["#, r#"{"value":["#),
    ];
    for (answer, expected) in table {
        assert_eq!(restored(&schema, answer), expected);
    }
}

#[test]
fn answers_to_unchanged_schemas_are_not_touched() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]});
    let rendered = render(&schema, &Dialect::OPENAI_STRICT).unwrap();
    assert!(!rendered.changes_answers());
    assert_eq!(rendered.restore(&schema, r#"{ "a" : null }"#.into()), r#"{ "a" : null }"#);
}
