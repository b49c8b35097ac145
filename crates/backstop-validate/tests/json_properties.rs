//! What holds for every value and every text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use backstop_validate::json::{ExtractError, Extractor, Policy, RepairKind};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::any_value;

/// A container with a member, which prose cannot be taken for.
fn any_document() -> impl Strategy<Value = Value> {
    any_value().prop_map(|value| json!({"answer": value}))
}

fn print(value: &Value, pretty: bool) -> String {
    if pretty { serde_json::to_string_pretty(value).unwrap() } else { value.to_string() }
}

/// Values whose strings are plain words, so that one damage to the text has one meaning.
fn plain_document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z][a-z ]{0,8}[a-z]".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{2,6}", inner, 1..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    (value.clone(), value).prop_map(|(a, b)| json!({"first": a, "second": [b], "third": true}))
}

/// Cosmetic damage to a printed document, and the repair that undoes it.
fn damage(text: &str, kind: usize) -> (String, RepairKind) {
    match kind {
        0 => (text.replacen('{', "{ // note\n", 1), RepairKind::Comment),
        1 => (text.replacen(',', "/* note */,", 1), RepairKind::Comment),
        2 => (format!("{},}}", text.strip_suffix('}').unwrap()), RepairKind::TrailingComma),
        3 => (text.replacen('{', "{,", 1), RepairKind::ExtraComma),
        4 => (text.replacen("\"first\"", "first", 1), RepairKind::UnquotedKey),
        5 => (text.replacen("\"first\"", "'first'", 1), RepairKind::Quotes),
        6 => (text.replacen("\"first\"", "“first”", 1), RepairKind::Quotes),
        7 => (text.replacen("\"third\":true", "\"third\":True", 1), RepairKind::Literal),
        8 => (text.replacen("\"third\":true", "\"third\" true", 1), RepairKind::MissingColon),
        9 => (text.replacen(",\"third\"", " \"third\"", 1), RepairKind::MissingComma),
        10 => (text.replacen(':', ":\u{a0}", 1), RepairKind::OddBlank),
        11 => (format!("{{{text}}}"), RepairKind::DoubledBraces),
        12 => (format!("\u{feff}{text}"), RepairKind::ByteOrderMark),
        13 => (text.replacen("\"first\"", "\"\"first\"\"", 1), RepairKind::RepeatedQuotes),
        _ => (text.replace('\\', "\\\\").replace('"', "\\\""), RepairKind::EscapedDocument),
    }
}

