//! The failure of a whole call.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use super::{ConfigError, Failure, FailureKind};
use crate::{
    human::Human,
    report::{AttemptOutcome, Report},
    target::TargetId,
};

/// The whole call failed. Cheap to clone and one pointer wide; `source()` is the last failure, the message
/// names the first one too, and [`report`](Self::report) lists every attempt. `Debug` prints that list, so that an `unwrap()` in a test
/// shows what happened.
///
/// ```
/// use backstop_core::{ChainError, ChainErrorKind, FailureKind};
///
/// fn status(error: &ChainError) -> u16 {
///     match error.kind() {
///         ChainErrorKind::GaveUp(FailureKind::InvalidRequest) => 400,
///         ChainErrorKind::Deadline => 504,
///         _ if error.is_retryable() => 503,
///         _ => 500,
///     }
/// }
/// ```
#[derive(Clone)]
pub struct ChainError(Arc<Inner>);

struct Inner {
    kind: ChainErrorKind,
    cause: Cause,
    report: Report,
}

enum Cause {
    None,
    Failure(Failure),
    Config(ConfigError),
}

/// How a call ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainErrorKind {
    /// The request itself, or the caller's account, is wrong: no other target was asked.
    GaveUp(FailureKind),
    /// Every target that could be asked was asked, and none gave a usable answer.
    Exhausted,
    /// The deadline ended the call.
    Deadline,
    /// No target could be asked at all: breakers open, gates closed, credentials latched.
    NoTargetAvailable {
        /// The soonest time at which a target may be back, if that is known.
        retry_in: Option<Duration>,
    },
    /// An option of the call cannot work; nothing was sent.
    Config,
}

impl ChainError {
    pub(crate) fn new(kind: ChainErrorKind, last: Option<Failure>, report: Report) -> Self {
        let cause = last.map_or(Cause::None, Cause::Failure);
        Self(Arc::new(Inner { kind, cause, report }))
    }

    /// A validator that reports success and leaves no value, which its type rules out.
    pub(crate) fn without_value(report: Report) -> Self {
        Self(Arc::new(Inner { kind: ChainErrorKind::Exhausted, cause: Cause::None, report }))
    }

    /// A deadline that was over when the call began.
    pub(crate) fn no_time(error: ConfigError, report: Report) -> Self {
        Self(Arc::new(Inner { kind: ChainErrorKind::Deadline, cause: Cause::Config(error), report }))
    }

    pub(crate) fn config(error: ConfigError, report: Report) -> Self {
        Self(Arc::new(Inner { kind: ChainErrorKind::Config, cause: Cause::Config(error), report }))
    }

    /// How the call ended.
    #[must_use]
    pub fn kind(&self) -> ChainErrorKind {
        self.0.kind
    }

    /// Everything that happened.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// Why the last attempt failed.
    #[must_use]
    pub fn last_failure(&self) -> Option<&Failure> {
        match &self.0.cause {
            Cause::Failure(failure) => Some(failure),
            Cause::None | Cause::Config(_) => None,
        }
    }

    /// The soonest time at which a target may be back, counted from the end of the call.
    #[must_use]
    pub fn retry_in(&self) -> Option<Duration> {
        self.0.report.retry_in
    }

    /// Whether the same call may work later without a change by the caller.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !matches!(self.0.kind, ChainErrorKind::GaveUp(_) | ChainErrorKind::Config)
    }
}

impl ChainError {
    /// Where several targets were asked, why the first of them failed: that usually explains an incident, when the
    /// last failure is only that of a spare.
    fn first_cause(&self) -> Option<(&TargetId, &str)> {
        let (first, last) = (self.0.report.attempts.first()?, self.0.report.attempts.last()?);
        match &first.outcome {
            AttemptOutcome::Failed { message, .. } if first.target != last.target => {
                Some((&first.target, message))
            }
            _ => None,
        }
    }
}

impl ChainError {
    /// Why the first few targets were passed over.
    fn write_skips(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        let skips = &self.0.report.skips;
        for (index, skip) in skips.iter().take(SHOWN).enumerate() {
            let before = if index == 0 { ": " } else { ", " };
            write!(f, "{before}{} ({})", skip.target, skip.reason)?;
        }
        match skips.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = self.0.report.attempts.len();
        let plural = if attempts == 1 { "" } else { "s" };
        match self.0.kind {
            ChainErrorKind::GaveUp(kind) => {
                write!(f, "gave up on {kind} after {attempts} attempt{plural}")?;
            }
            ChainErrorKind::Exhausted => {
                write!(f, "no target gave a usable answer in {attempts} attempt{plural}")?;
            }
            ChainErrorKind::Deadline => {
                write!(f, "the deadline ended the call after {attempts} attempt{plural}")?;
            }
            ChainErrorKind::NoTargetAvailable { .. } => {
                f.write_str("no target could be asked")?;
                self.write_skips(f)?;
            }
            ChainErrorKind::Config => {
                f.write_str("the call's options cannot work")?;
            }
        }
        if let Some((target, first)) = self.first_cause() {
            write!(f, "; the first one, at {target}: {first}")?;
        }
        match &self.0.cause {
            Cause::Failure(failure) => write!(f, "; the last one: {failure}")?,
            Cause::Config(error) => write!(f, ": {error}")?,
            Cause::None => {}
        }
        if let Some(wait) = self.retry_in() {
            write!(f, "; a target may be back in {}", Human(wait))?;
        }
        Ok(())
    }
}

impl fmt::Debug for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChainError({:?}): {self}\n{}", self.0.kind, self.0.report)
    }
}

impl Error for ChainError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.cause {
            Cause::Failure(failure) => Some(failure),
            Cause::Config(error) => Some(error),
            Cause::None => None,
        }
    }
}
