//! One example for each kind of repair, and what is refused instead.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeSet;

use backstop_validate::json::{
    Candidates, CutState, ExtractError, Extractor, Fit, Limits, Policy, RepairKind, Risk,
};
use serde_json::{Value, json};

fn tolerant(text: &str) -> Result<(Value, Vec<&'static str>), ExtractError> {
    with(Policy::Tolerant, text)
}

fn with(policy: Policy, text: &str) -> Result<(Value, Vec<&'static str>), ExtractError> {
    let found = Extractor::new().policy(policy).extract(text)?;
    Ok((found.value, found.repairs.iter().map(|repair| repair.kind.as_str()).collect()))
}

/// Text, value, and the kinds of repair it takes with the default policy.
fn repaired() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    vec![
        ("\u{feff}{\"a\": 1}", json!({"a": 1}), vec!["byte_order_mark"]),
        ("Sure: {\"a\": 1}. Bye!", json!({"a": 1}), vec!["prose"]),
        ("```json\n{\"a\": 1}\n```", json!({"a": 1}), vec!["fence"]),
        ("<think>{\"a\": 0}?</think>{\"a\": 1}", json!({"a": 1}), vec!["reasoning"]),
        ("{\\\"a\\\": \\\"b\\\"}", json!({"a": "b"}), vec!["escaped_document"]),
        ("{\"a\":\u{a0}1}", json!({"a": 1}), vec!["odd_blank"]),
        ("{\"a\": 1 // one\n}", json!({"a": 1}), vec!["comment"]),
        ("{\"a\": 1 /* one */}", json!({"a": 1}), vec!["comment"]),
        ("{\"a\": 1 # one\n}", json!({"a": 1}), vec!["comment"]),
        ("[\"x\", {\"a\": 1,}]", json!(["x", {"a": 1}]), vec!["trailing_comma"]),
        ("[\"x\",, \"y\"]", json!(["x", "y"]), vec!["extra_comma"]),
        ("{\"a\": 1 \"b\": 2}", json!({"a": 1, "b": 2}), vec!["missing_comma"]),
        ("{\"a\" 1}", json!({"a": 1}), vec!["missing_colon"]),
        ("{\"a\": 'it's'}", json!({"a": "it's"}), vec!["quotes", "inner_quote"]),
        ("{“a”: „b“}", json!({"a": "b"}), vec!["quotes", "quotes"]),
        ("{\"\"a\"\": \"\"b\"\"}", json!({"a": "b"}), vec!["repeated_quotes", "repeated_quotes"]),
        ("{\"a\": \"\"\"x \"y\" z\"\"\"}", json!({"a": "x \"y\" z"}), vec!["repeated_quotes"]),
        ("{a: 1}", json!({"a": 1}), vec!["unquoted_key"]),
        ("{\"a\": True, \"b\": None}", json!({"a": true, "b": null}), vec!["literal", "literal"]),
        (
            "{\"a\": +1, \"b\": .5, \"c\": 1_000}",
            json!({"a": 1, "b": 0.5, "c": 1000}),
            vec!["number_form"; 3],
        ),
        ("{\"a\": \"x\ny\tz\"}", json!({"a": "x\ny\tz"}), vec!["raw_control"]),
        ("{\"a\": \"\\d+ C:\\temp\"}", json!({"a": "\\d+ C:\temp"}), vec!["invalid_escape"]),
        ("{\"a\": (1, 2)}", json!({"a": [1, 2]}), vec!["tuple"]),
        ("{{\"a\": 1}}", json!({"a": 1}), vec!["doubled_braces"]),
        ("{\"a\": 1}}]", json!({"a": 1}), vec!["extra_closer"]),
        ("[{\"a\": 1}}, {\"a\": 2}]", json!([{"a": 1}, {"a": 2}]), vec!["extra_closer"]),
        ("{\"a\": [1, 2}, \"b\": 3}", json!({"a": [1, 2], "b": 3}), vec!["wrong_closer"]),
        ("{\"a\": [1, 2}", json!({"a": [1, 2]}), vec!["missing_closer"]),
        ("```json\n{\"a\": [1]\n```", json!({"a": [1]}), vec!["missing_closer", "fence"]),
        ("[\"a\": 1]", json!([{"a": 1}]), vec!["missing_braces"]),
        ("{\"a\": \"the \"best\" one\"}", json!({"a": "the \"best\" one"}), vec!["inner_quote"; 2]),
        ("{\"a\": \"x, \"b\": \"y\"}", json!({"a": "x", "b": "y"}), vec!["missing_quote"]),
        ("{a\": 1}", json!({"a": 1}), vec!["missing_quote"]),
        ("{\"a\": New York, NY}", json!({"a": "New York, NY"}), vec!["unquoted_string"]),
        ("{\"id\": 007}", json!({"id": "007"}), vec!["unquoted_string"]),
        ("{\"a\": \"x\" + \"y\"}", json!({"a": "xy"}), vec!["joined_strings"]),
        ("{\"a\": [1, 2, ...]}", json!({"a": [1, 2]}), vec!["elided"]),
        ("{\"a\": \"\\ud83d!\"}", json!({"a": "\u{fffd}!"}), vec!["lone_surrogate"]),
        ("{\"a\": 1, \"a\": 2}", json!({"a": 2}), vec!["duplicate_key"]),
        ("[18446744073709551617]", json!(["18446744073709551617"]), vec!["wide_integer"]),
    ]
}

