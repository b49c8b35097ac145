//! Which quote ends a string.
//!
//! A quote ends a string if what follows it is what JSON has after a string in this place: a colon after a key; after
//! a value a closing bracket, or a comma and then a key (in an object) or an item (in an array). Otherwise it is part
//! of the text. Whether the *text before* the quote ends like a finished member shows where a closing quote was
//! forgotten.

use super::parser::Tolerant;
use super::quotes::{ClosingQuote, InnerQuotes, Quote, Role, Verdict};
use crate::json::frames::Frame;

impl Tolerant<'_> {
    /// Judges the quote at `at`; `after` is the offset behind it and its repeats, `run` the start of the plain text
    /// before it.
    pub(super) fn verdict(&mut self, quote: Quote, at: usize, len: usize, role: Role, run: usize) -> Verdict {
        let after = at + len;
        let ends = match role {
            Role::Key => return self.key_verdict(at, after, run),
            Role::Value if self.stack.is_empty() => true,
            Role::Value if self.top_is_object() => self.ends_in_object(at, after),
            Role::Value => self.ends_in_array(quote, at, after),
        };
        if ends {
            return Verdict::End;
        }
        self.forgotten(at, run).map_or(Verdict::Inner, |end| Verdict::Missing { end })
    }

    /// Takes note of a quote that was taken for text.
    pub(super) fn count_inner(
        &mut self,
        mut inner: InnerQuotes,
        at: usize,
        after: usize,
        run: usize,
    ) -> InnerQuotes {
        inner.count += 1;
        let next = self.trivia_end(after);
        let before_colon = self.cursor.byte_at(next) == Some(b':');
        let before_key = self.top_is_object() && self.looks_like_key(at);
        inner.at_member |= before_colon || before_key;
        inner.after_colon |= self.cursor.slice(run, at).trim_end().ends_with(':');
        inner
    }

    /// Whether quotes that were taken for text make it doubtful that the string ends where it does: one that borders on
    /// a key; one without a partner, in an array or behind a colon.
    pub(super) fn doubts(&self, inner: InnerQuotes) -> bool {
        let odd = inner.count % 2 == 1;
        inner.at_member || odd && (inner.after_colon || !self.top_is_object())
    }

    fn key_verdict(&mut self, at: usize, after: usize, run: usize) -> Verdict {
        let next = self.trivia_end(after);
        match self.cursor.byte_at(next) {
            None | Some(b':' | b',' | b'}') => return Verdict::End,
            _ => {}
        }
        // `{"key:"value"}`: the colon is inside, so this quote opens the value.
        let before = self.cursor.slice(run, at).trim_end();
        if let Some(key) = before.strip_suffix(':') {
            if !key.is_empty() {
                return Verdict::Missing { end: run + key.len() };
            }
        }
        let letter = self.cursor.byte_at(after).is_some_and(|b| b.is_ascii_alphabetic());
        if self.starts_value(next) && !letter { Verdict::End } else { Verdict::Inner }
    }

    fn ends_in_object(&mut self, at: usize, after: usize) -> bool {
        let next = self.trivia_end(after);
        let Some(byte) = self.cursor.byte_at(next) else { return true };
        match byte {
            b'}' => self.closes_here(after, next),
            b']' => {
                self.has_open(b']') && self.closes_here(after, next)
                    || self.cursor.byte_at(next + 1).is_none()
            }
            b')' => self.has_open(b')'),
            b',' => self.comma_before_key(next),
            b'+' => self.joins(next),
            b'`' if self.cursor.starts_with_at(next, "```") => self.fence_ends_line(next),
            _ if self.quote_at(next).is_some() => {
                let line_break = self.has_line_break(after, next);
                line_break || self.may_be_key(next) || (self.colonless && next > after)
            }
            _ => {
                // A bare key without a comma before it: only after what looks like a closing quote.
                let closing = next > after && !self.blank_before(at);
                (closing || self.has_line_break(after, next)) && self.looks_like_key(next)
            }
        }
    }

    /// After `",` in an object: whether another member follows, rather than the rest of the sentence.
    fn comma_before_key(&mut self, comma: usize) -> bool {
        let next = self.trivia_end(comma + 1);
        match self.cursor.byte_at(next) {
            None | Some(b'}' | b',') => true,
            Some(b']') => self.has_open(b']'),
            Some(b'.') => self.cursor.starts_with_at(next, "..."),
            Some(_) if self.has_line_break(comma, next) => true,
            Some(_) => self.may_be_key(next) || (self.colonless && self.quote_at(next).is_some()),
        }
    }

    fn ends_in_array(&mut self, quote: Quote, at: usize, after: usize) -> bool {
        let next = self.trivia_end(after);
        let Some(byte) = self.cursor.byte_at(next) else { return true };
        match byte {
            b']' => self.closes_here(after, next),
            b')' => self.has_open(b')'),
            b'}' => self.has_open(b'}') && self.closes_here(after, next),
            b',' => self.comma_before_item(next),
            b'+' => self.joins(next),
            b':' => self.is_first_item() && self.colon_before_value(next),
            b'`' if self.cursor.starts_with_at(next, "```") => self.fence_ends_line(next),
            _ if self.has_line_break(after, next) => !self.blank_before(at) || self.quote_at(next).is_some(),
            _ if self.quote_at(next).is_some_and(|other| other == quote) => {
                next > after || !self.blank_before(at)
            }
            _ => next > after && !self.blank_before(at) && self.starts_value(next),
        }
    }

    /// After `",` in an array: whether another item follows. A bare word counts only if no quote comes before its end.
    fn comma_before_item(&mut self, comma: usize) -> bool {
        let next = self.trivia_end(comma + 1);
        match self.cursor.byte_at(next) {
            None | Some(b']' | b'}' | b'{' | b'[' | b',') => true,
            Some(_) if self.quote_at(next).is_some() || self.has_line_break(comma, next) => true,
            Some(_) => {
                let end = self.item_end(next);
                self.cursor.byte_at(end) != Some(b'"')
            }
        }
    }

    /// The first quote, comma, closing bracket or line break from `at` on.
    fn item_end(&mut self, at: usize) -> usize {
        let rest = self.cursor.text().as_bytes().get(at..self.horizon(at)).unwrap_or_default();
        let len = rest.iter().position(|b| matches!(b, b'"' | b',' | b']' | b'\n')).unwrap_or(rest.len());
        self.look(at, at + len);
        at + len
    }

    /// Whether the closing bracket at `at`, behind a quote that ends at `after`, closes something here, rather than
    /// being part of the text.
    fn closes_here(&mut self, after: usize, at: usize) -> bool {
        if self.completes_strict_json(after, at) {
            return true;
        }
        let next = self.trivia_end(at + 1);
        match self.cursor.byte_at(next) {
            None | Some(b'}' | b']' | b')' | b',' | b'`' | b';' | b'{' | b'[') => return true,
            _ => {}
        }
        if self.has_line_break(at, next) || self.looks_like_key(next) {
            return true;
        }
        // Prose may follow the outermost container, unless the string itself seems to go on to a later `"}`.
        self.stack.len() == 1 && !self.closing_quote_ahead(at + 1)
    }

    /// Whether `"` and `}` stand together further along the line, before another object opens.
    fn closing_quote_ahead(&mut self, from: usize) -> bool {
        if from < self.closing_quote.from || from > self.closing_quote.to {
            let (to, found) = self.find_closing_quote(from);
            self.look(from, to);
            self.closing_quote = ClosingQuote { from, to, found };
        }
        self.closing_quote.found
    }

    fn find_closing_quote(&self, from: usize) -> (usize, bool) {
        let mut at = from;
        let horizon = self.horizon(from);
        while let Some(byte) = self.cursor.byte_at(at).filter(|_| at < horizon) {
            match byte {
                b'\n' | b'{' => return (at, false),
                b'"' if self.brace_within_two(at + 1) => return (at, true),
                _ => at += 1,
            }
        }
        (at, false)
    }

    fn brace_within_two(&self, from: usize) -> bool {
        let to = self.cursor.len().min(from + 2);
        if to < from + 2 {
            self.cursor.meet_end();
        }
        self.cursor.slice(from, to).trim_start().starts_with('}')
    }

    /// Where this string ended if its closing quote was forgotten: before a comma that a quoted key (or, in an array,
    /// a quote on a new line) follows.
    fn forgotten(&mut self, at: usize, run: usize) -> Option<usize> {
        let before = self.cursor.slice(run, at);
        self.cursor.looked(at, at);
        let text = before.trim_end();
        let comma = text.strip_suffix(',')?;
        let on_new_line = before.get(text.len()..).is_some_and(|gap| gap.contains('\n'));
        let member = if self.top_is_object() { self.looks_like_key(at) } else { on_new_line };
        (member && !comma.is_empty()).then(|| run + comma.trim_end().len())
    }

    fn joins(&mut self, plus: usize) -> bool {
        let next = self.trivia_end(plus + 1);
        self.quote_at(next).is_some()
    }

    fn colon_before_value(&mut self, colon: usize) -> bool {
        let next = self.trivia_end(colon + 1);
        self.starts_value(next)
    }

    /// Whether nothing but blanks follows the fence on its line.
    fn fence_ends_line(&self, at: usize) -> bool {
        let mut end = at;
        while let Some(b'`' | b' ' | b'\t' | b'\r') = self.cursor.byte_at(end) {
            end += 1;
        }
        matches!(self.cursor.byte_at(end), None | Some(b'\n'))
    }

    fn is_first_item(&self) -> bool {
        self.stack.last().is_some_and(Frame::is_empty)
    }

    fn has_open(&self, closer: u8) -> bool {
        self.stack.iter().any(|frame| frame.closer() == closer)
    }

    fn blank_before(&self, at: usize) -> bool {
        self.cursor.byte_before(at).is_some_and(|b| b.is_ascii_whitespace())
    }
}
