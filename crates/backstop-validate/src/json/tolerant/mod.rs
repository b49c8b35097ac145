//! The tolerant parser: one pass over the text, on a stack of its own, that reads what models write instead of JSON.
//!
//! It repairs only where the next few tokens leave one sensible reading, notes every repair, and halts otherwise: a
//! wrong value costs more than a refusal. Looking ahead never goes further than to the next quote, comma or word, so
//! that the work stays within a small multiple of the text.
//!
//! A parse may be [open](growing): the text is still coming. Then a step that has looked at its end is undone and waits,
//! so that what was read stays read whatever follows.
//!
//! - `trivia`: blanks and comments, and what a key or value can start with;
//! - `quoted` and `ends`: strings, and which quote ends one;
//! - `bare`: what stands without quotes: keys, literals, numbers, words;
//! - `closers`: brackets, matched and not;
//! - `growing`: texts that come in pieces.

mod bare;
mod closers;
mod ends;
mod growing;
mod quoted;
mod trivia;

use serde_json::Value;

use super::cursor::Cursor;
use super::error::{CutState, Truncation};
use super::frames::Frame;
use super::pointer::{Segment, pointer, push};
use super::repair::{Repair, RepairKind, RepairLog, Risk};

/// How a parse ended.
#[derive(Debug)]
pub(crate) enum End {
    Value(Value),
    /// The text ended first. What was there, closed, if guesses are allowed.
    Cut {
        at: Truncation,
        partial: Option<Value>,
    },
    /// Only a repair that is not allowed would help.
    NotAllowed(Repair),
    Damaged {
        offset: usize,
        pointer: String,
        expected: &'static str,
    },
    TooDeep(usize),
}

/// Why the parser stops before the end of the value.
enum Halt {
    Cut(CutState, Option<Value>),
    NotAllowed(RepairKind, usize),
    Damaged(usize, &'static str),
    TooDeep(usize),
    /// The text that is still to come decides.
    More,
}

type Step<T> = Result<T, Halt>;

/// What comes next.
#[derive(Clone)]
enum State {
    /// A key or an item, or the closing bracket.
    Member,
    /// The colon after the key at this offset.
    Colon(usize),
    /// The value after a colon.
    Value,
    /// The rest of a string value.
    Text,
    /// What may be joined to a string value.
    Join,
    /// A comma or the closing bracket.
    After,
    Done(Value),
}

pub(crate) struct Tolerant<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) log: RepairLog,
    /// Whether a key with its colon, or a quoted item or a container inside an array, was read: from then on this is
    /// JSON and not prose with a bracket in it.
    pub(crate) committed: bool,
    stack: Vec<Frame>,
    /// The string value that is being read.
    string: quoted::OpenString,
    options: Options,
    /// A comma that no member has followed yet.
    comma: Option<usize>,
    /// A key without colon was seen: keys may lack theirs.
    colonless: bool,
    closing_quote: ends::ClosingQuote,
    /// Bytes that may still be looked at ahead. Only a text made to exhaust it does; then fewer repairs are found.
    pub(crate) lookahead: usize,
    /// Set while the text is still coming.
    growing: Option<Box<growing::Growing>>,
}

/// What the parser may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) max_depth: usize,
    /// Guesses and partial values.
    pub(crate) guess: bool,
    /// A schema will decide whether a null may stand for a number that JSON cannot write.
    pub(crate) null_for_nan: bool,
}

impl<'a> Tolerant<'a> {
    /// A parser whose cursor stands on the opening bracket, or on the quote or word, of a value.
    pub(crate) fn new(cursor: Cursor<'a>, log: RepairLog, options: Options) -> Self {
        let lookahead = 2 * cursor.len().saturating_sub(cursor.pos) + 256;
        Self {
            lookahead,
            cursor,
            log,
            committed: false,
            stack: Vec::new(),
            string: quoted::OpenString::default(),
            options,
            comma: None,
            colonless: false,
            closing_quote: ends::ClosingQuote::default(),
            growing: None,
        }
    }

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

    fn step(&mut self, state: State) -> Step<State> {
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
                self.note(RepairKind::ExtraComma, self.cursor.pos);
                self.cursor.advance(1);
                Ok(State::Member)
            }
            b'}' | b']' | b')' => {
                if let Some(at) = self.comma.take() {
                    self.note(RepairKind::TrailingComma, at);
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

    fn open(&mut self, frame: Frame) -> Step<State> {
        let at = self.cursor.pos;
        self.cursor.advance(1);
        self.open_at(frame, at)
    }

    fn open_at(&mut self, frame: Frame, at: usize) -> Step<State> {
        if self.stack.len() >= self.options.max_depth {
            return Err(Halt::TooDeep(at));
        }
        self.sure()?;
        self.watch_open(&frame);
        if !self.stack.is_empty() {
            self.committed = true;
        }
        self.comma = None;
        self.stack.push(frame);
        Ok(State::Member)
    }

    fn put(&mut self, value: Value) -> Step<State> {
        self.sure()?;
        let value = self.watch_put(value);
        let Some(top) = self.stack.last_mut() else { return Ok(State::Done(value)) };
        if let Some(key) = top.put(value) {
            let path = || {
                let outer = self.stack.split_last().map_or(&[][..], |(_, outer)| outer);
                pointer(outer.iter().filter_map(Frame::segment).chain([Segment::Key(&key)]))
            };
            self.log.note(RepairKind::DuplicateKey, self.cursor.pos, path);
        }
        Ok(State::After)
    }

    /// Whether the innermost container is an object that is an item of an array.
    fn is_item(&self) -> bool {
        matches!(self.stack.as_slice(), [.., Frame::Array(_), Frame::Object { .. }])
    }

    fn set_key(&mut self, name: String) -> Step<()> {
        self.sure()?;
        if let Some(Frame::Object { key, .. } | Frame::Bare { key, .. }) = self.stack.last_mut() {
            *key = Some(name);
        }
        Ok(())
    }

    fn top_is_object(&self) -> bool {
        self.stack.last().is_some_and(Frame::is_object)
    }

    fn pointer(&self) -> String {
        pointer(self.stack.iter().filter_map(Frame::segment))
    }

    fn note(&mut self, kind: RepairKind, offset: usize) {
        self.watch_repair();
        let stack = &self.stack;
        self.log.note(kind, offset, || pointer(stack.iter().filter_map(Frame::segment)));
    }

    /// Notes a guess, or halts if guesses are not allowed.
    fn guess(&mut self, kind: RepairKind, offset: usize) -> Step<()> {
        if !self.options.guess {
            return Err(Halt::NotAllowed(kind, offset));
        }
        self.note(kind, offset);
        Ok(())
    }

    fn halt(&mut self, halt: Halt) -> End {
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
