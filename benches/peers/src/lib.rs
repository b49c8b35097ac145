//! Measures cases side by side.
//!
//! Everything is run in each of many short rounds, in rotating order, and compared within its round: on a machine
//! that is also doing other things, figures of one run then still say how two cases compare, even where no single
//! figure can be trusted. Time is the CPU time of the thread, which preemption does not count towards; what is spent
//! asleep waiting for a lock is missing from it.

pub mod calls;

use std::sync::Barrier;

use rustix::time::{ClockId, clock_gettime};

/// Something to measure.
pub struct Case {
    name: &'static str,
    calls: u64,
    run: Box<dyn Fn(u64) + Send + Sync>,
}

impl Case {
    /// `run` makes as many calls as it is told, `calls` in each round.
    pub fn new(name: &'static str, calls: u64, run: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self { name, calls, run: Box::new(run) }
    }
}

/// Nanoseconds of CPU per call and thread, of one case in each round.
struct Measured {
    name: &'static str,
    rounds: Vec<f64>,
}

/// Measures all cases and prints them, each with its ratio to every one of `bases`.
pub fn compare(title: &str, threads: usize, rounds: usize, cases: &[Case], bases: &[&str]) {
    let mut measured: Vec<_> =
        cases.iter().map(|case| Measured { name: case.name, rounds: Vec::new() }).collect();
    // The first round warms up.
    for round in 0..=rounds {
        for place in 0..cases.len() {
            let index = (place + round) % cases.len();
            let nanos = nanos_per_call(&cases[index], threads);
            if round > 0 {
                measured[index].rounds.push(nanos);
            }
        }
    }
    print(&format!("{title}, {threads} thread(s), {rounds} rounds"), &measured, bases);
}

fn nanos_per_call(case: &Case, threads: usize) -> f64 {
    let start = Barrier::new(threads);
    let one = || {
        start.wait();
        let before = thread_nanos();
        (case.run)(case.calls);
        (thread_nanos() - before) / case.calls as f64
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().expect("a case panicked")).sum::<f64>() / threads as f64
    })
}

fn thread_nanos() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn print(title: &str, measured: &[Measured], bases: &[&str]) {
    println!("\n{title}");
    let columns: String = bases.iter().map(|base| format!(" {base:>28}")).collect();
    println!("{:44} {:>8} {:>8} {:>8}{columns}", "CPU ns per call and thread", "min", "median", "p90");
    for case in measured {
        let ratios: String = bases
            .iter()
            .map(|base| match ratio(case, base, measured) {
                Some(ratio) => format!(" {ratio:>27.2}x"),
                None => format!(" {:>28}", "-"),
            })
            .collect();
        let at = |share| quantile(&case.rounds, share);
        println!("{:44} {:>8.1} {:>8.1} {:>8.1}{ratios}", case.name, at(0.0), at(0.5), at(0.9));
    }
}

/// The median of the ratios within each round; none if the base was left out.
fn ratio(case: &Measured, base: &str, measured: &[Measured]) -> Option<f64> {
    let base = measured.iter().find(|case| case.name == base)?;
    let ratios: Vec<_> = case.rounds.iter().zip(&base.rounds).map(|(case, base)| case / base).collect();
    Some(quantile(&ratios, 0.5))
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
