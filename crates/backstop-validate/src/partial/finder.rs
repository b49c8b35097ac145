//! Where a document begins: past prose, fences and reasoning. The same rules as those of the whole text's scan, for a
//! text that is still coming.

use crate::json::{
    cursor::Cursor,
    escaped,
    fences::{Fence, fence_at},
    plausible::{self, Place},
    thinking::{Tag, tag_at},
};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The bracket at this offset may open a document.
    Document(usize, Place),
    /// All up to here was reasoning.
    Reasoned,
    /// A document that cannot be shown while it grows.
    Hidden,
    /// More of the text has to come first.
    More,
}

/// A scan between documents.
#[derive(Debug, Default)]
pub(super) struct Finder {
    pub(super) pos: usize,
    pub(super) steps: u64,
    /// Text that is none of a document's was met.
    prose: bool,
    /// A document was met.
    met: bool,
    fence: Option<Fence>,
    /// The block of reasoning that is open.
    reasoning: Option<Tag>,
}

/// What follows from a byte: go on, or this.
type Turn = Option<Found>;

impl Finder {
    /// Goes on to the next thing that matters.
    pub(super) fn next(&mut self, text: &str) -> Found {
        let mut cursor = Cursor::new(text, self.pos);
        let found = loop {
            cursor.forget_end();
            let before = cursor.pos;
            let turn = self.turn(&mut cursor);
            if cursor.met_end() {
                cursor.pos = before;
                break Found::More;
            }
            if let Some(found) = turn {
                break found;
            }
        };
        self.pos = cursor.pos;
        self.steps += cursor.steps;
        found
    }

    /// Goes on to a tag that closes reasoning and says that all before it was some.
    pub(super) fn next_closing_tag(&mut self, text: &str) -> Found {
        self.steps += text.len().saturating_sub(self.pos) as u64;
        loop {
            let rest = text.as_bytes().get(self.pos..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'<', rest) else {
                self.pos = text.len();
                return Found::More;
            };
            let (cursor, at) = (Cursor::new(text, self.pos), self.pos + found);
            self.pos = at;
            match tag_at(&cursor, at) {
                Some(tag) if tag.closing => {
                    *self = Self { pos: tag.end, steps: self.steps, ..Self::default() };
                    return Found::Reasoned;
                }
                None if cursor.met_end() => return Found::More,
                _ => self.pos += 1,
            }
        }
    }

    /// Behind a document.
    pub(super) fn pass(&mut self, end: usize) {
        (self.pos, self.met) = (end, true);
    }

    /// The bracket at this offset opened no document.
    pub(super) fn pass_bracket(&mut self, at: usize) {
        (self.pos, self.prose) = (at + 1, true);
    }

    fn turn(&mut self, cursor: &mut Cursor<'_>) -> Turn {
        if self.reasoning.is_some() {
            return self.in_reasoning(cursor);
        }
        let byte = cursor.peek()?;
        match byte {
            b'{' | b'[' | b'(' => self.bracket(cursor, byte),
            b'<' => self.angle(cursor),
            b'`' | b'~' => self.fence_mark(cursor),
            b'/' => self.slash(cursor),
            b' ' | b'\n' | b'\r' | b'\t' => {
                cursor.skip_json_blanks();
                // Nothing follows from where the blanks end.
                cursor.forget_end();
                None
            }
            _ => self.skip(cursor, 1),
        }
    }

    fn skip(&mut self, cursor: &mut Cursor<'_>, bytes: usize) -> Turn {
        self.prose = true;
        cursor.advance(bytes);
        None
    }

    fn bracket(&mut self, cursor: &mut Cursor<'_>, byte: u8) -> Turn {
        let (at, place) = (cursor.pos, self.place(cursor));
        if !plausible::opens_value(cursor, at, place) {
            return if cursor.met_end() { None } else { self.skip(cursor, 1) };
        }
        let hidden = byte == b'(' || escaped::opens_escaped(cursor, at);
        Some(if hidden { Found::Hidden } else { Found::Document(at, place) })
    }

    fn place(&self, cursor: &Cursor<'_>) -> Place {
        match &self.fence {
            Some(fence) if cursor.slice(fence.end, cursor.pos).trim().is_empty() => Place::Start,
            None if !self.prose && !self.met => Place::Start,
            _ => Place::Prose,
        }
    }

    fn angle(&mut self, cursor: &mut Cursor<'_>) -> Turn {
        let Some(tag) = tag_at(cursor, cursor.pos) else {
            return if cursor.met_end() { None } else { self.skip(cursor, 1) };
        };
        cursor.advance_to(tag.end);
        if tag.closing {
            (self.prose, self.met, self.fence) = (false, false, None);
            return Some(Found::Reasoned);
        }
        self.reasoning = Some(tag);
        None
    }

    /// On to the next tag.
    fn in_reasoning(&mut self, cursor: &mut Cursor<'_>) -> Turn {
        let open = self.reasoning?;
        let rest = cursor.rest().unwrap_or_default();
        let Some(found) = memchr::memchr(b'<', rest) else {
            cursor.advance(rest.len());
            // The text is read up to its end, which decides nothing.
            return Some(Found::More);
        };
        cursor.advance(found);
        match tag_at(cursor, cursor.pos) {
            Some(tag) => {
                cursor.advance_to(tag.end);
                if tag.closing && tag.is_like(open) {
                    self.reasoning = None;
                }
            }
            None if cursor.met_end() => return Some(Found::More),
            None => cursor.advance(1),
        }
        None
    }

    fn fence_mark(&mut self, cursor: &mut Cursor<'_>) -> Turn {
        let found = fence_at(cursor, cursor.pos, self.fence.as_ref());
        if cursor.met_end() {
            return None;
        }
        let Some(fence) = found else { return self.skip(cursor, 1) };
        cursor.pos = fence.end;
        self.fence = if self.fence.is_some_and(|open| fence.closes(&open)) { None } else { Some(fence) };
        None
    }

    /// A comment before any prose, or behind a document.
    fn slash(&mut self, cursor: &mut Cursor<'_>) -> Turn {
        let at = cursor.pos;
        let may_be = !self.prose || self.met;
        let end = match cursor.byte_at(at + 1) {
            Some(b'*') if may_be => find(cursor, at + 2, b"*/"),
            Some(b'/') if may_be => find(cursor, at, b"\n").map(|end| end - 1),
            None if may_be => None,
            _ => return self.skip(cursor, 1),
        };
        match end {
            Some(end) => self.skip(cursor, end - at),
            None => {
                cursor.meet_end();
                None
            }
        }
    }
}

/// The offset behind the next `what` from `from` on.
fn find(cursor: &mut Cursor<'_>, from: usize, what: &[u8]) -> Option<usize> {
    let rest = cursor.text().as_bytes().get(from..).unwrap_or_default();
    let found = memchr::memmem::find(rest, what);
    cursor.looked(from, from + found.unwrap_or(rest.len()));
    found.map(|found| from + found + what.len())
}