/// Text, the value that salvaging gives, and the guess it takes.
fn guessed() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("{\"a\": NaN}", json!({"a": null}), "non_finite"),
        ("{\"a\": 1e999}", json!({"a": null}), "non_finite"),
        ("{\"a\": , \"b\": 1}", json!({"a": null, "b": 1}), "missing_value"),
        ("{\"a\": 2e}", json!({"a": 2}), "broken_number"),
        ("[1, x\", 2]", json!([1, "x", 2]), "missing_opening_quote"),
        ("{\"a\": {\"b\": [1}, \"c\": 2}}", json!({"a": {"b": [1]}, "c": 2}), "mixed_brackets"),
        ("[\"a\" b\", \"c\"]", json!(["a\" b", "c"]), "doubtful_quote"),
        ("{\"a\": 1 really, \"b\": [2]}", json!({"a": "1 really", "b": [2]}), "unquoted_string"),
        ("{\"a\": [1] really, \"b\": 2}", json!({"a": [1], "b": 2}), "stray_text"),
        ("{\"a\": {\"b\": \"x", json!({"a": {"b": "x"}}), "cut"),
    ]
}

#[test]
fn each_repair_gives_the_value_and_is_listed() {
    for (text, value, kinds) in repaired() {
        assert_eq!(tolerant(text).unwrap(), (value, kinds), "{text}");
    }
}

#[test]
fn a_guess_is_made_only_when_salvaging() {
    for (text, value, kind) in guessed() {
        let (salvaged, kinds) = with(Policy::Salvage, text).unwrap();
        assert_eq!(salvaged, value, "{text}");
        assert!(kinds.contains(&kind), "{text}: {kinds:?}");
        if kind != "unquoted_string" {
            assert!(tolerant(text).is_err(), "{text}");
        }
    }
}

