//! JSON extraction beside the crates that repair JSON: `cargo run --release --bin json [rounds]`.
//!
//! They do not do the same. Only ours looks for the value in prose and fences by scanning, refuses what is cut off or
//! ambiguous, notices duplicate keys and keeps wide integers, and lists what it changed. A crate whose result is not
//! the right value is left out of the table and named below it.

use std::hint::black_box;
use std::sync::Arc;

use backstop_benches::documents;
use backstop_peer_benches::{Case, compare};
use backstop_validate::json::Extractor;
use serde_json::Value;

const OURS: &str = "backstop";
const UNCHECKED: &str = "backstop, unchecked";
const SERDE: &str = "serde_json (valid text)";
const RS: &str = "jsonrepair-rs";

/// A way from text to a value, or to text.
type Reader<T> = fn(&str) -> Option<T>;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(30);
    for (size, bytes) in [("1 KB", 1_000), ("50 KB", 50_000), ("1 MB", 1_000_000)] {
        let valid = documents::valid(bytes);
        let truth: Value = serde_json::from_str(&valid).expect("valid");
        let texts = [
            ("valid", valid.clone()),
            ("fenced", documents::fenced(bytes)),
            ("messy", documents::messy(bytes)),
        ];
        for (kind, text) in texts {
            let mut cases = vec![case(SERDE, &valid, plain)];
            cases.extend(right(&text, &truth, &to_value(), |value| Some(value)));
            compare(&format!("{kind}, {size}, to a value"), 1, rounds, &cases, &[SERDE, RS]);
            if kind == "messy" {
                let cases = right(&text, &truth, &to_text(), |text| serde_json::from_str(&text).ok());
                compare(&format!("{kind}, {size}, to text"), 1, rounds, &cases, &[RS]);
            }
        }
    }
    for (kind, text) in documents::pathological(1_000_000) {
        // The others overflow the stack or take minutes on some of these.
        let cases = [case(OURS, &text, ours), case(RS, &text, rs)];
        compare(&format!("{kind}, 1 MB"), 1, rounds.min(5), &cases, &[RS]);
    }
}

/// A case for each reader that reads the text rightly.
fn right<T: 'static>(
    text: &str,
    truth: &Value,
    readers: &[(&'static str, Reader<T>)],
    value: impl Fn(T) -> Option<Value>,
) -> Vec<Case> {
    let (good, bad): (Vec<_>, Vec<_>) =
        readers.iter().copied().partition(|(_, read)| read(text).and_then(&value).as_ref() == Some(truth));
    if !bad.is_empty() {
        println!(
            "\nwithout a right result: {}",
            bad.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        );
    }
    good.into_iter().map(|(name, read)| case(name, text, read)).collect()
}

fn case<T: 'static>(name: &'static str, text: &str, read: Reader<T>) -> Case {
    let text: Arc<str> = text.into();
    // Rounds of about a millisecond.
    let calls = (100_000 / text.len() as u64).max(1);
    Case::new(name, calls, move |n| {
        for _ in 0..n {
            black_box(read(black_box(&text)));
        }
    })
}

fn to_value() -> Vec<(&'static str, Reader<Value>)> {
    vec![
        (OURS, ours),
        (UNCHECKED, |text| Extractor::new().checks(false).extract(text).ok().map(|found| found.value)),
        (RS, rs),
        ("jsonrepair (Latias94)", |text| {
            jsonrepair::repair_to_value(text, &jsonrepair::Options::default()).ok()
        }),
        ("llm_json", |text| llm_json::loads(text, &llm_json::RepairOptions::default()).ok()),
        ("llm-json-repair", |text| llm_json_repair::parse(text).ok()),
    ]
}

fn to_text() -> Vec<(&'static str, Reader<String>)> {
    vec![
        (OURS, |text| ours(text).map(|value| value.to_string())),
        (RS, |text| jsonrepair_rs::jsonrepair(text).ok()),
        ("jsonrepair (Latias94)", |text| {
            jsonrepair::repair_to_string(text, &jsonrepair::Options::default()).ok()
        }),
        ("llm_json", |text| llm_json::repair_json(text, &llm_json::RepairOptions::default()).ok()),
        ("llm-json-repair", |text| Some(llm_json_repair::repair(text))),
    ]
}

fn plain(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn ours(text: &str) -> Option<Value> {
    Extractor::new().extract(text).ok().map(|found| found.value)
}

fn rs(text: &str) -> Option<Value> {
    jsonrepair_rs::jsonrepair_value(text).ok()
}
