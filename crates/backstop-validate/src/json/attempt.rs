//! Reading one value where it starts: strictly, then without one level of escapes, then tolerantly.
//!
//! What was read in vain may have to be read again from another bracket on, and what is read may be looked at ahead. One
//! allowance for the whole text keeps both linear. Only a text made for it uses it up; from then on only strict JSON is
//! read.

use super::cursor::Cursor;
use super::escaped;
use super::found::Reading;
use super::policy::Limits;
use super::repair::{Repair, RepairKind, RepairLog};
use super::strict::{self, Stop};
use super::tolerant::{End, Options, Tolerant};

/// Steps for each byte of a value that are not lost: strict and tolerant parsing, and passing over what is damaged.
const FAIR_STEPS: u64 = 4;
/// What the shortest text may lose. Messy documents of a few dozen bytes take more steps for each byte than long ones.
const LEAST_ALLOWANCE: usize = 256;

/// What reading a value at a bracket gave.
pub(crate) struct Attempt {
    pub(crate) reading: Reading,
    pub(crate) log: RepairLog,
    /// Whether this is JSON and not prose with a bracket in it.
    pub(crate) committed: bool,
    /// The offset behind the value, if there is one.
    pub(crate) stop: usize,
}

/// Reads the values of one text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    limits: Limits,
    options: Options,
    /// Where strict parsing of the whole text started in vain.
    not_strict: Option<usize>,
    /// Bytes looked at.
    pub(crate) steps: u64,
    /// Steps that may still be lost on looking ahead and on reading again.
    allowance: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, limits: Limits, options: Options, not_strict: Option<usize>) -> Self {
        Self { text, limits, options, not_strict, steps: 0, allowance: 2 * text.len() + LEAST_ALLOWANCE }
    }

    /// Reads the value that opens at `start`. The error is where it is nested too deep.
    pub(crate) fn read(&mut self, start: usize) -> Result<Attempt, usize> {
        if Some(start) != self.not_strict {
            let mut log = RepairLog::new(self.limits.max_repairs);
            let mut cursor = Cursor::new(self.text, start);
            let parsed = strict::parse(&mut cursor, self.limits.depth(), &mut log);
            self.steps += cursor.steps;
            match parsed {
                Ok(value) => {
                    let reading = Reading::Value(value);
                    return Ok(Attempt { reading, log, committed: true, stop: cursor.pos });
                }
                Err(Stop::TooDeep(offset)) => return Err(offset),
                Err(Stop::Invalid(_)) => {}
            }
        }
        if self.allowance == 0 {
            return Ok(self.given_up(start));
        }
        match self.escaped(start) {
            Some(attempt) => attempt,
            None => self.tolerant(Cursor::new(self.text, start), RepairLog::new(self.limits.max_repairs)),
        }
    }

    /// Accounts for an attempt that took `steps` and used up `consumed` bytes of the text.
    pub(crate) fn lose(&mut self, steps: u64, consumed: usize) {
        let lost = steps.saturating_sub(FAIR_STEPS * consumed as u64);
        self.allowance = self.allowance.saturating_sub(usize::try_from(lost).unwrap_or(usize::MAX));
    }

    /// What can no longer be afforded. It counts as JSON: it might have been the answer.
    fn given_up(&self, start: usize) -> Attempt {
        let expected = "a text with fewer broken brackets";
        let reading = Reading::Damaged { offset: start, pointer: String::new(), expected };
        Attempt { reading, log: RepairLog::new(self.limits.max_repairs), committed: true, stop: start }
    }

    fn tolerant(&mut self, cursor: Cursor<'_>, log: RepairLog) -> Result<Attempt, usize> {
        let start = cursor.pos;
        let mut parser = Tolerant::new(cursor, log, self.options);
        let full = parser.lookahead;
        parser.lookahead = full.min(self.allowance);
        let cut_short = parser.lookahead < full;
        let end = parser.run();
        self.steps += parser.cursor.steps;
        if cut_short && parser.lookahead == 0 {
            return Ok(self.given_up(start));
        }
        let reading = match end {
            End::Value(value) => Reading::Value(value),
            End::TooDeep(offset) => return Err(offset),
            End::Cut { at, partial } => Reading::Cut { at, partial },
            End::NotAllowed(repair) => Reading::NotAllowed(repair),
            End::Damaged { offset, pointer, expected } => Reading::Damaged { offset, pointer, expected },
        };
        Ok(Attempt { reading, log: parser.log, committed: parser.committed, stop: parser.cursor.pos })
    }

    /// `{\"a\": 1}`: the whole document was escaped once more than it should be.
    fn escaped(&mut self, start: usize) -> Option<Result<Attempt, usize>> {
        let mut cursor = Cursor::new(self.text, start);
        let plain = escaped::unescape(&mut cursor, start);
        self.steps += cursor.steps;
        let plain = plain?;
        // Before the parser takes its share.
        self.lose(cursor.steps, 0);
        let mut log = RepairLog::new(self.limits.max_repairs);
        log.note(RepairKind::EscapedDocument, start, String::new);
        let Ok(attempt) = self.tolerant(Cursor::new(&plain, 0), log) else { return Some(Err(start)) };
        let mut stop = start;
        if let Reading::Value(_) = attempt.reading {
            let mut cursor = Cursor::new(self.text, start);
            stop += escaped::original_len(&mut cursor, start, attempt.stop);
            self.steps += cursor.steps;
        }
        // Offsets in the unescaped text would mislead.
        let reading = match attempt.reading {
            Reading::NotAllowed(repair) => Reading::NotAllowed(Repair { offset: start, ..repair }),
            Reading::Damaged { pointer, expected, .. } => {
                Reading::Damaged { offset: start, pointer, expected }
            }
            other => other,
        };
        Some(Ok(Attempt { reading, committed: true, stop, ..attempt }))
    }
}
