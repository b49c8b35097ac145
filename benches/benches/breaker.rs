//! What the circuit breaker costs a call: admission and a success while closed, a rejection while open.
//!
//! With the other crates of its kind in one run: `cargo run --release --bin breaker` in `benches/peers`.
#![allow(missing_docs)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backstop_core::breaker::{Breaker, BreakerConfig, BreakerKey, Outcome};
use criterion::{Criterion, criterion_group, criterion_main};

fn closed() -> Arc<Breaker> {
    Breaker::builder(BreakerKey::new("provider", "model")).build()
}

fn open() -> Arc<Breaker> {
    let hour = Duration::from_secs(3600);
    let config = BreakerConfig::builder().cooldown_cap(hour).cooldown(hour).build().unwrap_or_default();
    let breaker = Breaker::builder(BreakerKey::new("provider", "model")).config(config).build();
    while let Ok(permit) = breaker.try_acquire() {
        permit.settle(Outcome::FAILURE);
    }
    breaker
}

fn admit(breaker: &Arc<Breaker>) {
    if let Ok(permit) = breaker.try_acquire() {
        permit.settle(black_box(Outcome::Success));
    }
}

fn admit_at(breaker: &Arc<Breaker>, now: Instant) {
    if let Ok(permit) = breaker.try_acquire_at(black_box(now)) {
        permit.settle_at(black_box(Outcome::Success), now);
    }
}

fn reject(breaker: &Arc<Breaker>) {
    assert!(!black_box(breaker.try_acquire().is_ok()));
}

/// The time of `calls` calls on each of `threads` threads at once.
fn spread(calls: u64, threads: u64, call: impl Fn() + Sync) -> Duration {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..calls).for_each(|_| call()));
        }
    });
    start.elapsed()
}

fn breaker(c: &mut Criterion) {
    let mut group = c.benchmark_group("breaker");
    let (closed, open) = (closed(), open());
    group.bench_function("admit and succeed", |b| b.iter(|| admit(&closed)));
    group.bench_function("admit and succeed, time passed in", |b| {
        let now = Instant::now();
        b.iter(|| admit_at(&closed, now));
    });
    group.bench_function("reject", |b| b.iter(|| reject(&open)));
    group.bench_function("admit and succeed, 2 threads", |b| {
        b.iter_custom(|calls| spread(calls, 2, || admit(&closed)));
    });
    group.bench_function("reject, 2 threads", |b| b.iter_custom(|calls| spread(calls, 2, || reject(&open))));
    group.finish();
}

criterion_group!(benches, breaker);
criterion_main!(benches);
