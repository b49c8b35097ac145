//! The values in a text: found in one scan from left to right, each parsed where it starts.
//!
//! Whatever lies inside a value is never looked at again, whether the value could be read or not: an inner object of a
//! damaged or cut document must not pass for the answer.

use std::ops::Range;

use serde_json::Value;

use super::attempt::{Attempt, Reader};
use super::cursor::Cursor;
use super::fences::{Fence, fence_at};
use super::found::{Candidate, Found, Reading, Source};
use super::plausible::{self, Place};
use super::policy::Limits;
use super::repair::{Repair, RepairKind, RepairLog};
use super::strict;
use super::thinking::{block_end, last_closing_tag, tag_at};
use super::tolerant::Options;

/// One scan over a text.
pub(crate) struct Scan<'a> {
    cursor: Cursor<'a>,
    limits: Limits,
    guess: bool,
    reader: Reader<'a>,
    fence: Option<(usize, Fence)>,
    fences: usize,
    found: Found,
    /// The offset behind the last token that is no blank.
    token_end: usize,
    /// The offset behind the last value and the brackets too many that follow it.
    value_end: usize,
    /// The offset behind the last closing tag of reasoning, once it was looked for.
    last_tag: Option<Option<usize>>,
}

impl<'a> Scan<'a> {
    /// A scan of what is left of the text. `not_strict`: where no strict JSON starts, if that is known.
    pub(crate) fn new(
        cursor: Cursor<'a>,
        limits: Limits,
        options: Options,
        not_strict: Option<usize>,
    ) -> Self {
        Self {
            limits,
            guess: options.guess,
            reader: Reader::new(cursor.text(), limits, options, not_strict),
            cursor,
            fence: None,
            fences: 0,
            found: Found::default(),
            token_end: 0,
            value_end: 0,
            last_tag: None,
        }
    }

