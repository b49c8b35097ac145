//! JSON that is still being written: whatever the pieces, what is finished stays, and is what the extraction reads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::collections::BTreeMap;

use backstop_validate::{
    json::Extractor,
    partial::{PartialParser, PartialValue},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::any_value;

/// Adds the finished leaves of a value with their pointers.
fn finished(value: &PartialValue, at: &str, out: &mut BTreeMap<String, Value>) {
    if let Some(members) = value.members() {
        for (key, member) in members {
            finished(member, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
        }
    } else if let Some(items) = value.as_array() {
        items.iter().enumerate().for_each(|(index, item)| finished(item, &format!("{at}/{index}"), out));
    } else if value.is_finished() {
        out.insert(at.to_owned(), value.to_value().unwrap());
    }
}

fn leaves(value: &PartialValue) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    finished(value, "", &mut out);
    out
}

/// The strings that are growing, with their pointers.
fn growing(value: &PartialValue, at: &str, out: &mut BTreeMap<String, String>) {
    if let Some(members) = value.members() {
        for (key, member) in members {
            growing(member, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
        }
    } else if let Some(items) = value.as_array() {
        items.iter().enumerate().for_each(|(index, item)| growing(item, &format!("{at}/{index}"), out));
    } else if let (Some(text), false) = (value.as_str(), value.is_finished()) {
        out.insert(at.to_owned(), text.to_owned());
    }
}

/// The text in pieces that end at these characters.
fn pieces(text: &str, mut borders: Vec<usize>) -> Vec<String> {
    borders.sort_unstable();
    let chars: Vec<char> = text.chars().collect();
    let mut from = 0;
    let mut out = Vec::new();
    for border in borders.into_iter().chain([chars.len()]) {
        let to = border.min(chars.len()).max(from);
        out.push(chars[from..to].iter().collect());
        from = to;
    }
    out
}

/// Reads a text in pieces. After each, what was finished before must still be, and a string that was growing must have
/// grown, unless it was said to be void; what has changed must be named; and a text that goes no further must be shown
/// as it was.
fn read(pieces: &[String]) -> PartialParser {
    read_by(PartialParser::new(), pieces)
}

fn read_by(mut parser: PartialParser, pieces: &[String]) -> PartialParser {
    let mut before = BTreeMap::new();
    for piece in pieces {
        let snapshot = parser.value().clone();
        let changes = parser.push(piece);
        let now = leaves(parser.value());
        if changes.cleared {
            before.clear();
        } else if changes.pointers.is_empty() {
            assert_eq!(&snapshot, parser.value(), "an unnamed change by {piece:?}");
        }
        let mut strings = BTreeMap::new();
        growing(&snapshot, "", &mut strings);
        for (pointer, text) in strings.iter().filter(|_| !changes.cleared) {
            let grown = parser.value().pointer(pointer).and_then(PartialValue::as_str);
            assert!(
                grown.is_some_and(|grown| grown.starts_with(text)),
                "{pointer} was {text:?} before {piece:?}"
            );
        }
        for (pointer, value) in &before {
            assert_eq!(now.get(pointer), Some(value), "{pointer} after {piece:?}");
        }
        for (pointer, _) in now.iter().filter(|(pointer, _)| !before.contains_key(*pointer)) {
            assert!(
                changes.pointers.contains(pointer) || changes.cleared,
                "{pointer} was not named: {changes:?}"
            );
        }
        before = now;
    }
    parser
}

fn shown(parser: &PartialParser) -> Option<Value> {
    parser.value().to_value()
}

fn any_document() -> impl Strategy<Value = Value> {
    (any_value(), any_value()).prop_map(|(a, b)| json!({"answer": a, "more": b}))
}

/// The document in the dress of a model's answer, and how it is called there.
fn dressed(text: &str, dress: usize) -> String {
    match dress {
        0 => text.to_owned(),
        1 => format!("Here it is: {text} I hope it helps."),
        2 => format!("```json\n{text}\n```\nAnything else?"),
        3 => format!("As [1] says, {{this}}:\n~~~JSON\n{text}\n~~~\n"),
        4 => format!("<think>or {{\"answer\": 0}}?</think>\n{text}"),
        5 => format!("<Reasoning>\nhm [\n</Reasoning>Sure!\n```json {text} ```"),
        6 => format!("callback({text});"),
        _ => format!("// see {{below}}\n\u{feff}{text}\nSource: [2], \"quoted\"}}"),
    }
}

const DRESSES: usize = 8;

/// Cosmetic damage to a printed document.
fn damaged(text: &str, kind: usize) -> String {
    match kind {
        0 => text.replacen('{', "{ // note\n", 1),
        1 => text.replacen(',', "/* note */,", 1),
        2 => format!("{},}}", text.strip_suffix('}').unwrap()),
        3 => text.replacen('{', "{,", 1),
        4 => text.replacen("\"answer\"", "answer", 1),
        5 => text.replacen("\"answer\"", "'answer'", 1),
        6 => text.replacen("\"answer\"", "“answer”", 1),
        7 => text.replace("true", "True").replace("null", "None"),
        8 => text.replacen(':', ":\u{a0}", 1),
        9 => text.replacen("\",", ",", 1),
        _ => text.replacen("\"answer\"", "\"\"answer\"\"", 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_is_whole_at_its_end_whatever_the_pieces(
        value in any_document(), pretty: bool, dress in 0..DRESSES, borders in prop::collection::vec(0_usize..400, 0..40)
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let mut parser = read(&pieces(&dressed(&text, dress), borders));
        parser.finish();
        prop_assert_eq!(shown(&parser), Some(value));
        prop_assert!(parser.is_complete());
    }

    #[test]
    fn every_prefix_shows_nothing_finished_that_the_whole_text_has_otherwise(
        value in any_document(), pretty: bool, dress in 0..DRESSES
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let text = dressed(&text, dress);
        let mut parser = PartialParser::new();
        for c in text.chars() {
            let changes = parser.push(c.encode_utf8(&mut [0; 4]));
            prop_assert!(!changes.cleared);
            for (pointer, leaf) in leaves(parser.value()) {
                prop_assert_eq!(value.pointer(&pointer), Some(&leaf), "{}", pointer);
            }
        }
    }

    #[test]
    fn what_the_extraction_repairs_without_a_guess_is_read_as_it_reads_it(
        value in any_document(), pretty: bool, kind in 0_usize..11, dress in 0..DRESSES, step in 1_usize..30
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let text = dressed(&damaged(&text, kind), dress);
        let Ok(whole) = Extractor::new().extract(&text) else { return Ok(()) };
        // Where the damage has made two documents of one.
        if whole.value.get("answer").is_none() {
            return Ok(());
        }
        let mut parser = read(&pieces(&text, (0..text.len()).step_by(step).collect()));
        parser.finish();
        prop_assert_eq!(shown(&parser), Some(whole.value));
        prop_assert!(parser.is_complete());
    }

    #[test]
    fn any_text_is_read_in_any_pieces_and_what_is_finished_stays(
        text in "([a-z\"',:{}\\[\\] \n/*#`<>\\\\]|```json|<think>|</think>|\"a\": |\\{\"a\": 1\\}|true|12|é){0,60}",
        borders in prop::collection::vec(0_usize..80, 0..30)
    ) {
        let mut by_char = read(&pieces(&text, (0..text.len()).collect()));
        let mut parser = read(&pieces(&text, borders));
        parser.finish();
        by_char.finish();
        prop_assert_eq!(by_char.value(), parser.value());
        let keeping = || PartialParser::new().keep_when(|value| value.get("a").is_some());
        let mut by_char = read_by(keeping(), &pieces(&text, (0..text.len()).collect()));
        let mut at_once = read_by(keeping(), std::slice::from_ref(&text));
        by_char.finish();
        at_once.finish();
        prop_assert_eq!(by_char.value(), at_once.value());
        let Ok(whole) = Extractor::new().extract(&text) else { return Ok(()) };
        if parser.start() == Some(whole.span.start) {
            for (pointer, leaf) in leaves(parser.value()) {
                prop_assert_eq!(whole.value.pointer(&pointer), Some(&leaf), "{}", pointer);
            }
        }
    }
}

/// About 50 KB of what extraction deals in: records with texts, numbers, lists, and one long text.
fn records() -> String {
    let record = |n: usize| {
        let note = "Delivered late; the customer asked for \"express\" – see ticket.\n".repeat(n % 5);
        json!({"id": n, "name": format!("Part {n}"), "price": n as f64 * 1.25, "tags": ["a", "b", n % 3 == 0], "note": note})
    };
    let summary = "A summary that goes on and on, with \"quotes\", commas and {braces}. ".repeat(100);
    let records: Vec<Value> = (0..240).map(record).collect();
    serde_json::to_string_pretty(&json!({"summary": summary, "records": records})).unwrap()
}

fn steps(text: &str, size: usize) -> u64 {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = PartialParser::new();
    for piece in chars.chunks(size) {
        parser.push(&piece.iter().collect::<String>());
    }
    parser.finish();
    assert!(parser.is_complete());
    parser.steps()
}

#[test]
fn a_thousand_pieces_cost_little_more_than_one_parse() {
    for text in [records(), records().replacen(',', ", // a comment\n", 1), dressed(&records(), 2)] {
        assert!((48_000..80_000).contains(&text.len()), "{}", text.len());
        let whole = steps(&text, usize::MAX);
        let thousand = steps(&text, text.len() / 1_000);
        assert!(thousand <= 3 * whole, "{thousand} steps in a thousand pieces, {whole} for the whole");
        let single = steps(&text, 1);
        assert!(single <= 5 * whole, "{single} steps by single characters, {whole} for the whole");
        assert!(whole <= 4 * text.len() as u64, "{whole} steps for {} bytes", text.len());
    }
}

#[test]
fn work_is_linear_on_hostile_texts_in_small_pieces() {
    let texts = [
        ("open brackets", "", "["),
        ("open braces", "", "{"),
        ("open objects", "", "{\"a\":"),
        ("braced words", "", "{x} "),
        ("braced keys", "", "{x: "),
        ("bracketed words", "", "[a, b "),
        ("a long string", "{\"a\": \"", "x"),
        ("a long key", "{\"", "x"),
        ("a long word", "{a: b", " c"),
        ("digits", "[", "1"),
        ("backslashes", "{\"a\": \"", "\\"),
        ("inner quotes", "{\"a\": \"", "x\" "),
        ("inner quotes and braces", "{\"a\": \"", "x\"} y "),
        ("inner quotes and colons", "{\"a\": \"", "x\": y, \""),
        ("quotes before comments", "{\"a\": \"", "x\" /* "),
        ("an open comment", "[/*", " "),
        ("a comment in front", "/*", " "),
        ("blanks", "[", " "),
        ("joined strings", "[", "\"a\" + "),
        ("closers", "[", "}"),
        ("fences", "", "```json\n"),
        ("backticks", "", "`"),
        ("reasoning", "", "<think>"),
        ("angles", "", "<"),
        ("ends of reasoning", "", "</think>{"),
        ("drafts", "", "{\"a\": \"</think>"),
        ("documents", "", "{\"a\": 1} "),
        ("citations", "", "[1] "),
        ("the same key", "{", "\"a\": 1, "),
    ];
    for (name, head, unit) in texts {
        let text = format!("{head}{}", unit.repeat(30_000 / unit.len()));
        for size in [3, 100] {
            let mut parser = PartialParser::new();
            for piece in text.as_bytes().chunks(size) {
                parser.push(std::str::from_utf8(piece).unwrap());
            }
            let steps = parser.steps();
            let allowed = 17 * text.len() + 256 * text.len().div_ceil(size) + 4096;
            assert!(steps <= allowed as u64, "{name} by {size}: {steps} for {}", text.len());
        }
    }
}

#[test]
fn pointers_take_no_more_than_a_multiple_of_the_text() {
    // One key may just be shown, the other may not.
    for key in ["key ".repeat(1_000), "key ".repeat(5_000)] {
        for (name, head, unit) in [
            ("items", format!("{{\"{key}\": ["), "1,"),
            ("strings", format!("{{\"{key}\": ["), "\"x x\", "),
            ("containers", format!("{{\"{key}\": ["), "[],"),
            ("a string that grows", format!("{{\"{key}\": \""), "x"),
        ] {
            let text = format!("{head}{}", unit.repeat(30_000 / unit.len()));
            for size in [1, 100, text.len()] {
                let mut parser = PartialParser::new();
                let pieces = text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap());
                let named = pieces.flat_map(|piece| parser.push(piece).pointers).map(|pointer| pointer.len());
                // A string that grows is named once more with each piece.
                let allowed = 64 * text.len() + 64 * 1024 + 4096 * text.len().div_ceil(size);
                let named = named.sum::<usize>();
                assert!(named <= allowed, "{name} by {size}: {named} for {}", text.len());
            }
        }
    }
}

#[test]
fn what_is_shown_of_deep_texts_does_not_depend_on_their_pieces() {
    for depth in [30, 60, 120] {
        let text = format!("{}\"a\"{}", "[1,".repeat(depth), "]".repeat(depth));
        let whole = shown(&read(std::slice::from_ref(&text)));
        assert!(whole.is_some());
        for size in [1, 7] {
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
            assert_eq!(shown(&read(&pieces)), whole, "{depth} deep by {size}");
        }
    }
}

#[test]
fn tokens_may_be_cut_anywhere() {
    let text = "{\"a\": \"x\\ud83d\\ude00\\n\\u00e9\", 'b': -1.5e+3, c: True, /* d */ \"e\": [null, \"\",],}";
    let whole = json!({"a": "x😀\né", "b": -1500.0, "c": true, "e": [null, ""]});
    for border in 0..=text.chars().count() {
        let mut parser = read(&pieces(text, vec![border]));
        assert_eq!(shown(&parser), Some(whole.clone()), "cut at {border}");
        assert!(parser.is_complete() && parser.finish().is_empty());
    }
}

/// What is shown of a text, and the finished leaves among it.
fn after(text: &str) -> (Option<Value>, Vec<String>) {
    let parser = read(&pieces(text, (0..text.len()).collect()));
    (shown(&parser), leaves(parser.value()).into_keys().collect())
}

#[test]
fn only_strings_are_shown_while_they_grow() {
    let cases = [
        ("", None, vec![]),
        ("Sure", None, vec![]),
        ("{", None, vec![]),
        ("{\"na", Some(json!({})), vec![]),
        ("{\"name\"", Some(json!({})), vec![]),
        ("{\"name\": ", Some(json!({})), vec![]),
        ("{\"name\": \"", Some(json!({})), vec![]),
        ("{\"name\": \"A", Some(json!({"name": "A"})), vec![]),
        ("{\"name\": \"A\\u00", Some(json!({"name": "A"})), vec![]),
        ("{\"name\": \"A\\ud83d", Some(json!({"name": "A"})), vec![]),
        ("{\"name\": \"A\"", Some(json!({"name": "A"})), vec![]),
        ("{\"name\": \"A\", \"age\": ", Some(json!({"name": "A"})), vec!["/name"]),
        ("{\"name\": \"A\", \"age\": 3", Some(json!({"name": "A"})), vec!["/name"]),
        ("{\"name\": \"A\", \"age\": 3}", Some(json!({"name": "A", "age": 3})), vec!["/age", "/name"]),
        ("{\"ok\": tru", Some(json!({})), vec![]),
        ("{\"ok\": nul", Some(json!({})), vec![]),
        ("[1, 2", Some(json!([1])), vec!["/0"]),
        ("[{\"a\": [tru", Some(json!([{"a": []}])), vec![]),
        ("[\"x\"", Some(json!(["x"])), vec![]),
        ("[\"x\",", Some(json!(["x"])), vec![]),
        ("[\"x\", \"", Some(json!(["x"])), vec!["/0"]),
    ];
    for (text, value, finished) in cases {
        let (shown, leaves) = after(text);
        assert_eq!((shown, leaves.iter().map(String::as_str).collect()), (value, finished), "{text}");
    }
}

#[test]
fn a_string_without_its_closing_quote_is_never_shown_longer_than_it_is() {
    for (text, value) in [
        ("{\"a\": \"late , \n  \"b\": 1}", json!({"a": "late", "b": 1})),
        ("{\"a\": \"one, two, \"b\": \"x\"}", json!({"a": "one, two", "b": "x"})),
        ("{\"a\": \"one,,\"b\": \"x\"}", json!({"a": "one,", "b": "x"})),
        ("[\"one,\n\"two\"]", json!(["one", "two"])),
        ("{\"a\": \"one, \"}", json!({"a": "one, "})),
    ] {
        let mut parser = read(&pieces(text, (0..text.len()).collect()));
        parser.finish();
        assert_eq!((shown(&parser), parser.is_complete()), (Some(value), true), "{text}");
    }
    let mut parser = PartialParser::new();
    parser.push("{\"a\": \"one, ");
    assert_eq!(shown(&parser), Some(json!({"a": "one"})));
    assert_eq!(parser.finish().pointers, ["/a"]);
    assert_eq!(shown(&parser), Some(json!({"a": "one, "})), "nothing follows");
}

#[test]
fn what_would_be_a_guess_or_become_something_else_is_not_shown() {
    let cases = [
        // Whether the comma is the sentence's or the object's shows at the next key.
        (
            "{\"a\": \"he said \"hi\", and left\", \"b\": 1}",
            Some(json!({"a": "he said \"hi\", and left", "b": 1})),
        ),
        ("{\"a\": 12,000}", Some(json!({"a": "12,000"}))),
        ("{\"a\": 1, b 2}", Some(json!({"a": "1, b 2"}))),
        ("{\"a\": 1, \"b\": 2 : 3}", Some(json!({"a": 1}))),
        ("{\"a\": NaN, \"b\": 1}", Some(json!({}))),
        ("{\"a\": , \"b\": 1}", Some(json!({}))),
        ("[\"a\": 1]", Some(json!(["a"]))),
        ("{\\\"a\\\": 1}", None),
        ("\"{\\\"a\\\": 1}\"", None),
        ("(1, 2)", None),
        ("<think>{\"a\": 1}", None),
        ("As [1] and {this} say,", None),
    ];
    for (text, value) in cases {
        assert_eq!(after(text).0, value, "{text}");
    }
    assert!(after("[\"a\": 1]").1.is_empty(), "a key that was taken for an item is never finished");
}

#[test]
fn what_the_rest_of_the_text_belies_is_void() {
    let mut parser = PartialParser::new();
    assert!(!parser.push("maybe {\"a\": 1}, ").cleared);
    assert_eq!(shown(&parser), Some(json!({"a": 1})));
    let changes = parser.push("no.</think>");
    assert!(changes.cleared && parser.value().is_nothing(), "{changes:?}");
    let changes = parser.push("{\"a\": 2}");
    assert!(!changes.cleared && parser.is_complete(), "{changes:?}");
    assert_eq!(changes.pointers, ["", "/a"]);
    assert!(!parser.push(" As in [3].").cleared, "a citation is no document");
    let changes = parser.push(" Or {\"b\": 3");
    assert!(changes.cleared, "{changes:?}");
    assert_eq!((shown(&parser), changes.pointers), (Some(json!({})), vec!["".to_owned()]));

    let mut parser = PartialParser::new();
    parser.push("<think><think>a</think>{\"a\": 1}");
    assert!(parser.is_complete(), "the inner block may never have been closed");
    assert!(parser.push("</think>").cleared);

    let mut parser = PartialParser::new();
    parser.push("{\"a\": 1, \"b\": 2, ");
    let changes = parser.push("\"a\": \"x");
    assert_eq!((changes.cleared, changes.pointers), (true, vec!["/b".to_owned(), "/a".to_owned()]));
    assert_eq!(shown(&parser), Some(json!({"a": "x", "b": 2})));
}

#[test]
fn a_key_that_is_given_again_voids_its_value_whatever_follows() {
    for value in ["(1, 2)", "{{\"b\": 1}}", "True", "[1"] {
        let mut parser = PartialParser::new();
        assert!(!parser.push("{\"a\": \"x\", \"a\"").cleared, "not yet: {value}");
        let changes = parser.push(&format!(": {value}}}"));
        assert!(
            changes.cleared && parser.value().pointer("/a").is_none_or(|a| a.as_str().is_none()),
            "{value}"
        );
    }
}

#[test]
fn a_document_that_is_kept_is_replaced_by_no_other_but_may_have_been_reasoning() {
    let mut parser = PartialParser::new().keep_when(|value| value.get("a").is_some());
    parser.push("{\"c\": 1} {\"a\": 1}");
    assert!(parser.push(" {\"b\": 1}").is_empty());
    assert_eq!(shown(&parser), Some(json!({"a": 1})));
    assert!(parser.push("</think>").cleared);
    parser.push("{\"a\": 2} {\"a\": 3}");
    assert_eq!(shown(&parser), Some(json!({"a": 2})));
}

#[test]
fn changes_name_each_place_once() {
    let mut parser = PartialParser::new();
    let changes = parser.push("{\"a\": {\"b\": \"x\", \"c\": [1, 2]}, \"d\": \"y");
    assert_eq!(changes.pointers, ["", "/a", "/a/b", "/a/c", "/a/c/0", "/a/c/1", "/d"]);
    assert_eq!(parser.push("z").pointers, ["/d"]);
    assert!(parser.push("\"").is_empty(), "it may not be the end of the text");
    assert_eq!(parser.push("}").pointers, ["/d", ""]);
}

#[test]
fn nesting_and_length_have_bounds() {
    let deep = "[".repeat(1_000_000);
    let mut parser = PartialParser::new();
    parser.push(&deep);
    drop(parser);
    let limits = |bytes| {
        let mut limits = backstop_validate::json::Limits::default();
        limits.max_bytes = bytes;
        limits
    };
    let mut parser = PartialParser::new().limits(limits(12));
    parser.push("{\"a\": 1, \"");
    assert!(parser.push("b\": 2}").is_empty());
    assert_eq!(shown(&parser), Some(json!({"a": 1})), "what was shown stays");
}

#[test]
fn short_steps_that_are_taken_again_at_each_character_stop_nothing() {
    let text = format!(
        "{{{}\"end\": 1}}",
        "\"a key of some length\": a word of some length that has no quotes,\n".repeat(50)
    );
    let (by_char, whole) = (read(&pieces(&text, (0..text.len()).collect())), read(&[text]));
    assert_eq!(by_char.value(), whole.value());
    assert!(by_char.is_complete());
}
