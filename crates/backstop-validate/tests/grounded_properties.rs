//! What holds for every input and value.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use backstop_core::{Candidate, Request, Response};
use backstop_validate::{Grounded, InputSeen, Schema, Score};
use proptest::prelude::*;
use serde_json::{Value, json};

fn score(input: &str, value: &Value) -> Option<f64> {
    let (response, request) = (Response::new(value.to_string()), Request::new(input));
    let grounded = Grounded::new();
    let graded = grounded.score(Candidate::new(&response, &request).with_value(value));
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(graded).unwrap().score
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The same without what only JSON writes as it does: floats of any size, with exponents, and escapes.
fn as_documents_write(value: Value) -> Value {
    let plain = |text: String| text.replace(|c: char| c.is_control() || matches!(c, '"' | '\\'), "");
    match value {
        Value::Number(number) if number.is_f64() => Value::Null,
        Value::String(text) => plain(text).into(),
        Value::Array(items) => items.into_iter().map(as_documents_write).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (plain(key), as_documents_write(value))).collect()
        }
        other => other,
    }
}

/// Digits with separators for thousands.
fn grouped(number: u64, separator: char) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

proptest! {
    #[test]
    fn words_of_the_input_are_grounded(
        before in "\\PC{0,20}", words in "[\\p{L}\\p{N}][\\p{L}\\p{N} ,.-]{0,20}", after in "\\PC{0,20}",
    ) {
        prop_assume!(!words.trim().is_empty());
        let input = format!("{before} {words} {after}");
        prop_assert_eq!(score(&input, &json!({ "a": words })), Some(1.0));
        prop_assert_eq!(score(&input, &json!({ "a": words.to_uppercase() })).is_some(), true);
    }

    #[test]
    fn numbers_are_grounded_in_every_notation(whole in 0_u64..1_000_000_000_000, cents in 0_u64..100) {
        let number: f64 = format!("{whole}.{cents:02}").parse().unwrap();
        for (thousands, decimal) in [(',', '.'), ('.', ','), (' ', ','), ('\'', '.'), ('\u{202f}', ',')] {
            let input = format!("Total: {}{decimal}{cents:02} EUR", grouped(whole, thousands));
            prop_assert_eq!(score(&input, &json!([number])), Some(1.0), "{}", input);
        }
        let input = format!("{} pieces", grouped(whole, ','));
        prop_assert_eq!(score(&input, &json!([whole])), Some(1.0), "{}", input);
    }

    #[test]
    fn another_number_is_not_grounded(number in 1000_u64..u64::MAX / 2, other in 1000_u64..u64::MAX / 2) {
        prop_assume!(number != other);
        prop_assert_eq!(score(&format!("no. {number}."), &json!([other])), Some(0.0));
    }

    #[test]
    fn dates_are_grounded_in_common_forms(year in 1900_u16..2100, month in 1_u8..=12, day in 1_u8..=31) {
        let value = json!([format!("{year}-{month:02}-{day:02}")]);
        let names = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
            "October", "November", "December"];
        let name = names[usize::from(month) - 1];
        for input in [
            format!("{day}.{month}.{year}"),
            format!("{month:02}/{day:02}/{year}"),
            format!("{day:02}/{month:02}/{:02}", year % 100),
            format!("{name} {day}, {year}"),
            format!("the {day}th of {name} {year}"),
            format!("{year}年{month}月{day}日"),
        ] {
            prop_assert_eq!(score(&input, &value), Some(1.0), "{}", input);
        }
    }

    #[test]
    fn nothing_panics_and_scores_stay_in_range(input in any::<String>(), value in any_value()) {
        if let Some(score) = score(&input, &value) {
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }

    #[test]
    fn a_value_is_grounded_in_its_own_text(value in any_value()) {
        let value = as_documents_write(value);
        let score = score(&value.to_string(), &value);
        prop_assert!(score.is_none_or(|score| score == 1.0), "{:?} {}", score, value);
    }

    #[test]
    fn there_are_no_more_tokens_than_characters(text in any::<String>()) {
        let fewest = InputSeen::fewest_tokens(&Request::new(text.clone()));
        prop_assert!(fewest <= text.chars().count() as u64);
    }

    #[test]
    fn violations_are_few_and_only_of_what_is_invalid(schema in any_value(), value in any_value()) {
        let schemas = [
            Schema::new("x", json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false})),
            Schema::new("x", json!({"enum": [schema, 1, "a"]})),
            Schema::new("x", json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"minimum": 3}, {"maxLength": 2}]})),
        ];
        for schema in schemas {
            let schema = schema.unwrap();
            let violations = schema.violations(&value);
            prop_assert_eq!(violations.is_empty(), schema.is_valid(&value));
            prop_assert!(violations.len() <= 5);
            prop_assert!(violations.iter().all(|violation| violation.feedback().len() < 4_000));
        }
    }
}
