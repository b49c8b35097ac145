//! Inputs made to be slow, deep or large: the work stays linear and the stack flat.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::thread;

use backstop_validate::json::{Candidates, Extractor, Policy};
use proptest::prelude::*;

/// Bytes looked at for each byte of the text.
const STEPS_PER_BYTE: u64 = 8;
/// More, for the allowance that even the shortest text has.
const SHORT_TEXT: u64 = 512;
const SMALL_STACK: usize = 256 * 1024;

fn repeat(unit: &str, len: usize) -> String {
    unit.repeat(len / unit.len() + 1)
}

/// Texts of about `len` bytes, each with a name.
fn hostile(len: usize) -> Vec<(&'static str, String)> {
    let half = len / 2;
    vec![
        ("open brackets", repeat("[", len)),
        ("balanced brackets", format!("{}{}", "[".repeat(half), "]".repeat(half))),
        ("open objects", repeat("{\"a\":", len)),
        ("open braces", repeat("{", len)),
        ("braces and brackets", repeat("{[", len)),
        ("brackets and braces", repeat("[{", len)),
        ("deep, after prose", format!("so: {}", repeat("[[1],", len))),
        ("quotes", repeat("\"", len)),
        ("single quotes", repeat("'", len)),
        ("curly quotes", format!("{{\"a\": \"x{}", repeat("\" ‘", len))),
        ("quotes of two kinds", format!("{{\"a\": \"x{}", repeat("\" «", len))),
        ("backslashes", repeat("\\", len)),
        ("backslashes in a string", format!("{{\"a\": \"{}", repeat("\\", len))),
        ("open string", format!("{{\"a\": \"{}", repeat("x", len))),
        ("open string of words", format!("{{\"a\": \"{}", repeat("lorem ipsum, ", len))),
        ("inner quotes", format!("{{\"a\": \"{}", repeat("x\" ", len))),
        ("inner quotes and commas", format!("{{\"a\": \"{}", repeat("x\", y ", len))),
        ("inner quotes and colons", format!("{{\"a\": \"{}", repeat("x\": y, \"", len))),
        ("inner quotes and braces", format!("{{\"a\": \"{}", repeat("x\"} y ", len))),
        ("inner quotes in an array", format!("[\"{}", repeat("x\" y\", z ", len))),
        ("quotes before comments", format!("{{\"a\": \"{} */ z", repeat("x\" /* ", len))),
        ("quotes before line comments", format!("{{\"a\": \"{}", repeat("x\" // ", len))),
        ("quotes before blanks", format!("{{\"a\": \"{}", repeat("x\"          ", len))),
        ("comments in comments", format!("[\"{}", repeat("\" // /* \n /* */ ", len))),
        ("backticks", repeat("`", len)),
        ("fences", repeat("```json\n", len)),
        ("fences with numbers", repeat("```json\n1\n```\n", len)),
        ("thinking", repeat("<think>", len)),
        ("end of thinking", repeat("</think>{", len)),
        ("cut drafts and end of thinking", repeat("{\"a\": \"</think>", len)),
        ("open comments", repeat("/*", len)),
        ("open comments in an array", format!("[{}", repeat("/*", len))),
        ("commas", format!("[{}", repeat(",", len))),
        ("digits", format!("[{}", repeat("1", len))),
        ("nines", format!("[{}]x", repeat("9", len))),
        ("braced words", repeat("{x} ", len)),
        ("braced keys", repeat("{x: ", len)),
        ("bracketed numbers", repeat("[1] ", len)),
        ("bracketed words", repeat("[a, b ", len)),
        ("no commas", format!("[{}", repeat("\"a\" ", len))),
        ("no values", format!("{{{}", repeat("\"a\" ", len))),
        ("blanks", repeat(" ", len)),
        ("odd blanks", format!("[{}", repeat("\u{a0}", len))),
        ("blanks after a word", format!("{{a: b{}", repeat(" ", len))),
        ("lines after a word", format!("{{a: b{}", repeat("\n", len))),
        ("lines of words", format!("{{a: b{}", repeat("\nc d", len))),
        ("words and commas", format!("{{a: b{}", repeat(", c d", len))),
        ("joined strings", format!("[{}", repeat("\"a\" + ", len))),
        ("closers", format!("[{}", repeat("}", len))),
        ("closers after a value", format!("{{\"a\": 1}}x{}", repeat("}", len))),
        ("escaped document", format!("{{{}", repeat("\\\"a\\\": 1, ", len))),
        ("documents", repeat("{\"a\": 1} ", len)),
        ("damaged documents", repeat("{\"a\": 1, b} ", len)),
        ("cut documents", repeat("{\"a\": ", len)),
        ("ellipses", format!("[{}", repeat("..., ", len))),
        ("tuples", repeat("(1, ", len)),
        ("doubled quotes", format!("{{{}", repeat("\"\"a\"\": ", len))),
        ("half escapes", format!("[\"{}", repeat("\\ud83d", len))),
        ("words and slashes", repeat("a / b // c ", len)),
        ("brackets behind citations", repeat("[1]({a: ", len)),
        ("quoted brackets in prose", format!("so: {}", repeat("{'a", len))),
        ("links made of quotes", repeat("['['](", len)),
        ("escaped documents", repeat("{\\\"a\\\": 1} ", len)),
        ("escaped documents without end", repeat("\"{```</think>{\\\"", len)),
        ("escaped line breaks", format!("so ['{}", repeat("[\\n", len))),
        ("escaped and doubled quotes", format!("{{\\\"{}", repeat("\"\"\"", len))),
        ("thinking in thinking", repeat("<think><think></think>", len)),
        ("broken names", repeat("{\"{\"name\"; \"Ad>", len)),
        ("brackets far behind a fence", format!("```{}{}", " ".repeat(half), repeat("x[", half))),
        ("closers far behind a value", format!("{{\"a\": 1}}{}{}", " ".repeat(half), repeat("x}", half))),
        ("fences in a string", format!("{{\"a\": \"{}", repeat("\"```x", len))),
    ]
}

