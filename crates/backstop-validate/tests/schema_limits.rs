//! Schemas and answers that are made to take long: what they cost is bounded, and nothing overflows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::{Duration, Instant};

use backstop_validate::Schema;
use serde_json::{Map, Value, json};

/// Far above what any of these takes on a slow machine, far below what the attack would cost.
const ENOUGH: Duration = Duration::from_secs(20);

fn in_time<T>(work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    assert!(started.elapsed() < ENOUGH, "took {:?}", started.elapsed());
    done
}

/// Definitions of which each refers to the next.
fn definitions(n: usize, refer: impl Fn(Value) -> Value, last: Value) -> Value {
    let next = |index: usize| json!({"$ref": format!("#/$defs/d{}", index + 1)});
    let mut all: Map<String, Value> = (0..n).map(|index| (format!("d{index}"), refer(next(index)))).collect();
    all.insert(format!("d{n}"), last);
    json!({"$ref": "#/$defs/d0", "$defs": all})
}

fn refused(schema: Value) -> String {
    Schema::new("x", schema).unwrap_err().to_string()
}

fn nested(depth: usize, leaf: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(leaf, |inner, _| wrap(inner))
}

#[test]
fn references_that_multiply_are_refused() {
    let four = |next: Value| json!({"allOf": [next, next, next, next]});
    let error = in_time(|| refused(definitions(12, four, json!({}))));
    assert!(error.contains("million"), "{error}");
    let below = |next: Value| json!({"allOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]});
    let error = in_time(|| refused(definitions(40, below, json!({}))));
    assert!(error.contains("million"), "{error}");
    let anchors = json!({
        "$defs": {
            "a": {"$anchor": "a", "anyOf": vec![json!({"$ref": "#b"}); 300]},
            "b": {"$anchor": "b", "anyOf": vec![json!({"$ref": "#c"}); 300]},
            "c": {"$anchor": "c", "anyOf": vec![json!({"type": "null"}); 300]}
        },
        "$ref": "#a"
    });
    assert!(refused(anchors).contains("million"));
}

#[test]
fn long_chains_of_references_are_refused_and_short_ones_fit_the_stack() {
    assert!(refused(definitions(10_000, |next| next, json!({}))).contains("32 times"));
    let schema = Schema::new("x", definitions(28, |next| next, json!({"items": {"$ref": "#"}}))).unwrap();
    let deep = nested(126, json!("x"), |inner| json!([inner]));
    assert!(schema.is_valid(&deep));
}

#[test]
fn a_schema_that_is_nothing_but_itself_ends() {
    for schema in
        [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]}), json!({"anyOf": [{"$ref": "#"}, false]})]
    {
        let schema = Schema::new("x", schema).unwrap();
        let _ = in_time(|| (schema.is_valid(&json!(1)), schema.violations(&json!(1))));
    }
}

#[test]
fn errors_of_deep_recursive_alternatives_stay_cheap() {
    let branch = |tag: &str| json!({"type": "object", "properties": {"left": {"$ref": "#/$defs/e"}, "op": {"const": tag}}});
    let schema = json!({"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [
        {"type": "integer"}, branch("add"), branch("mul"), branch("div")
    ]}}});
    let schema = Schema::new("x", schema).unwrap();
    let value = nested(60, json!(1), |inner| json!({"left": inner, "op": "pow"}));
    let violations = in_time(|| schema.violations(&value));
    assert_eq!(violations.len(), 1);
    assert!(violations[0].feedback().contains("follows the schema"), "{violations:?}");
}

#[test]
fn thousands_of_errors_cost_no_more_than_the_first_few() {
    let rows = Value::Array(vec![json!({"a": "x", "b": [1, 2]}); 60_000]);
    let schema = json!({"items": {"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        {"type": "null"}
    ]}});
    let schema = Schema::new("x", schema).unwrap();
    let violations = in_time(|| schema.violations(&rows));
    assert_eq!(violations.len(), 5);
    assert_eq!(violations[4].feedback(), "`/4/a`: expected integer, found \"x\"");
}

#[test]
fn the_number_of_items_is_never_judged_by_an_excerpt() {
    let mut rows = vec![json!("x"); 300_000];
    rows.push(json!(1));
    let schema = Schema::new("x", json!({"minItems": 1000, "items": {"type": "string"}})).unwrap();
    let violations = schema.violations(&Value::Array(rows));
    assert_eq!(violations.len(), 1);
    assert!(violations[0].pointer.is_empty() && !violations[0].expected.contains("1000"), "{violations:?}");
}

#[test]
fn huge_enums_are_searched_fast_and_listed_short() {
    let options: Vec<Value> = (0..45_000).map(|n| json!(format!("option {n}"))).collect();
    let schema = Schema::new("x", json!({"items": {"enum": options}})).unwrap();
    let valid = Value::Array(vec![json!("option 44999"); 100_000]);
    assert!(in_time(|| schema.is_valid(&valid)));
    let lines = in_time(|| schema.violations(&json!(["none"])));
    assert!(lines[0].feedback().ends_with("44988 more, found \"none\""), "{lines:?}");
}

#[test]
fn patterns_that_explode_are_refused_or_given_up() {
    assert!(in_time(|| refused(json!({"pattern": "(\\w{1000}){1000}"}))).contains("no usable JSON Schema"));
    let many: Vec<Value> = (0..300).map(|n| json!({"pattern": format!("^{n}$")})).collect();
    assert!(refused(json!({"anyOf": many})).contains("256 patterns"));
    let strings = Value::Array(vec![json!(format!("{}!", "a".repeat(40))); 500]);
    for pattern in ["^(a+)+$", "^(?=(a+)+$)", "^(a*)*\\1$", "^(a|aa|b\\1)+$"] {
        let schema = Schema::new("x", json!({"items": {"pattern": pattern}})).unwrap();
        let violations = in_time(|| schema.violations(&strings));
        assert_eq!(violations[0].expected, format!("a string that matches `{pattern}`"));
    }
}

#[test]
fn run_time_schemas_are_compiled_once() {
    let schema = || Schema::cached("point", json!({"type": "object", "required": ["x", "y"]})).unwrap();
    let first = schema();
    assert!(std::sync::Arc::ptr_eq(first.wire(), schema().wire()));
    let other = Schema::cached("other", json!({"type": "object", "required": ["x", "y"]})).unwrap();
    assert!(!std::sync::Arc::ptr_eq(first.wire(), other.wire()));
    let deep = nested(1_000, json!({}), |inner| json!({ "not": inner }));
    assert!(Schema::cached("deep", deep).unwrap_err().to_string().contains("96 levels"));
}
