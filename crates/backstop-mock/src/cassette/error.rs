//! What can be wrong with a cassette, and with a request that it does not hold.

use std::{fmt, io, path::PathBuf};

/// A cassette that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file system said no.
    #[error("the cassette {path} cannot be used: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was written by another version, or is no cassette at all.
    #[error("{path} does not begin as a cassette of version 1: record it again", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
    },
    /// A line that cannot be read.
    #[error("line {line} of the cassette {path} cannot be read: record it again", path = .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

/// A request that a cassette does not hold: the source of the error that a [`Replay`](super::Replay) gives then.
/// Names what differs, shows neither what was asked nor what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmatched {
    /// The line of the recorded request that is most like it, from 1; none if all were asked for already.
    pub nearest: Option<usize>,
    /// JSON pointers into `asked` of that line, to what differs; empty if only that is wrong that all equal ones
    /// were asked for already.
    pub differs: Vec<String>,
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nearest {
            None => f.write_str("every recorded request was asked for already: ask less, or record again"),
            Some(line) if self.differs.is_empty() => {
                write!(f, "the request on line {line} was asked for already: ask less often, or record again")
            }
            Some(line) => {
                write!(f, "no such request was recorded; line {line} is nearest, but differs in ")?;
                for (at, pointer) in self.differs.iter().take(8).enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}`{pointer}`")?;
                }
                let more = self.differs.len().saturating_sub(8);
                if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for Unmatched {}
