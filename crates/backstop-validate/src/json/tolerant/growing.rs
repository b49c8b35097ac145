//! A text that is still coming.
//!
//! The parser takes a step as if the text ended here. If the step has looked at the end, all that it did is undone, and it
//! is taken again when there is more; so it never reads anything otherwise than it would with the whole text before it.
//! Strings are the one token that may be long; their steps are taken round by round of [`string_body`](Tolerant), so that
//! nothing of them is read twice.

use super::parser::{Options, Tolerant};
use super::progress::{Growing, Undo};
use super::step::{End, Halt, State};
use crate::json::cursor::Cursor;
use crate::json::frames::Frame;
use crate::json::growth::{PartialValue, Tree};
use crate::json::policy::Limits;
use crate::json::repair::RepairLog;

/// More than any text can use up; what is allowed follows from how far the text was read.
const LOOKAHEAD: usize = usize::MAX / 2;

/// Bytes that pointers may take in a short text that is deeply nested.
const FREE_NAMES: usize = 64 * 1024;

impl<'a> Tolerant<'a> {
    /// A parser of a text that is still coming, whose value opens at `start`.
    pub(crate) fn growing(text: &'a str, start: usize, limits: Limits) -> Self {
        let options = Options { max_depth: limits.depth(), guess: false, null_for_nan: false };
        let mut parser = Self::new(Cursor::new(text, start), RepairLog::new(0), options);
        parser.lookahead = LOOKAHEAD;
        let undo = parser.undo(true);
        let (state, tree) = (State::Value, Tree::default());
        parser.growing = Some(Box::new(Growing { state, undo, ended: false, strict: true, tree }));
        parser
    }

    /// The same parser over more of the text.
    pub(crate) fn over<'b>(self, text: &'b str) -> Tolerant<'b> {
        let Tolerant { cursor, log, committed, stack, string, options, comma, .. } = self;
        let Tolerant { colonless, closing_quote, lookahead, growing, .. } = self;
        let cursor = cursor.over(text);
        Tolerant {
            cursor,
            log,
            committed,
            stack,
            string,
            options,
            comma,
            colonless,
            closing_quote,
            lookahead,
            growing,
        }
    }

    /// Reads on as far as the text allows. `None` if more of it has to come first.
    pub(crate) fn advance(&mut self, start: usize, ended: bool) -> Option<End> {
        let growing = self.growing.as_mut()?;
        growing.ended = ended;
        loop {
            if self.names_too_much(start) {
                return Some(self.halt(Halt::Damaged(self.cursor.pos, "shorter keys")));
            }
            let state = self.growing.as_ref()?.state.clone();
            let settles = matches!(state, State::After);
            self.cursor.forget_end();
            self.keep();
            match self.step(state) {
                // Nothing looks ahead behind what cannot be undone, so that all of the step can be.
                _ if self.waits() => {
                    self.undo_step();
                    self.show_text();
                    return None;
                }
                Ok(State::Done(value)) => return Some(End::Value(value)),
                Ok(next) => {
                    let growing = self.growing.as_mut()?;
                    growing.state = next;
                    if settles {
                        growing.tree.settle();
                    }
                }
                Err(halt) => {
                    let end = self.halt(halt);
                    self.undo_step();
                    self.show_text();
                    return Some(end);
                }
            }
            // The whole text allows at least as much: where less is found for want of it, nothing was read.
            let allowed = 2 * self.cursor.pos.saturating_sub(start) + 256;
            if LOOKAHEAD - self.lookahead > allowed {
                return Some(self.halt(Halt::Damaged(self.cursor.pos, "a shorter look ahead")));
            }
        }
    }

    /// Whether the pointers to what has come take more than a multiple of the text, which no text needs but one made for
    /// it: many values below a long key.
    fn names_too_much(&self, start: usize) -> bool {
        let Some(growing) = &self.growing else { return false };
        growing.tree.named() > 64 * self.cursor.pos.saturating_sub(start) + FREE_NAMES
    }

    /// What was read so far.
    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.growing.as_ref().map(|growing| &growing.tree)
    }

    pub(crate) fn tree_mut(&mut self) -> Option<&mut Tree> {
        self.growing.as_mut().map(|growing| &mut growing.tree)
    }

    pub(crate) fn into_root(self) -> PartialValue {
        self.growing.map(|growing| growing.tree.into_root()).unwrap_or_default()
    }

    fn undo(&self, strict: bool) -> Undo {
        Undo {
            pos: self.cursor.pos,
            comma: self.comma,
            committed: self.committed,
            colonless: self.colonless,
            closing_quote: self.closing_quote,
            lookahead: self.lookahead,
            strict,
        }
    }

    /// What was done so far will not be undone.
    fn keep(&mut self) {
        let undo = self.undo(self.is_strict());
        if let Some(growing) = &mut self.growing {
            growing.undo = undo;
        }
    }

    /// The same between two rounds of a string value.
    #[inline]
    pub(super) fn keep_place(&mut self, is_value: bool) {
        if is_value && self.growing.is_some() {
            self.keep();
        }
    }

    fn undo_step(&mut self) {
        let Some(growing) = &mut self.growing else { return };
        let undo = &growing.undo;
        growing.strict = undo.strict;
        self.cursor.pos = undo.pos;
        (self.comma, self.committed, self.colonless) = (undo.comma, undo.committed, undo.colonless);
        (self.closing_quote, self.lookahead) = (undo.closing_quote, undo.lookahead);
    }

    /// Shows what there is of a string that is still growing.
    fn show_text(&mut self) {
        let key = self.stack.last().and_then(Frame::key);
        if let Some(growing) = &mut self.growing {
            if matches!(growing.state, State::Text) {
                growing.tree.grow(key, self.string.so_far(&self.cursor, growing.ended));
            }
        }
    }

    /// Whether the closing bracket at `at` makes the text so far one strict JSON value, which is read as that whatever
    /// follows it.
    pub(super) fn completes_strict_json(&self, after: usize, at: usize) -> bool {
        self.is_strict()
            && matches!(self.stack.as_slice(), [only] if self.cursor.byte_at(at) == Some(only.closer()))
            && self.cursor.slice(after, at).bytes().all(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
    }
}
