//! Why a command could not do its work.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The command was called wrongly, or its input or output failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self { message: message.to_string() }
    }

    /// Tells the user, and gives exit code 2.
    pub(crate) fn report(&self) -> ExitCode {
        // Nothing is left to do if standard error is gone too.
        let _ = writeln!(io::stderr(), "backstop: {}", self.message);
        ExitCode::from(2)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("cannot read or write: {error}"))
    }
}
