//! Closing brackets: the right one, the wrong one, one too many, one too few.

use serde_json::Value;

use super::parser::Tolerant;
use super::step::{Halt, State, Step};
use crate::json::frames::Frame;
use crate::json::repair::RepairKind;

impl Tolerant<'_> {
    /// Handles the closing bracket under the cursor.
    pub(super) fn close(&mut self, byte: u8) -> Step<State> {
        let at = self.cursor.pos;
        self.cursor.advance(1);
        let Some(top) = self.stack.last() else { return Err(Halt::Damaged(at, "a value")) };
        if top.closer() == byte {
            return self.pop();
        }
        if matches!(top, Frame::Bare { .. }) && byte == b']' {
            self.pop()?;
            return self.pop();
        }
        let above = self.stack.iter().rev().skip(1).position(|frame| frame.closer() == byte).map(|i| i + 1);
        match above {
            Some(levels) => self.close_outer(at, levels),
            None => self.close_stray(at),
        }
    }

    /// A bracket that fits no open container: it stands for the right one, or for nothing.
    fn close_stray(&mut self, at: usize) -> Step<State> {
        let next = self.trivia_end(self.cursor.pos);
        let goes_on = self.cursor.byte_at(next) == Some(b',') && self.stack.len() == 1;
        if goes_on {
            self.note(RepairKind::ExtraCloser, at);
            return Ok(State::After);
        }
        self.note(RepairKind::WrongCloser, at);
        self.pop()
    }

    /// A bracket that fits a container `levels` further out. Either the inner ones were never closed, or this should
    /// have been the inner one's; what follows decides.
    fn close_outer(&mut self, at: usize, levels: usize) -> Step<State> {
        let depth = self.stack.len();
        let next = self.trivia_end(self.cursor.pos);
        let as_missing = self.goes_on_at(depth - levels - 1, next);
        let as_wrong = levels == 1 && self.goes_on_at(depth - 1, next);
        let is_comma = self.cursor.byte_at(next) == Some(b',');
        let kind = match (as_missing, as_wrong) {
            (true, true) if is_comma => RepairKind::MixedBrackets,
            (_, true) => RepairKind::WrongCloser,
            (true, false) => RepairKind::MissingCloser,
            (false, false) => RepairKind::MixedBrackets,
        };
        if kind == RepairKind::MixedBrackets {
            self.guess(kind, at)?;
        } else {
            self.note(kind, at);
        }
        if kind == RepairKind::WrongCloser {
            return self.pop();
        }
        for _ in 0..levels {
            self.pop()?;
        }
        self.pop()
    }

    /// Whether the token at `next` can follow when the stack is cut back to `depth` containers.
    fn goes_on_at(&mut self, depth: usize, next: usize) -> bool {
        let container = depth.checked_sub(1).and_then(|i| self.stack.get(i)).map(Frame::is_object);
        match (self.cursor.byte_at(next), container) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(b',' | b':'), None) => false,
            (Some(b'}' | b']' | b')'), None) => true,
            (Some(_), None) => true,
            (Some(b'}' | b']' | b')'), Some(_)) => {
                depth.checked_sub(1).and_then(|i| self.stack.get(i)).map(Frame::closer)
                    == self.cursor.byte_at(next)
            }
            (Some(b','), Some(is_object)) => {
                let member = self.trivia_end(next + 1);
                match self.cursor.byte_at(member) {
                    Some(b'}') => is_object,
                    Some(b']') => !is_object,
                    None => true,
                    Some(_) => self.looks_like_key(member) == is_object,
                }
            }
            (Some(_), Some(is_object)) => self.looks_like_key(next) == is_object && self.starts_value(next),
        }
    }

    /// `[{"a": 1{"a": 2}]`: a brace behind a member opens the next item.
    pub(super) fn close_item(&mut self, at: usize) -> Step<State> {
        self.note(RepairKind::MissingCloser, at);
        self.pop()
    }

    /// The fence around the value ends, so the text is complete: what is open was forgotten.
    pub(super) fn close_all(&mut self) -> Step<State> {
        let at = self.cursor.pos;
        if self.stack.iter().all(Frame::is_empty) {
            return Err(Halt::Damaged(at, "a value"));
        }
        self.note(RepairKind::MissingCloser, at);
        self.comma = None;
        while self.stack.len() > 1 {
            self.pop()?;
        }
        self.pop()
    }

    /// Closes the innermost container.
    fn pop(&mut self) -> Step<State> {
        self.sure()?;
        let Some(frame) = self.stack.pop() else { return Err(Halt::Damaged(self.cursor.pos, "a value")) };
        match frame.finish() {
            Some(value) => self.put(value),
            None => self.put(Value::Null),
        }
    }
}
