//! Objects and arrays: members, colons, commas, and how a parse ends.

use serde_json::Value;

use super::parser::Tolerant;
use super::step::{End, Halt, State, Step};
use crate::json::frames::Frame;
use crate::json::pointer::{Segment, pointer, push};
use crate::json::repair::{Repair, RepairKind, Risk};
use crate::json::truncation::{CutState, Truncation};

impl Tolerant<'_> {
    /// Reads one value; the cursor is left behind it.
    pub(crate) fn run(&mut self) -> End {
        let mut state = State::Value;
        loop {
            match self.step(state) {
                Ok(State::Done(value)) => return End::Value(value),
                Ok(next) => state = next,
                Err(halt) => return self.halt(halt),
            }
        }
    }

    pub(super) fn step(&mut self, state: State) -> Step<State> {
        match state {
            State::Member => self.member(),
            State::Colon(key) => self.colon(key),
            State::Value => self.value(),
            State::Text => self.text(),
            State::Join => self.join(),
            State::After => self.after(),
            State::Done(_) => Ok(state),
        }
    }

    fn member(&mut self) -> Step<State> {
        self.skip_trivia();
        let Some(byte) = self.cursor.peek() else { return Err(Halt::Cut(CutState::Container, None)) };
        match byte {
            b',' => {
                self.note_between(RepairKind::ExtraComma, self.cursor.pos);
                self.cursor.advance(1);
                Ok(State::Member)
            }
            b'}' | b']' | b')' => {
                if let Some(at) = self.comma.take() {
                    self.note_between(RepairKind::TrailingComma, at);
                }
                self.close(byte)
            }
            b'.' | 0xe2 if self.skip_ellipsis() => Ok(State::Member),
            b'`' if self.cursor.starts_with_at(self.cursor.pos, "```") => self.close_all(),
            _ => {
                self.comma = None;
                if self.top_is_object() { self.key() } else { self.value() }
            }
        }
    }

    fn key(&mut self) -> Step<State> {
        let at = self.cursor.pos;
        if self.cursor.peek() == Some(b'{') {
            return self.double_brace();
        }
        let key = if self.quote_at(at).is_some() { self.quoted_key()? } else { self.bare_key()? };
        if key.trim_start().starts_with(',') && !self.is_strict() {
            self.guess(RepairKind::DoubtfulQuote, at)?;
        }
        self.set_key(key)?;
        Ok(State::Colon(at))
    }

    /// The colon after the key at `at`.
    fn colon(&mut self, at: usize) -> Step<State> {
        self.skip_trivia();
        let Some(byte) = self.cursor.peek() else { return Err(Halt::Cut(CutState::AfterKey, None)) };
        match byte {
            b':' => self.cursor.advance(1),
            b',' | b'}' | b']' => {
                self.guess(RepairKind::MissingValue, at)?;
                return self.put(Value::Null);
            }
            _ if self.starts_value(self.cursor.pos) => {
                self.note(RepairKind::MissingColon, self.cursor.pos);
                self.colonless = true;
            }
            _ => return Err(Halt::Damaged(self.cursor.pos, "a colon after the key")),
        }
        self.committed = true;
        Ok(State::Value)
    }

    fn value(&mut self) -> Step<State> {
        self.skip_trivia();
        let at = self.cursor.pos;
        let in_object = self.top_is_object();
        let Some(byte) = self.cursor.peek() else {
            return Err(Halt::Cut(if in_object { CutState::AfterColon } else { CutState::Container }, None));
        };
        match byte {
            b'{' => self.open(Frame::object()),
            b'[' => self.open(Frame::Array(Vec::new())),
            b'(' => {
                self.only_complete(at)?;
                self.note(RepairKind::Tuple, at);
                self.open(Frame::Tuple { items: Vec::new(), comma: false })
            }
            b',' | b'}' | b']' | b')' if in_object => {
                self.guess(RepairKind::MissingValue, at)?;
                self.put(Value::Null)
            }
            _ if self.quote_at(at).is_some() => self.quoted_value(),
            _ => {
                let value = self.bare_value()?;
                self.put(value)
            }
        }
    }

    fn after(&mut self) -> Step<State> {
        let before = self.cursor.pos;
        self.skip_trivia();
        let at = self.cursor.pos;
        let Some(byte) = self.cursor.peek() else { return Err(Halt::Cut(CutState::Container, None)) };
        match byte {
            b',' => {
                self.cursor.advance(1);
                self.comma = Some(at);
                if let Some(Frame::Tuple { comma, .. }) = self.stack.last_mut() {
                    *comma = true;
                }
                if matches!(self.stack.last(), Some(Frame::Ghost(_))) {
                    return Err(Halt::Damaged(at, "the second closing brace"));
                }
                Ok(State::Member)
            }
            b'}' | b']' | b')' => self.close(byte),
            b'`' if self.cursor.starts_with_at(at, "```") => self.close_all(),
            b':' => self.brace_item(at),
            b'{' if self.is_item() => self.close_item(at),
            _ if self.starts_member(at, before) => {
                self.note(RepairKind::MissingComma, at);
                Ok(State::Member)
            }
            _ => {
                self.guess(RepairKind::StrayText, at)?;
                Ok(self.stray_text())
            }
        }
    }

    /// Whether a member can start here although no comma came before it.
    fn starts_member(&mut self, at: usize, value_end: usize) -> bool {
        if self.top_is_object() {
            return self.quote_at(at).is_some() || self.looks_like_key(at);
        }
        // A word may only follow on a line of its own: `["a" b]` is more likely a damaged string.
        self.starts_value(at) || self.has_line_break(value_end, at)
    }

    /// `["key": value]`: the string that was taken for an item is a key.
    fn brace_item(&mut self, at: usize) -> Step<State> {
        self.only_complete(at)?;
        let key = match self.stack.last_mut() {
            Some(Frame::Array(items)) => match items.pop() {
                Some(Value::String(key)) => key,
                _ => return Err(Halt::Damaged(at, "a comma or a closing bracket")),
            },
            _ => return Err(Halt::Damaged(at, "a comma or a closing bracket")),
        };
        self.note(RepairKind::MissingBraces, at);
        self.cursor.advance(1);
        self.open_at(Frame::Bare { map: serde_json::Map::new(), key: Some(key) }, at)?;
        Ok(State::Value)
    }

    /// `{{ "a": 1 }}`: the outer brace stands for nothing.
    fn double_brace(&mut self) -> Step<State> {
        let at = self.cursor.pos;
        self.only_complete(at)?;
        match self.stack.last_mut() {
            Some(top @ Frame::Object { .. }) if top.is_empty() => *top = Frame::Ghost(None),
            _ => return Err(Halt::Damaged(at, "a key")),
        }
        self.note(RepairKind::DoubledBraces, at);
        self.open(Frame::object())
    }

    pub(super) fn halt(&mut self, halt: Halt) -> End {
        match halt {
            Halt::Cut(state, leaf) => self.cut(state, leaf),
            // Only an open parse waits, and it asks nobody here.
            Halt::More => self.cut(CutState::Container, None),
            Halt::NotAllowed(kind, offset) => {
                End::NotAllowed(Repair { kind, risk: Risk::Guess, offset, pointer: self.pointer() })
            }
            Halt::Damaged(offset, expected) => End::Damaged { offset, pointer: self.pointer(), expected },
            Halt::TooDeep(offset) => End::TooDeep(offset),
        }
    }

    /// The text is over. With guesses allowed, keeps the leaf under construction, drops half a key and a key without
    /// value, and closes what is open.
    fn cut(&mut self, state: CutState, leaf: Option<Value>) -> End {
        let at = Truncation { pointer: self.cut_pointer(state), state };
        if !self.options.guess {
            return End::Cut { at, partial: None };
        }
        self.log.note(RepairKind::Cut, self.cursor.len(), || at.pointer.clone());
        let mut carry = leaf;
        while let Some(mut frame) = self.stack.pop() {
            if let Some(value) = carry.take() {
                frame.put(value);
            }
            carry = frame.finish();
        }
        End::Cut { at, partial: carry }
    }

    fn cut_pointer(&self, state: CutState) -> String {
        match state {
            CutState::Container | CutState::Key => {
                let outer = self.stack.split_last().map_or(&[][..], |(_, outer)| outer);
                pointer(outer.iter().filter_map(Frame::segment))
            }
            CutState::AfterKey => {
                let mut out = self.pointer();
                if let Some(Frame::Object { key: None, .. }) = self.stack.last() {
                    push(&mut out, Segment::Key(""));
                }
                out
            }
            _ => self.pointer(),
        }
    }
}
