//! What it costs to show a JSON document of about 50 KB while it is written, in a thousand pieces, against reading it once
//! when it is whole: in steps, which do not depend on the machine, and in time.

use std::hint::black_box;

use backstop_validate::{json::Extractor, partial::PartialParser};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

const PIECES: usize = 1_000;

/// Records of texts, numbers and lists.
fn document() -> String {
    let record = |n: usize| {
        let note = "Delivered late; the customer asked for \"express\" \u{2013} see ticket. ".repeat(n % 4);
        json!({"id": n, "name": format!("Part {n}"), "price": n as f64 * 1.25, "tags": ["a", "b"], "note": note})
    };
    serde_json::to_string(&json!({"records": (0..260).map(record).collect::<Vec<Value>>()})).expect("JSON")
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(chars.len().div_ceil(PIECES)).map(|piece| piece.iter().collect()).collect()
}

fn grow(pieces: &[String]) -> PartialParser {
    let mut parser = PartialParser::new();
    for piece in pieces {
        black_box(parser.push(piece));
    }
    parser.finish();
    assert!(parser.is_complete());
    parser
}

fn partial(c: &mut Criterion) {
    let text = document();
    let (pieces, whole) = (pieces(&text), [text.clone()]);
    // With a comment, so that it is the tolerant parser that reads it.
    let messy = text.replacen(',', ", /* a comment */", 1);
    let (in_pieces, at_once) = (grow(&pieces).steps(), grow(&whole).steps());
    let (bytes, ratio) = (text.len(), in_pieces as f64 / at_once as f64);
    println!(
        "{bytes} bytes: {in_pieces} steps in {} pieces, {at_once} at once: {ratio:.2} times that",
        pieces.len()
    );
    let mut group = c.benchmark_group("partial");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("in a thousand pieces", |b| b.iter(|| grow(&pieces)));
    group.bench_function("in one piece", |b| b.iter(|| grow(&whole)));
    group.bench_function("extracted once, strict", |b| b.iter(|| Extractor::new().extract(black_box(&text))));
    group.bench_function("extracted once, tolerant", |b| {
        b.iter(|| Extractor::new().extract(black_box(&messy)))
    });
    group.finish();
}

criterion_group!(benches, partial);
criterion_main!(benches);