    /// Scans to the end; also gives the steps taken.
    pub(crate) fn run(mut self) -> (Found, u64) {
        while let Some(byte) = self.cursor.peek() {
            if self.found.too_deep.is_some() || self.found.candidates.len() >= self.limits.max_candidates {
                break;
            }
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {
                    self.cursor.advance(1);
                    continue;
                }
                b'{' | b'[' | b'(' => self.bracket(),
                b'<' => self.angle(),
                b'`' | b'~' => self.fence_mark(),
                b'/' => self.comment(),
                b'}' | b']' => self.closer(),
                b',' | b';' => self.separator(byte),
                _ => self.prose(1),
            }
            self.token_end = self.cursor.pos;
        }
        let steps = self.steps();
        (self.found, steps)
    }

    fn prose(&mut self, bytes: usize) {
        self.found.prose.get_or_insert(self.cursor.pos);
        self.cursor.advance(bytes);
    }

    /// A comma or semicolon behind a value goes with it; it does not make the text prose.
    fn separator(&mut self, byte: u8) {
        let at = self.cursor.pos;
        let kind = if byte == b',' { RepairKind::ExtraComma } else { RepairKind::Prose };
        match self.found.candidates.last_mut() {
            Some(last) if self.found.prose.is_none() => {
                if last.log.list.last().is_none_or(|r| r.kind != kind) {
                    last.log.note(kind, at, String::new);
                }
                self.cursor.advance(1);
            }
            _ => self.prose(1),
        }
    }

    /// A closing bracket between values: one too many if it stands right behind a value.
    fn closer(&mut self) {
        let at = self.cursor.pos;
        let token_end = self.token_end;
        let value_end = self.value_end;
        let behind =
            self.found.candidates.last_mut().filter(|last| token_end <= value_end.max(last.span.end));
        match behind {
            Some(last) => {
                if last.log.list.last().is_none_or(|r| r.kind != RepairKind::ExtraCloser) {
                    last.log.note(RepairKind::ExtraCloser, at, String::new);
                }
                self.cursor.advance(1);
                self.value_end = at + 1;
            }
            None => self.prose(1),
        }
    }

    /// A comment before any prose belongs to the document.
    fn comment(&mut self) {
        let at = self.cursor.pos;
        let rest = self.cursor.rest().unwrap_or_default();
        let len = if self.found.prose.is_some() && self.found.candidates.is_empty() {
            None
        } else if rest.starts_with(b"/*") {
            let body = rest.get(2..).unwrap_or_default();
            Some(memchr::memmem::find(body, b"*/").map_or(rest.len(), |found| found + 4))
        } else if rest.starts_with(b"//") {
            Some(memchr::memchr(b'\n', rest).unwrap_or(rest.len()))
        } else {
            None
        };
        match len {
            Some(len) => {
                if let Some(last) = self.found.candidates.last_mut() {
                    last.log.note(RepairKind::Comment, at, String::new);
                    self.cursor.advance(len);
                } else {
                    self.prose(len);
                    self.found.prose = Some(at);
                }
            }
            None => self.prose(1),
        }
    }

    fn angle(&mut self) {
        let at = self.cursor.pos;
        let Some(tag) = tag_at(&self.cursor, at) else { return self.prose(1) };
        let start = self.found.reasoning.map_or(at, |(start, _)| start);
        if tag.closing {
            self.forget_reasoning(tag.end);
            return;
        }
        match block_end(&mut self.cursor, tag) {
            Some(end) => {
                self.found.reasoning = Some((start, false));
                self.cursor.pos = end;
            }
            None => {
                self.found.reasoning = Some((start, true));
                self.cursor.pos = self.cursor.len();
            }
        }
    }

    /// All up to `end` was reasoning.
    fn forget_reasoning(&mut self, end: usize) {
        self.found = Found { reasoning: Some((0, false)), ..Found::default() };
        self.fence = None;
        self.cursor.advance_to(end.max(self.cursor.pos));
        self.cursor.pos = end;
    }

    fn fence_mark(&mut self) {
        let at = self.cursor.pos;
        let open = self.fence.as_ref().map(|(_, fence)| *fence);
        let Some(fence) = fence_at(&mut self.cursor, at, open.as_ref()) else { return self.prose(1) };
        self.found.fence.get_or_insert(at);
        self.cursor.pos = fence.end;
        match open {
            Some(open) if fence.closes(&open) => {
                self.fenced_scalar(open.end, at);
                self.fence = None;
            }
            _ => {
                self.fence = Some((self.fences, fence));
                self.fences += 1;
            }
        }
    }

    /// A fence around a number, string or literal.
    fn fenced_scalar(&mut self, from: usize, to: usize) {
        let body = self.cursor.slice(from, to);
        let Some((source, fence_at)) = self.fence.as_ref().map(|(n, fence)| (Source::Fence(*n), fence.at))
        else {
            return;
        };
        if body.trim().is_empty() || self.found.candidates.last().is_some_and(|last| last.span.start >= from)
        {
            return;
        }
        let mut log = RepairLog::new(self.limits.max_repairs);
        let mut inner = Cursor::new(body, 0);
        let value = strict::parse(&mut inner, self.limits.depth(), &mut log);
        inner.skip_json_blanks();
        let (done, steps) = (inner.at_end(), inner.steps);
        self.cursor.steps += steps;
        if let (Ok(value), true) = (value, done) {
            let reading = Reading::Value(value);
            let candidate =
                Candidate { span: from..to, source, reading, log, weak: true, fence_at: Some(fence_at) };
            self.found.candidates.push(candidate);
        }
    }

    fn place(&self) -> Place {
        match (&self.fence, self.found.prose) {
            (Some((_, fence)), _) if self.token_end <= fence.end => Place::Start,
            (None, None) if self.found.candidates.is_empty() => Place::Start,
            _ => Place::Prose,
        }
    }

    /// Takes the value that a bracket opens, or passes over the bracket.
    fn bracket(&mut self) {
        let (start, steps) = (self.cursor.pos, self.steps());
        self.value(start);
        let consumed = self.cursor.pos.saturating_sub(start);
        self.reader.lose(self.steps() - steps, consumed);
    }

    fn value(&mut self, start: usize) {
        let place = self.place();
        if !plausible::opens_value(&mut self.cursor, start, place) {
            return self.prose(1);
        }
        let Attempt { reading, log, committed, stop } = match self.reader.read(start) {
            Ok(attempt) => attempt,
            Err(offset) => {
                self.found.too_deep = Some(offset);
                return;
            }
        };
        match reading {
            Reading::Value(value) => {
                let firm = committed || place == Place::Start || plausible::scalars_only(&value);
                let container = value.is_object() || value.is_array();
                if firm && container && !self.is_link(stop, &value) {
                    self.keep(start..stop, value, log);
                } else {
                    self.prose(1);
                }
            }
            unread => match self.reasoning_ends_after(start) {
                Some(end) => self.forget_reasoning(end),
                None => self.unread(start, unread, log, committed, place),
            },
        }
    }

    fn steps(&self) -> u64 {
        self.cursor.steps + self.reader.steps
    }

    /// `[text](address)`.
    fn is_link(&self, end: usize, value: &Value) -> bool {
        self.cursor.byte_at(end) == Some(b'(') && plausible::scalars_only(value)
    }

    /// The end of reasoning behind `start`, if a closing tag without an opening one shows that there was any.
    fn reasoning_ends_after(&mut self, start: usize) -> Option<usize> {
        let last = match self.last_tag {
            Some(last) => last,
            None => last_closing_tag(&mut self.cursor),
        };
        self.last_tag = Some(last);
        last.filter(|&end| end > start)
    }

    fn keep(&mut self, span: Range<usize>, value: Value, log: RepairLog) {
        self.cursor.pos = span.end;
        let weak = self.fence.is_none() && plausible::may_be_prose(&value);
        let reading = match self.loses_members(span.end) {
            Some(repair) if !self.guess => Reading::NotAllowed(repair),
            _ => Reading::Value(value),
        };
        self.push(span, reading, log, weak);
    }

    fn push(&mut self, span: Range<usize>, reading: Reading, log: RepairLog, weak: bool) {
        let (source, fence_at) = match &self.fence {
            Some((n, fence)) => (Source::Fence(*n), Some(fence.at)),
            None => (Source::Prose, None),
        };
        self.found.candidates.push(Candidate { span, source, reading, log, weak, fence_at });
    }

    /// `{"a": 1}, "b": 2}`: a bracket too early, and members behind it that would be lost.
    fn loses_members(&mut self, end: usize) -> Option<Repair> {
        let mut probe = Cursor::new(self.cursor.text(), end);
        probe.skip_json_blanks();
        if probe.peek() != Some(b',') {
            return None;
        }
        let offset = probe.pos;
        probe.advance(1);
        probe.skip_json_blanks();
        self.cursor.looked(end, probe.pos);
        (probe.peek() == Some(b'"')).then(|| {
            let kind = RepairKind::MixedBrackets;
            Repair { kind, risk: kind.risk(), offset, pointer: String::new() }
        })
    }

    /// A bracket that could not be read as a value: damaged JSON if it began like JSON, prose otherwise.
    fn unread(&mut self, start: usize, reading: Reading, log: RepairLog, committed: bool, place: Place) {
        let cut = matches!(reading, Reading::Cut { .. });
        let committed = committed || plausible::opens_with_quote(&self.cursor, start);
        if !committed && !(cut && (place == Place::Start || plausible::opens_firmly(&self.cursor, start))) {
            self.found.rejected.get_or_insert(reading);
            return self.prose(1);
        }
        let end = if cut { self.cursor.len() } else { self.skip_damaged(start) };
        self.cursor.pos = end;
        self.push(start..end, reading, log, false);
    }

    /// The end of a damaged value: its last closing bracket, or the fence around it, or the end of the text.
    fn skip_damaged(&mut self, start: usize) -> usize {
        let mut at = start;
        let mut depth = 0_usize;
        let mut in_string = false;
        while let Some(byte) = self.cursor.byte_at(at) {
            match byte {
                b'\\' => at += 1,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        at += 1;
                        break;
                    }
                }
                b'\n' if self.fence.is_some() && self.cursor.starts_with_at(at + 1, "```") => break,
                _ => {}
            }
            at += 1;
        }
        let end = at.min(self.cursor.len());
        self.cursor.looked(start, end);
        end
    }
}
