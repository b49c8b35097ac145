//! What the tests share.

use std::time::Duration;

use backstop_core::{AttemptOutcome, FailureKind, Report};

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
    #[doc = include_str!("../../docs/prompts.md")]
    struct Prompts;
    #[doc = include_str!("../../docs/refusal.md")]
    struct Refusal;
    #[doc = include_str!("../../docs/resilience.md")]
    struct Resilience;
    #[doc = include_str!("../../docs/streaming.md")]
    struct Streaming;
    #[doc = include_str!("../../docs/validation.md")]
    struct Validation;
}