/// The leaves of a value with their pointers.
fn leaves(value: &Value, path: &str, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| leaves(v, &format!("{path}/{key}"), out)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), out))
        }
        leaf => out.push((path.to_owned(), leaf.clone())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_json_comes_back_as_it_is(value in any_value(), pretty: bool) {
        let found = Extractor::new().extract(&print(&value, pretty)).unwrap();
        prop_assert_eq!(&found.value, &value);
        prop_assert!(found.repairs.is_empty(), "{:?}", found.repairs);
    }

    #[test]
    fn wrapping_changes_nothing_but_the_list_of_repairs(value in any_document(), pretty: bool, wrap in 0_usize..8) {
        let text = print(&value, pretty);
        let (wrapped, kind) = match wrap {
            0 => (format!("Here it is: {text} I hope it helps."), RepairKind::Prose),
            1 => (format!("```json\n{text}\n```"), RepairKind::Fence),
            2 => (format!("```\n{text}"), RepairKind::Fence),
            3 => (format!("As [1] says, {{this}}:\n~~~JSON\n{text}\n~~~\n"), RepairKind::Fence),
            4 => (format!("<think>or {{\"answer\": 0}}?</think>\n{text}"), RepairKind::Reasoning),
            5 => (format!("maybe {{\"answer\": 0}}, no.</think>{text}"), RepairKind::Reasoning),
            6 => (format!("<Reasoning>\nhm [\n</Reasoning>Sure!\n```json {text} ```"), RepairKind::Reasoning),
            _ => (format!("callback({text});"), RepairKind::Prose),
        };
        let found = Extractor::new().policy(Policy::Strict).extract(&wrapped).unwrap();
        prop_assert_eq!(&found.value, &value);
        prop_assert!(found.repairs.iter().any(|repair| repair.kind == kind), "{:?}", found.repairs);
        prop_assert!(found.repairs.iter().all(|repair| repair.kind.is_wrapping()), "{:?}", found.repairs);
    }

    #[test]
    fn one_cosmetic_damage_is_undone_and_listed(value in plain_document(), kind in 0_usize..15) {
        let (text, repair) = damage(&value.to_string(), kind);
        let found = Extractor::new().extract(&text).unwrap();
        prop_assert_eq!(&found.value, &value, "{}", text);
        let kinds: Vec<_> = found.repairs.iter().map(|r| r.kind).collect();
        prop_assert_eq!(kinds, vec![repair], "{}", text);
    }

    #[test]
    fn a_prefix_never_gives_a_finished_leaf_that_the_whole_text_does_not(
        value in plain_document(), kind in 0_usize..15, at: prop::sample::Index, fenced: bool,
    ) {
        let (damaged, _) = damage(&value.to_string(), kind);
        let text = if fenced { format!("So:\n```json\n{damaged}\n```\n") } else { damaged };
        let cuts: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        let prefix = &text[..cuts[at.index(cuts.len())]];
        if let Ok(found) = Extractor::new().extract(prefix) {
            prop_assert_eq!(&found.value, &value, "{}", prefix);
        }
        if let Ok(found) = Extractor::new().policy(Policy::Salvage).extract(prefix) {
            let unfinished = found.truncated.as_ref().map(|cut| cut.pointer.clone());
            let (mut seen, mut whole) = (Vec::new(), Vec::new());
            leaves(&found.value, "", &mut seen);
            leaves(&value, "", &mut whole);
            for (path, leaf) in seen {
                let finished = unfinished.as_ref() != Some(&path);
                let empty = leaf.is_null() && unfinished.as_ref().is_some_and(|cut| path.starts_with(cut.as_str()));
                prop_assert!(!finished || empty || whole.contains(&(path.clone(), leaf.clone())),
                    "{path} is {leaf} in {prefix:?}");
            }
        }
    }

    #[test]
    fn any_text_gives_a_value_that_prints_and_reads_back_or_an_error(
        text in "[\\[\\]{}()\"'`,:/*#<>a-c1-3.\\\\ \n-]{0,60}",
    ) {
        for policy in [Policy::Strict, Policy::Tolerant, Policy::Salvage] {
            let extractor = Extractor::new().policy(policy);
            if let Ok(found) = extractor.extract(&text) {
                let printed = found.value.to_string();
                prop_assert_eq!(&serde_json::from_str::<Value>(&printed).unwrap(), &found.value);
                let again = extractor.extract(&printed).unwrap();
                prop_assert_eq!(&again.value, &found.value);
                prop_assert!(again.repairs.is_empty());
                let clean = found.repairs.is_empty();
                prop_assert!(!clean || serde_json::from_str::<Value>(&text).is_ok(), "{:?} passed as clean", text);
                prop_assert!(found.truncated.is_none() || policy == Policy::Salvage);
            }
        }
    }

    #[test]
    fn valid_json_with_one_byte_changed_is_never_wrong_and_clean(
        value in any_document(), at: prop::sample::Index, with in "[\\[\\]{}\"',:x0\\\\ ]",
    ) {
        let text = value.to_string();
        let cuts: Vec<(usize, char)> = text.char_indices().collect();
        let (i, c) = cuts[at.index(cuts.len())];
        let changed = format!("{}{with}{}", &text[..i], &text[i + c.len_utf8()..]);
        if let Ok(found) = Extractor::new().extract(&changed) {
            let strict = serde_json::from_str::<Value>(&changed).ok();
            prop_assert!(!found.repairs.is_empty() || strict == Some(found.value), "{}", changed);
        }
    }
}

#[test]
fn every_prefix_of_a_pretty_document_is_refused_as_cut() {
    let text =
        "{\n  \"name\": \"Ada\",\n  \"tags\": [\"x\", \"y\"],\n  \"amount\": 12345.67,\n  \"paid\": null\n}";
    for end in 1..text.len() {
        let outcome = Extractor::new().extract(&text[..end]);
        assert!(matches!(outcome, Err(ExtractError::Truncated(_))), "{:?}: {outcome:?}", &text[..end]);
    }
}
