//! Lines out of a byte stream that arrives in arbitrary pieces, with bounded memory.

use std::fmt;

use memchr::{memchr, memchr2};
use thiserror::Error;

/// How much a streamed response may hold.
///
/// ```
/// let limits = backstop_http::StreamLimits::default();
/// assert_eq!(limits.event, 4 << 20);
/// assert_eq!(limits.total, 16 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamLimits {
    /// Bytes of the lines of one event, or of one NDJSON line, without line ends. Default 4 MiB: far above any chunk of text, below a memory problem.
    pub event: usize,
    /// Bytes of the whole stream. Default 16 MiB, the body limit of unstreamed answers.
    pub total: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { event: 4 << 20, total: 16 << 20 }
    }
}

impl StreamLimits {
    /// Sets both limits, in bytes.
    pub fn new(event: usize, total: usize) -> Self {
        Self { event, total }
    }
}

/// Why a stream cannot be decoded any further. It has ended for its decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// One event is larger than [`StreamLimits::event`].
    #[error(
        "one event of the stream is larger than {limit} bytes; raise the event limit if that is expected"
    )]
    EventTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The stream is larger than [`StreamLimits::total`].
    #[error("the stream is larger than {limit} bytes; raise the body limit if that is expected")]
    StreamTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// An event is not UTF-8. Replacing the bytes would silently change the answer.
    #[error("the stream holds an event that is not UTF-8")]
    NotUtf8,
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// LF, CR or CRLF, as server-sent events have it.
    Any,
    /// LF alone.
    Lf,
}

/// The bytes that have arrived and are not yet a line.
///
/// Pull-based: what one piece holds is decoded only as it is asked for, so nothing is stored twice.
pub(crate) struct Lines {
    end: LineEnd,
    limits: StreamLimits,
    buffer: Vec<u8>,
    /// Start of the line in `buffer`.
    start: usize,
    /// No line end lies before this index.
    scanned: usize,
    received: usize,
    over_total: bool,
    /// A CR ended the last line: an LF right after it belongs to it.
    after_cr: bool,
}

/// One step of [`Lines::next_line`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'b> {
    /// A whole line without its end.
    Line(&'b [u8]),
    /// The line that has begun has this many bytes so far; its end has not arrived.
    Partial(usize),
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it holds is an answer's.
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl Lines {
    pub(crate) fn new(end: LineEnd, limits: StreamLimits) -> Self {
        Self {
            end,
            limits,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            received: 0,
            over_total: false,
            after_cr: false,
        }
    }

    /// Takes what has arrived; bytes beyond the total limit are not stored.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.limits.total - self.received;
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.over_total |= kept.len() < bytes.len();
        self.received += kept.len();
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(kept);
    }

    pub(crate) fn total_limit(&self) -> usize {
        self.limits.total
    }

    /// More bytes came than the limit allows. To be asked when there is no further line.
    pub(crate) fn over_total(&self) -> bool {
        self.over_total
    }

    /// Removes `prefix` at the start of the stream; `false` if more bytes are needed to tell.
    pub(crate) fn skip_prefix(&mut self, prefix: &[u8]) -> bool {
        let have = self.buffer.get(self.start..).unwrap_or_default();
        if have.len() < prefix.len() && prefix.starts_with(have) {
            return false;
        }
        if have.starts_with(prefix) {
            self.start += prefix.len();
            self.scanned = self.start;
        }
        true
    }

    pub(crate) fn next_line(&mut self) -> Step<'_> {
        if self.after_cr && self.buffer.get(self.start) == Some(&b'\n') {
            self.start += 1;
            self.scanned = self.start;
            self.after_cr = false;
        }
        let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
        let found = match self.end {
            LineEnd::Any => memchr2(b'\n', b'\r', unseen),
            LineEnd::Lf => memchr(b'\n', unseen),
        };
        let Some(at) = found.map(|offset| self.scanned + offset) else {
            self.scanned = self.buffer.len();
            // The LF of a CRLF may be still to come, but only as the very next byte.
            self.after_cr &= self.start == self.buffer.len();
            return Step::Partial(self.buffer.len() - self.start);
        };
        self.after_cr = self.buffer.get(at) == Some(&b'\r');
        let line = self.buffer.get(self.start..at).unwrap_or_default();
        self.start = at + 1;
        self.scanned = at + 1;
        Step::Line(line)
    }

    /// What is left when the stream has ended: a last line without its end.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start.min(self.buffer.len()));
        *self =
            Self { received: self.received, over_total: self.over_total, ..Self::new(self.end, self.limits) };
        rest
    }
}
