//! CPU time of one thread. Servers run in others, and a busy machine changes neither.

use std::{fs, thread};

/// Nanoseconds of CPU that this thread has used. Linux only; elsewhere there are none.
#[must_use]
pub fn thread_nanos() -> Option<u64> {
    // The kernel counts a thread's time at its clock's ticks, milliseconds apart, and whenever it schedules.
    thread::yield_now();
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

/// Nanoseconds of CPU that `run` takes in this thread.
pub fn nanos(run: impl FnOnce()) -> f64 {
    let before = thread_nanos().unwrap_or_default();
    run();
    (thread_nanos().unwrap_or_default() - before) as f64
}

/// The least that each of these takes, of so many rounds. In turn, so that all meet the same machine.
pub fn best<const N: usize>(rounds: usize, mut run: impl FnMut(usize)) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (index, best) in best.iter_mut().enumerate() {
            *best = best.min(nanos(|| run(index)));
        }
    }
    best
}
