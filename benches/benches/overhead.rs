//! What the engine adds to a call in process: a provider that answers at once, asked directly and through a chain, on
//! one thread, without a subscriber. The difference of the two is the overhead.
#![allow(missing_docs)]

use std::{
    future::Future,
    hint::black_box,
    time::{Duration, Instant},
};

use backstop_benches::ready::Ready;
use backstop_core::{Attempt, Chain, Provider, ProviderExt, Request};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};

/// The time of so many calls, one after the other, without entering the runtime for each.
fn calls<F: Future>(runtime: &Runtime, count: u64, call: impl Fn() -> F) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        for _ in 0..count {
            black_box(call().await);
        }
        start.elapsed()
    })
}

fn overhead(c: &mut Criterion) {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
    let provider = Ready::text("ok");
    let Ok(chain) = Chain::builder().target(provider.clone().model("m")).build() else { return };
    let request = Request::new("hi");
    let mut group = c.benchmark_group("call");
    group.bench_function("provider", |b| {
        b.iter_custom(|count| {
            calls(&runtime, count, || async { provider.complete(&Attempt::new("m", &request)).await.is_ok() })
        });
    });
    group.bench_function("chain", |b| {
        b.iter_custom(|count| calls(&runtime, count, || async { chain.complete(&request).await.is_ok() }));
    });
    group.finish();
}

criterion_group!(benches, overhead);
criterion_main!(benches);
