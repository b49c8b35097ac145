//! The parser: its state, and what every reader of a token does with it.

use serde_json::Value;

use super::progress::Growing;
use super::quotes::{ClosingQuote, OpenString};
use super::step::{Halt, State, Step};
use crate::json::cursor::Cursor;
use crate::json::frames::Frame;
use crate::json::pointer::{Segment, pointer};
use crate::json::repair::{RepairKind, RepairLog};

pub(crate) struct Tolerant<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) log: RepairLog,
    /// Whether a key with its colon, or a quoted item or a container inside an array, was read: from then on this is
    /// JSON and not prose with a bracket in it.
    pub(crate) committed: bool,
    pub(super) stack: Vec<Frame>,
    /// The string value that is being read.
    pub(super) string: OpenString,
    pub(super) options: Options,
    /// A comma that no member has followed yet.
    pub(super) comma: Option<usize>,
    /// A key without colon was seen: keys may lack theirs.
    pub(super) colonless: bool,
    pub(super) closing_quote: ClosingQuote,
    /// Bytes that may still be looked at ahead. Only a text made to exhaust it does; then fewer repairs are found.
    pub(crate) lookahead: usize,
    /// Set while the text is still coming.
    pub(super) growing: Option<Box<Growing>>,
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

/// The longest pointer to something that is shown while it grows, in bytes.
const LONGEST_POINTER: usize = 4096;

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
            string: OpenString::default(),
            options,
            comma: None,
            colonless: false,
            closing_quote: ClosingQuote::default(),
            growing: None,
        }
    }

    pub(super) fn open(&mut self, frame: Frame) -> Step<State> {
        let at = self.cursor.pos;
        self.cursor.advance(1);
        self.open_at(frame, at)
    }

    pub(super) fn open_at(&mut self, frame: Frame, at: usize) -> Step<State> {
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

    pub(super) fn put(&mut self, value: Value) -> Step<State> {
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
    pub(super) fn is_item(&self) -> bool {
        matches!(self.stack.as_slice(), [.., Frame::Array(_), Frame::Object { .. }])
    }

    pub(super) fn set_key(&mut self, name: String) -> Step<()> {
        self.sure()?;
        self.watch_key(&name)?;
        if let Some(Frame::Object { key, .. } | Frame::Bare { key, .. }) = self.stack.last_mut() {
            *key = Some(name);
        }
        Ok(())
    }

    pub(super) fn top_is_object(&self) -> bool {
        self.stack.last().is_some_and(Frame::is_object)
    }

    pub(super) fn pointer(&self) -> String {
        pointer(self.stack.iter().filter_map(Frame::segment))
    }

    pub(super) fn note(&mut self, kind: RepairKind, offset: usize) {
        self.watch_repair();
        let stack = &self.stack;
        self.log.note(kind, offset, || pointer(stack.iter().filter_map(Frame::segment)));
    }

    /// The same of something that is in the innermost container, but in none of its members.
    pub(super) fn note_between(&mut self, kind: RepairKind, offset: usize) {
        self.watch_repair();
        let around = self.stack.split_last().map_or(&[][..], |(_, around)| around);
        self.log.note(kind, offset, || pointer(around.iter().filter_map(Frame::segment)));
    }

    /// Notes a guess, or halts if guesses are not allowed.
    pub(super) fn guess(&mut self, kind: RepairKind, offset: usize) -> Step<()> {
        if !self.options.guess {
            return Err(Halt::NotAllowed(kind, offset));
        }
        self.note(kind, offset);
        Ok(())
    }
}

/// What concerns a text that is still coming, and nothing otherwise.
impl Tolerant<'_> {
    /// Halts if the text that is still to come may have it otherwise. To be asked before anything is done that cannot be
    /// undone.
    #[inline]
    pub(super) fn sure(&self) -> Step<()> {
        if self.growing.is_some() && self.waits() { Err(Halt::More) } else { Ok(()) }
    }

    /// Halts in an open parse: what was read before would turn out to be something else.
    pub(super) fn only_complete(&self, at: usize) -> Step<()> {
        if self.growing.is_some() { Err(Halt::Damaged(at, "plain JSON while it grows")) } else { Ok(()) }
    }

    /// A container opens in the innermost one.
    pub(super) fn watch_open(&mut self, frame: &Frame) {
        if let Some(growing) = &mut self.growing {
            growing.tree.open(self.stack.last().and_then(Frame::key), frame.is_object());
        }
    }

    /// A key of the innermost container. What grows is named with each piece of text, so its name has a bound.
    pub(super) fn watch_key(&mut self, key: &str) -> Step<()> {
        let Some(growing) = &mut self.growing else { return Ok(()) };
        if growing.tree.pointer_len(key) > LONGEST_POINTER {
            return Err(Halt::Damaged(self.cursor.pos, "shorter keys"));
        }
        growing.tree.begin_member(key);
        Ok(())
    }

    /// A value is complete. The tree has it then, and the stack a placeholder.
    pub(super) fn watch_put(&mut self, value: Value) -> Value {
        let Some(growing) = &mut self.growing else { return value };
        match value {
            Value::Array(_) | Value::Object(_) => growing.tree.close(),
            leaf => growing.tree.hold(self.stack.last().and_then(Frame::key), leaf),
        }
        Value::Null
    }

    #[inline]
    pub(super) fn watch_repair(&mut self) {
        if let Some(growing) = &mut self.growing {
            growing.strict = false;
        }
    }

    pub(super) fn waits(&self) -> bool {
        self.cursor.met_end() && self.growing.as_ref().is_some_and(|growing| !growing.ended)
    }

    /// Whether the text so far is strict JSON. If it stays so, it is read as that; a text that has come as a whole was
    /// tried as that before.
    pub(super) fn is_strict(&self) -> bool {
        self.growing.as_ref().is_some_and(|growing| growing.strict)
    }
}