/// Pieces of damaged JSON and of what surrounds it.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "`",
    "“",
    "»",
    "```",
    "```json\n",
    ",",
    ":",
    ";",
    "\n",
    "  ",
    "a",
    "x y",
    "é",
    "1",
    "-",
    "2e",
    "true",
    "None",
    "\\",
    "\\\"",
    "\\n",
    "/*",
    "*/",
    "//",
    "#",
    "<think>",
    "</think>",
    "...",
    "+",
    "{\"",
    "\":",
    "\"}",
    "\", \"",
    "['",
    "{a: ",
    "{\\\"",
    "{{",
    "\"\"",
    "\"\"\"",
    "\u{a0}",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..=most).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn work_is_linear_on_any_damage_however_often_it_recurs(
        head in pieces(6), unit in pieces(8), tail in pieces(8), times in prop::sample::select(&[1_usize, 2, 5, 30, 300][..]),
    ) {
        let text = format!("{head}{}{tail}", unit.repeat(times));
        for extractor in extractors() {
            let (_, steps) = extractor.extract_counted(&text);
            prop_assert!(steps <= STEPS_PER_BYTE * text.len() as u64 + SHORT_TEXT, "{steps} steps for {} bytes", text.len());
        }
    }
}

fn extractors() -> Vec<Extractor> {
    let of = |policy| Extractor::new().policy(policy).candidates(Candidates::First);
    vec![of(Policy::Strict), of(Policy::Tolerant), of(Policy::Salvage)]
}

fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(SMALL_STACK).spawn(test).unwrap().join().unwrap();
}

fn assert_linear(len: usize) {
    let mut slow = Vec::new();
    for (name, text) in hostile(len) {
        for extractor in extractors() {
            let (_, steps) = extractor.extract_counted(&text);
            if steps > STEPS_PER_BYTE * text.len() as u64 + SHORT_TEXT {
                slow.push(format!("{name}: {:.1} steps a byte", steps as f64 / text.len() as f64));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn work_is_linear_on_hostile_texts() {
    on_small_stack(|| {
        assert_linear(3_000);
        assert_linear(100_000);
    });
}

#[test]
fn work_is_linear_on_hostile_texts_of_a_megabyte() {
    on_small_stack(|| assert_linear(1_000_000));
}

#[test]
fn the_deepest_value_allowed_lives_and_dies_on_a_small_stack() {
    on_small_stack(|| {
        for (open, close, most) in [("[", "]", 127), ("{\"a\":", "}", 127), ("[{a:", "}]", 63)] {
            for extractor in extractors().into_iter().skip(1) {
                let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
                let found = extractor.extract(&nested(most)).unwrap();
                assert_eq!(format!("{:?}", found.value).matches("1").count(), 1);
                assert!(extractor.extract(&nested(most + 1)).is_err());
            }
        }
    });
}
