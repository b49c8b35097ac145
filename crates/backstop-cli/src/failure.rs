//! Why a command could not do its work.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// What ends a command early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was called wrongly, or its input or output failed.
    Told(String),
    /// Whoever reads its output has enough: `backstop … | head -1`.
    Unread,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self::Told(message.to_string())
    }

    /// Says how a text gets in, to who names the file that it is in.
    pub(crate) fn if_named(command: &str, files: &[OsString]) -> Result<(), Self> {
        let Some(file) = files.first() else { return Ok(()) };
        let file = Path::new(file).display();
        Err(Self::new(format!("the text is read from standard input: backstop {command} < {file}")))
    }

    /// Tells the user what went wrong, if something did, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Told(message) => {
                complain(message);
                ExitCode::from(2)
            }
            Self::Unread => ExitCode::SUCCESS,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::new(format!("cannot read or write: {error}")),
        }
    }
}

/// A line on standard error. Nothing is left to do if that is gone too.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "backstop: {message}");
}
