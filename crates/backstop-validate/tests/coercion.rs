//! What is converted to fit a schema, and what never is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use backstop_validate::coerce::{CoercionKind, Mode, coerce};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Schema of the property `x`, its value, the value after conversion, the kind.
fn conversions() -> Vec<(Value, Value, Value, &'static str)> {
    let one_of_three = json!({"enum": ["IN_PROGRESS", "DONE", "OPEN"]});
    let point = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    vec![
        (json!({"type": "integer"}), json!(" 30 "), json!(30), "string_to_number"),
        (json!({"type": "number"}), json!("-3.50"), json!(-3.5), "string_to_number"),
        (json!({"type": "integer"}), json!("3.0"), json!(3), "string_to_number"),
        (json!({"type": "number"}), json!("-2,000.00"), json!(-2000.0), "grouped_number"),
        (json!({"type": "integer"}), json!(3.0), json!(3), "float_to_integer"),
        (json!({"type": "string"}), json!(12), json!("12"), "integer_to_string"),
        (json!({"type": "boolean"}), json!("True"), json!(true), "string_to_bool"),
        (json!({"type": ["integer", "null"]}), json!("None"), json!(null), "string_to_null"),
        (one_of_three.clone(), json!("in progress"), json!("IN_PROGRESS"), "enum_spelling"),
        (json!({"const": "a"}), json!("A"), json!("a"), "enum_spelling"),
        (json!({"type": "array", "items": {"type": "string"}}), json!("a"), json!(["a"]), "wrapped"),
        (point.clone(), json!("{\"n\": 1}"), json!({"n": 1}), "json_in_string"),
        (json!({"type": "boolean"}), json!("yes"), json!(true), "word_to_bool"),
        (json!({"type": "boolean"}), json!(0), json!(false), "word_to_bool"),
        (json!({"type": "number"}), json!("$1,234.50"), json!(1234.5), "text_to_number"),
        (json!({"type": "number"}), json!("1/5"), json!(0.2), "text_to_number"),
        (json!({"type": "string"}), json!(1.5), json!("1.5"), "float_to_string"),
        (one_of_three, json!("It is done."), json!("DONE"), "enum_in_sentence"),
        (json!({"type": "integer"}), json!([7]), json!(7), "unwrapped"),
        (point, json!(5), json!({"n": 5}), "only_property"),
    ]
}

fn with_x(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}, "required": ["x"]})
}

fn run(schema: &Value, value: Value, mode: Mode) -> (Value, Vec<String>) {
    let (value, coercions) = coerce(value, schema, mode);
    (value, coercions.iter().map(ToString::to_string).collect())
}

#[test]
fn each_conversion_is_done_from_its_mode_on_and_listed() {
    for (schema, from, to, word) in conversions() {
        let kind = *CoercionKind::ALL.iter().find(|kind| kind.as_str() == word).unwrap();
        let schema = with_x(schema);
        for mode in [Mode::Off, Mode::Safe, Mode::Eager] {
            let (value, log) = run(&schema, json!({"x": from}), mode);
            if mode >= kind.mode() {
                assert_eq!((value, log), (json!({"x": to}), vec![format!("{word} at /x")]), "{schema}");
            } else {
                assert_eq!((value, log), (json!({"x": from}), vec![]), "{schema}");
            }
        }
    }
}

#[test]
fn every_kind_has_an_example() {
    let shown: BTreeSet<&str> = conversions()
        .into_iter()
        .map(|(_, _, _, word)| word)
        // Those of whole objects have tests of their own.
        .chain(["null_to_absent", "unknown_property", "key_spelling"])
        .collect();
    assert_eq!(shown.len(), CoercionKind::ALL.len());
}

