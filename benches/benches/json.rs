//! What it costs to get the JSON out of a text, in bytes of the text per second, above the floor of plain `serde_json`.
//!
//! With the repair crates in one run: `cargo run --release --bin json` in `benches/peers`.
#![allow(missing_docs)]

use std::hint::black_box;

use backstop_benches::documents;
use backstop_validate::json::Extractor;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;

const SIZES: [(&str, usize); 3] = [("1 KB", 1_000), ("50 KB", 50_000), ("1 MB", 1_000_000)];

fn documents(c: &mut Criterion) {
    let mut group = c.benchmark_group("json");
    for (name, size) in SIZES {
        let texts = [
            ("valid", documents::valid(size)),
            ("fenced", documents::fenced(size)),
            ("messy", documents::messy(size)),
        ];
        for (kind, text) in &texts {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_with_input(BenchmarkId::new(*kind, name), text, |b, text| {
                b.iter(|| assert!(black_box(Extractor::new().extract(text)).is_ok()));
            });
        }
        let [(_, valid), ..] = &texts;
        group.throughput(Throughput::Bytes(valid.len() as u64));
        group.bench_with_input(BenchmarkId::new("serde_json", name), valid, |b, text| {
            b.iter(|| assert!(black_box(serde_json::from_str::<Value>(text)).is_ok()));
        });
    }
    group.finish();
}

fn pathological(c: &mut Criterion) {
    let mut group = c.benchmark_group("pathological json, 1 MB");
    group.sample_size(10);
    for (name, text) in documents::pathological(1_000_000) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| black_box(Extractor::new().extract(&text)).is_ok()));
    }
    group.finish();
}

criterion_group!(benches, documents, pathological);
criterion_main!(benches);
