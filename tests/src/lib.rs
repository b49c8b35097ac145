//! What the tests share.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use backstop_core::{AttemptOutcome, AttemptRecord, CallOutcome, Event, FailureKind, Observer, Report};
use tracing::{level_filters::LevelFilter, subscriber::DefaultGuard};
use tracing_subscriber::{fmt::MakeWriter, util::SubscriberInitExt};

/// Seconds.
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Milliseconds.
pub const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Target and failure of each attempt, in order; `None` where it did not fail.
pub fn course(report: &Report) -> Vec<(&str, Option<FailureKind>)> {
    report.attempts.iter().map(|attempt| (attempt.target.as_str(), attempt.failure())).collect()
}

/// The outcomes in order.
pub fn outcomes(report: &Report) -> Vec<AttemptOutcome> {
    report.attempts.iter().map(|attempt| attempt.outcome.clone()).collect()
}

/// An observer that remembers what it heard. Clones share the memory: a test keeps one and gives the other to the
/// chain.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    started: usize,
    attempts: Vec<AttemptRecord>,
    ended: Vec<(CallOutcome, Report)>,
}

impl Heard {
    /// How many calls have begun.
    pub fn started(&self) -> usize {
        self.0.lock().unwrap().started
    }

    /// The attempts that have ended, in that order.
    pub fn attempts(&self) -> Vec<AttemptRecord> {
        self.0.lock().unwrap().attempts.clone()
    }

    /// The calls that have ended, in that order.
    pub fn ended(&self) -> Vec<(CallOutcome, Report)> {
        self.0.lock().unwrap().ended.clone()
    }
}

impl Observer for Heard {
    fn on_event(&self, event: &Event<'_>) {
        let mut memory = self.0.lock().unwrap();
        match event {
            Event::CallStarted { .. } => memory.started += 1,
            Event::AttemptFinished { record } => memory.attempts.push((*record).clone()),
            Event::CallFinished { report, outcome } => memory.ended.push((*outcome, (*report).clone())),
            _ => {}
        }
    }
}

/// Everything that is logged on this thread, by whomever and at whatever level.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Listens until the guard is dropped.
    pub fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber =
            tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(log.clone());
        (log, subscriber.finish().set_default())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The Rust in the documents compiles and runs.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/architecture.md")]
    struct Architecture;
    #[doc = include_str!("../../docs/checks.md")]
    struct Checks;
    #[doc = include_str!("../../docs/failure-policy.md")]
    struct FailurePolicy;
    #[doc = include_str!("../../docs/observing.md")]
    struct Observing;
    #[doc = include_str!("../../docs/prompts.md")]
    struct Prompts;
    #[doc = include_str!("../../docs/providers.md")]
    struct Providers;
    #[doc = include_str!("../../docs/refusal.md")]
    struct Refusal;
    #[doc = include_str!("../../docs/resilience.md")]
    struct Resilience;
    #[doc = include_str!("../../docs/streaming.md")]
    struct Streaming;
    #[doc = include_str!("../../docs/testing.md")]
    struct Testing;
    #[doc = include_str!("../../docs/validation.md")]
    struct Validation;
}