#[test]
fn keys_are_respelled_dropped_and_left_out_only_where_one_reading_is_left() {
    let schema = json!({
        "type": "object",
        "properties": {"first_name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["first_name"],
        "additionalProperties": false,
    });
    let (value, log) = run(&schema, json!({"firstName": "Ada", "age": null, "note": 1}), Mode::Safe);
    assert_eq!(value, json!({"first_name": "Ada"}));
    assert_eq!(log, ["key_spelling at /firstName", "unknown_property at /note", "null_to_absent at /age"]);
    let (value, _) = run(&schema, json!({"firstName": "Ada", "FirstName": "Eve"}), Mode::Safe);
    assert_eq!(value.get("first_name"), None);
    let (value, log) =
        run(&json!({"properties": {"": {"type": "null"}}}), json!({"-": 1, " ": 2}), Mode::Eager);
    assert_eq!((value, log.len()), (json!({"-": 1, " ": 2}), 0), "names without a letter mean nothing");
}

#[test]
fn what_would_be_an_opinion_or_a_loss_is_never_done() {
    let cases = [
        (json!({"type": "integer"}), json!(3.7)),
        (json!({"type": "integer"}), json!("007")),
        (json!({"type": "integer"}), json!("3 apples")),
        (json!({"type": "integer"}), json!("99999999999999999999")),
        (json!({"type": "number"}), json!("0.12345678901234567890")),
        (json!({"type": "number"}), json!("50%")),
        (json!({"type": "number"}), json!("1,23")),
        (json!({"type": "number"}), json!("1,23.5")),
        (json!({"type": "number"}), json!("NaN")),
        (json!({"type": "string"}), json!({"a": 1})),
        (json!({"type": "string"}), json!(null)),
        (json!({"type": "string"}), json!(["a", "b"])),
        (json!({"type": "boolean"}), json!("maybe")),
        (json!({"enum": ["ONE", "TWO"]}), json!("ONE or TWO")),
        (json!({"enum": ["One", "ONE"]}), json!("one")),
        (json!({"type": "array", "items": {"type": "integer"}}), json!("some")),
        (json!({"type": "object", "properties": {"a": {}, "b": {}}}), json!([1, 2])),
        (json!({"type": "string", "maxLength": 2}), json!("long")),
        (json!({"type": "integer", "maximum": 5}), json!(9)),
    ];
    for (schema, value) in cases {
        let schema = with_x(schema);
        let before = json!({"x": value});
        assert_eq!(run(&schema, before.clone(), Mode::Eager), (before, vec![]), "{schema}");
    }
    let required =
        json!({"type": "object", "properties": {"a": {"type": "string", "default": "d"}}, "required": ["a"]});
    assert_eq!(run(&required, json!({}), Mode::Eager), (json!({}), vec![]));
}

#[test]
fn a_variant_that_fits_beats_every_conversion() {
    let schema = with_x(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    assert_eq!(run(&schema, json!({"x": "3"}), Mode::Eager), (json!({"x": "3"}), vec![]));
    let tagged = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}], "$defs": {
        "A": {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        "B": {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "string"}}, "required": ["kind", "n"]},
    }});
    let (value, log) = run(&tagged, json!({"kind": "b", "n": 3}), Mode::Safe);
    assert_eq!((value, log), (json!({"kind": "b", "n": "3"}), vec!["integer_to_string at /n".to_owned()]));
}

#[test]
fn recursive_schemas_and_deep_values_end_on_a_small_stack() {
    let schema = json!({"$ref": "#/$defs/N", "$defs": {
        "N": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/N"}}]},
        "Loop": {"$ref": "#/$defs/Loop"},
    }});
    let deep = format!("{}\"1\"{}", "[".repeat(120), "]".repeat(120));
    let run = move || {
        let value: Value = serde_json::from_str(&deep).unwrap();
        let (same, _) = coerce(value.clone(), &schema, Mode::Eager);
        assert_eq!(same, value);
        let (looped, _) =
            coerce(json!("1"), &json!({"$ref": "#/$defs/Loop", "$defs": schema["$defs"]}), Mode::Eager);
        assert_eq!(looped, json!("1"));
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

/// Far above what either takes, and far below what comparing each with each does.
const LONG: Duration = Duration::from_secs(30);

#[test]
fn many_objects_with_strange_keys_take_no_longer_for_many_properties() {
    let properties: Map<_, _> = (0..2_000).map(|n| (format!("property_{n}"), json!({}))).collect();
    let schema = json!({"type": "array", "items": {"type": "object", "properties": properties}});
    let value: Value = (0..2_000).map(|n| json!({"Property 7": n, "other": n})).collect();
    let began = Instant::now();
    let (value, coercions) = coerce(value, &schema, Mode::Safe);
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert_eq!((&value[1999], coercions.len()), (&json!({"property_7": 1999, "other": 1999}), 2_000));
}

#[test]
fn copies_of_a_large_value_for_nested_unions_are_bounded() {
    let never = json!({"type": "object", "required": ["never"]});
    let union = (0..5).fold(never, |inner, _| json!({"anyOf": vec![inner; 8]}));
    let large: Value = (0..20_000).map(|n| json!({"text": n})).collect();
    let began = Instant::now();
    let (same, coercions) = coerce(large.clone(), &union, Mode::Safe);
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert!(same == large && coercions.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn numbers_survive_the_way_through_a_string(n: i64, f in -1.0e6_f64..1.0e6) {
        let integer = json!({"type": "integer"});
        prop_assert_eq!(coerce(json!(n.to_string()), &integer, Mode::Safe).0, json!(n));
        let text = format!("{f:.3}");
        let (value, _) = coerce(json!(text.clone()), &json!({"type": "number"}), Mode::Safe);
        prop_assert_eq!(value.as_f64().unwrap(), text.parse::<f64>().unwrap());
    }

    #[test]
    fn whatever_changes_is_listed_and_a_second_run_changes_nothing(text in "[0-9a-zA-Z.,$/ -]{0,8}", which in 0_usize..20) {
        let (schema, ..) = conversions().swap_remove(which);
        let schema = with_x(schema);
        let before = json!({"x": text});
        let (after, log) = coerce(before.clone(), &schema, Mode::Eager);
        prop_assert_eq!(after == before, log.is_empty());
        let (again, log) = coerce(after.clone(), &schema, Mode::Eager);
        prop_assert_eq!(again, after);
        prop_assert!(log.is_empty());
    }
}