#[test]
fn every_kind_of_repair_has_an_example() {
    let shown: BTreeSet<&str> = repaired()
        .into_iter()
        .flat_map(|(_, _, kinds)| kinds)
        .chain(guessed().into_iter().map(|(_, _, kind)| kind))
        // Those that need a schema have tests of their own.
        .chain(["double_encoded", "collected", "null_for_nan"])
        .collect();
    let missing: Vec<_> = RepairKind::ALL.iter().filter(|kind| !shown.contains(kind.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn repairs_say_where_they_are() {
    let found = Extractor::new().extract("{\"a\": [{\"b/c\": True}]}").unwrap();
    let repair = &found.repairs[0];
    assert_eq!((repair.offset, repair.pointer.as_str(), repair.risk), (15, "/a/0/b~1c", Risk::Cosmetic));
    assert_eq!(found.risk(), Some(Risk::Cosmetic));
}

#[test]
fn the_strict_policy_takes_only_what_surrounds_the_json() {
    assert_eq!(with(Policy::Strict, "So: ```\n[1, 2]\n```").unwrap().0, json!([1, 2]));
    for text in ["{\"a\": 1,}", "{\"a\": 1, \"a\": 1}", "[18446744073709551617]", "Here: {a: 1}"] {
        assert!(matches!(with(Policy::Strict, text), Err(ExtractError::NotAllowed(_))), "{text}");
    }
}

#[test]
fn an_integer_that_a_float_holds_exactly_needs_no_repair() {
    assert_eq!(tolerant("[100000000000000000000]").unwrap(), (json!([1e20]), vec![]));
}

#[test]
fn cuts_are_told_by_place_and_state() {
    for (text, pointer, state) in [
        ("{", "", CutState::Container),
        ("[1, 2", "/1", CutState::Number),
        ("[1, ", "", CutState::Container),
        ("{\"a\": \"x", "/a", CutState::String),
        ("{\"a\": \"x\\", "/a", CutState::String),
        ("{\"a\": tr", "/a", CutState::Literal),
        ("{\"a\": 1, \"b", "", CutState::Key),
        ("{\"a\": 1, \"b\"", "/b", CutState::AfterKey),
        ("{\"a\": {\"b\":", "/a/b", CutState::AfterColon),
        ("Here:\n```json\n{\"a\": [{\"b\": 1}", "/a", CutState::Container),
    ] {
        let Err(ExtractError::Truncated(at)) = Extractor::new().extract(text) else { panic!("{text}") };
        assert_eq!((at.pointer.as_str(), at.state), (pointer, state), "{text}");
    }
}

#[test]
fn salvaging_keeps_what_was_read_and_flags_the_cut() {
    let found =
        Extractor::new().policy(Policy::Salvage).extract("{\"a\": [1, 2], \"b\": {\"c\": \"x y").unwrap();
    assert_eq!(found.value, json!({"a": [1, 2], "b": {"c": "x y"}}));
    assert_eq!(found.truncated.unwrap().pointer, "/b/c");
    let found = Extractor::new().policy(Policy::Salvage).extract("{\"a\": 1, \"b\": {\"c\":").unwrap();
    assert_eq!(found.value, json!({"a": 1, "b": {}}));
}

#[test]
fn several_different_values_are_ambiguous_unless_one_is_asked_for() {
    let text = "First {\"a\": 1}, or rather {\"a\": 2}.";
    assert_eq!(Extractor::new().extract(text), Err(ExtractError::Ambiguous { count: 2 }));
    let first = Extractor::new().candidates(Candidates::First).extract(text).unwrap();
    let last = Extractor::new().candidates(Candidates::Last).extract(text).unwrap();
    assert_eq!((first.value, first.different), (json!({"a": 1}), 2));
    assert_eq!((last.value, last.different), (json!({"a": 2}), 2));
    assert!(Extractor::new().extract("{\"a\": 1} and again {\"a\": 1}").is_ok());
}

#[test]
fn a_schema_decides_among_values() {
    let array = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_i64));
    let found = Extractor::new().extract_fitting("```\n{\"a\": 1}\n```\n```\n[1, 2]\n```", &array).unwrap();
    assert_eq!(found.value, json!([1, 2]));
    let object = |value: &Value| value.get("b").is_some();
    let error = Extractor::new().extract_fitting("{\"a\": 1}", &object).unwrap_err();
    assert!(matches!(error, ExtractError::Mismatch(would_be) if would_be.value == json!({"a": 1})));
}

#[test]
fn values_that_stand_apart_are_collected_if_the_schema_wants_an_array() {
    let rows = |value: &Value| value.as_array().is_some_and(|rows| rows.iter().all(Value::is_object));
    let found = Extractor::new().extract_fitting("{\"a\": 1}\n{\"a\": 2}\n", &rows).unwrap();
    assert_eq!(found.value, json!([{"a": 1}, {"a": 2}]));
    assert!(found.repairs.iter().any(|repair| repair.kind == RepairKind::Collected));
}

#[test]
fn a_document_inside_strings_is_opened_twice_at_most_and_only_for_a_schema() {
    let object = |value: &Value| value.is_object();
    let found = Extractor::new().extract_fitting("\"{\\\"a\\\": 1}\"", &object).unwrap();
    assert_eq!(found.value, json!({"a": 1}));
    assert_eq!(found.repairs[0].kind, RepairKind::DoubleEncoded);
    assert_eq!(tolerant("\"{\\\"a\\\": 1}\"").unwrap(), (json!("{\"a\": 1}"), vec![]));
    let twice = json!(json!("{\"a\": 1}").to_string()).to_string();
    assert_eq!(Extractor::new().extract_fitting(&twice, &object).unwrap().value, json!({"a": 1}));
    let thrice = json!(twice).to_string();
    assert!(Extractor::new().extract_fitting(&thrice, &object).is_err());
}

#[test]
fn a_number_json_cannot_write_is_null_only_where_the_schema_accepts_null() {
    let nullable = |value: &Value| value.get("x").is_some_and(Value::is_null);
    let found = Extractor::new().extract_fitting("{\"x\": NaN}", &nullable).unwrap();
    assert_eq!(found.repairs[0].kind, RepairKind::NullForNan);
    let number = |value: &Value| value.get("x").is_some_and(Value::is_number);
    assert!(Extractor::new().extract_fitting("{\"x\": NaN}", &number).is_err());
}

#[test]
fn what_is_inside_a_damaged_or_cut_value_is_never_the_answer() {
    for text in [
        "{\"a\" , \"b\": {\"c\": 1}}",
        "So: {\"a\" , \"b\": {\"c\": 1}}",
        "{\"a\": 1, \"b\": {\"c\": 1}, \"d",
        "{\\\"a\\\": {\\\"b\\\": 1}, \\\"c",
        "{\"a\": 1}, \"b\": 2}",
        "[{\"a\": 1}, {\"a\": ",
    ] {
        assert!(Extractor::new().candidates(Candidates::First).extract(text).is_err(), "{text}");
    }
}

#[test]
fn brackets_of_prose_are_no_json() {
    for text in [
        "See [1].",
        "Dear {name}, hello",
        "[link](https://x.y)",
        "{{user}} wrote",
        "a [TODO] b",
        "[TODO] b",
        "[1] A. Smith, 2020",
        "no JSON",
        "{x} {y}",
    ] {
        let outcome = Extractor::new().extract(text);
        assert!(outcome.is_err(), "{text}: {outcome:?}");
    }
    let found = Extractor::new().extract("As [1] and {this} say: {\"a\": 1} (see [2](x))").unwrap();
    assert_eq!(found.value, json!({"a": 1}));
}

#[test]
fn texts_without_an_answer_say_why() {
    let error = |text: &str| Extractor::new().extract(text).unwrap_err();
    assert_eq!(error(" \n"), ExtractError::Empty);
    assert_eq!(error("I cannot help."), ExtractError::NoJson);
    assert_eq!(error("<think>{\"a\": 1}</think>"), ExtractError::OnlyReasoning { unclosed: false });
    assert_eq!(error("<think>first {\"a\": 1}"), ExtractError::OnlyReasoning { unclosed: true });
    assert_eq!(error("{1, 2}").as_str(), "not_allowed");
    assert_eq!(error("{\"a\": [1 : 2]}").as_str(), "damaged");
    assert_eq!(error("{\"a\", \"b\"}").as_str(), "not_allowed");
    let mut limits = Limits::default();
    limits.max_bytes = 3;
    let error = Extractor::new().limits(limits).extract("[1, 2]").unwrap_err();
    assert_eq!(error, ExtractError::TooLong { len: 6, limit: 3 });
}

#[test]
fn a_repair_points_at_a_place_that_is_there() {
    for (text, place) in [
        ("{\"wishes\": [\"a\",\"b\",],}", vec!["/wishes", ""]),
        ("{\"a\": {\"b\": [1,,]}}", vec!["/a/b", "/a/b"]),
        ("[[1], [2,]]", vec!["/1"]),
        ("[1,]", vec![""]),
        ("[{\"a\": 1,}]", vec!["/0"]),
    ] {
        let found = Extractor::new().extract(text).unwrap();
        let pointers: Vec<&str> = found.repairs.iter().map(|repair| repair.pointer.as_str()).collect();
        assert_eq!(pointers, place, "{text}");
        assert!(pointers.iter().all(|pointer| found.value.pointer(pointer).is_some()), "{text}");
    }
}

#[test]
fn tags_and_fences_inside_strings_are_text() {
    for text in
        ["{\"a\": \"<think>x</think>\",}", "{\"a\": \"```json\\n{}\\n```\",}", "{\"a\": \"</think>{}\",}"]
    {
        let (value, kinds) = tolerant(text).unwrap();
        assert_eq!(kinds, ["trailing_comma"], "{text}");
        assert!(value["a"].as_str().unwrap().len() > 9, "{text}");
    }
}

#[test]
fn a_fit_after_coercion_yields_to_an_exact_one() {
    struct Wants;
    impl backstop_validate::json::Accept for Wants {
        fn fit(&self, value: &Value) -> Fit {
            match &value["n"] {
                Value::Number(_) => Fit::Exact,
                Value::String(_) => Fit::Coerced(1),
                _ => Fit::No,
            }
        }
    }
    let found = Extractor::new().extract_fitting("{\"n\": \"1\"} or {\"n\": 2}", &Wants).unwrap();
    assert_eq!(found.value, json!({"n": 2}));
}

#[test]
fn valid_json_at_the_start_is_taken_as_it_is_whatever_follows() {
    for (text, expected) in
        [(r#"{"a": "x "} "} and so on"#, json!({"a": "x "})), (r#"{"a": "x "} "}"#, json!({"a": "x "}))]
    {
        let extracted = Extractor::new().extract(text).unwrap();
        assert_eq!(extracted.value, expected, "{text}");
    }
}
