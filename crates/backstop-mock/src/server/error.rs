//! What can go wrong in the mock server itself, as opposed to the faults it plays.

use std::{io, time::Duration};

/// An error of the mock server or of one of its waits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MockError {
    /// No port of 127.0.0.1 could be had.
    #[error(
        "the mock server cannot use a port of 127.0.0.1: {source}; check the limit of open files and the sandbox"
    )]
    Bind {
        /// What the operating system said.
        source: io::Error,
    },
    /// Something a test waited for did not happen. Waits are bounded so that a failing test fails instead of hanging.
    #[error("waited {limit:?} for {wanted} {what}, saw {seen}; check that the client was polled meanwhile")]
    TimedOut {
        /// What was waited for, in the plural.
        what: &'static str,
        /// How many were wanted.
        wanted: usize,
        /// How many there were when the time was over.
        seen: usize,
        /// How long the wait was.
        limit: Duration,
    },
}
