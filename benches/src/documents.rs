//! What a model writes when it is asked for JSON, in a given size, the same on every run.

use std::fmt::Write as _;

/// What surrounds a fenced document.
const BEFORE: &str = "Here are the orders you asked for, newest first.\n\n```json\n";
const AFTER: &str = "\n```\n\nTell me if you need the cancelled ones too.\n";

const WORDS: [&str; 16] = [
    "parcel", "arrived", "late", "but", "the", "lamp", "works", "fine", "Zürich", "naïve", "refund", "asked",
    "twice", "注文", "support", "answered",
];

/// Valid JSON of about `bytes` bytes, with line breaks.
pub fn valid(bytes: usize) -> String {
    orders(bytes, &Style::Valid)
}

/// The same behind prose and in a code fence.
pub fn fenced(bytes: usize) -> String {
    format!("{BEFORE}{}{AFTER}", valid(bytes))
}

/// Fenced, with bare keys, single quotes, comments, trailing commas and the literals of Python.
pub fn messy(bytes: usize) -> String {
    format!("{BEFORE}{}{AFTER}", orders(bytes, &Style::Messy))
}

/// Texts of about `bytes` bytes that make a careless parser slow, each with its name.
pub fn pathological(bytes: usize) -> Vec<(&'static str, String)> {
    let repeat = |unit: &str| unit.repeat(bytes / unit.len() + 1);
    vec![
        ("open brackets", repeat("[")),
        ("closed brackets", format!("{}{}", "[".repeat(bytes / 2), "]".repeat(bytes / 2))),
        ("open objects", repeat("{\"a\":")),
        ("open braces", repeat("{")),
        ("braces and brackets", repeat("{[")),
        ("quotes", repeat("\"")),
        ("single quotes", repeat("'")),
        ("backslashes", repeat("\\")),
        ("backslashes in a string", format!("{{\"a\": \"{}", repeat("\\"))),
        ("open string", format!("{{\"a\": \"{}", repeat("x"))),
        ("open string of words", format!("{{\"a\": \"{}", repeat("late, but fine, "))),
        ("inner quotes", format!("{{\"a\": \"{}", repeat("x\" "))),
        ("inner quotes and commas", format!("{{\"a\": \"{}", repeat("x\", y "))),
        ("backticks", repeat("`")),
        ("fences", repeat("```json\n")),
        ("thinking", repeat("<think>")),
        ("open comments", repeat("/*")),
        ("commas", format!("[{}", repeat(","))),
        ("digits", format!("[{}", repeat("1"))),
        ("braced words", repeat("{x} ")),
        ("no commas", format!("[{}", repeat("\"a\" "))),
        ("no values", format!("{{{}", repeat("\"a\" "))),
        ("blanks", repeat(" ")),
    ]
}

/// About what an order takes.
const ORDER_BYTES: usize = 430;

enum Style {
    Valid,
    Messy,
}

/// A sequence of numbers that looks random (the constants are those of Knuth's MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<_> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}

fn orders(bytes: usize, style: &Style) -> String {
    let mut numbers = Numbers(bytes as u64);
    let mut text = String::from("{\n  \"orders\": [\n");
    // The same number in every style, so that all styles hold the same value.
    let count = (bytes / ORDER_BYTES).max(2);
    for id in 0..count {
        if id > 0 {
            text.push_str(",\n");
        }
        order(&mut text, &mut numbers, style, id);
    }
    let last = if matches!(style, Style::Messy) { "," } else { "" };
    let _ = write!(text, "{last}\n  ],\n  \"count\": {count}{last}\n}}");
    text
}

fn order(text: &mut String, numbers: &mut Numbers, style: &Style, id: usize) {
    let (customer, note) = (numbers.words(2), numbers.words(14));
    let (total, lat) = (numbers.below(900_000) as f64 / 100.0, numbers.below(180_000) as f64 / 1000.0 - 90.0);
    let (paid, gift) = (numbers.below(2) == 0, numbers.below(3) == 0);
    let tags = [numbers.words(1), numbers.words(1), numbers.words(1)];
    let [first, second, third] = &tags;
    let gift = if gift { None } else { Some(id.to_string()) };
    // Writing to a `String` cannot fail.
    let _ = match style {
        Style::Valid => {
            let gift = gift.as_deref().unwrap_or("null");
            write!(
                text,
                "    {{\n      \"id\": {id},\n      \"customer\": \"{customer}\",\n      \"mail\": \"user{id}@example.com\",\n      \
                 \"paid\": {paid},\n      \"total\": {total},\n      \"gift\": {gift},\n      \
                 \"tags\": [\"{first}\", \"{second}\", \"{third}\"],\n      \"place\": {{ \"lat\": {lat}, \"zip\": \"0{id}\" }},\n      \
                 \"note\": \"{note}\\nsaid \\\"{first}\\\" and left\"\n    }}"
            )
        }
        Style::Messy => {
            let (paid, gift) = (if paid { "True" } else { "false" }, gift.as_deref().unwrap_or("None"));
            write!(
                text,
                "    {{\n      id: {id}, // number {id}\n      'customer': '{customer}',\n      \"mail\": \"user{id}@example.com\",\n      \
                 paid: {paid},\n      \"total\": {total},\n      gift: {gift}, /* maybe */\n      \
                 \"tags\": [\"{first}\", '{second}', \"{third}\",],\n      place: {{ \"lat\": {lat}, zip: \"0{id}\", }},\n      \
                 \"note\": \"{note}\\nsaid \\\"{first}\\\" and left\",\n    }}"
            )
        }
    };
}
