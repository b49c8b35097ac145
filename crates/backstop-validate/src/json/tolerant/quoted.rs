//! Strings: in any quotes, with raw line breaks, odd escapes and quotes that should have been escaped.

use serde_json::Value;

use super::ends::{InnerQuotes, Verdict};
use super::{Halt, Step, Tolerant};
use crate::json::error::CutState;
use crate::json::escape::{self, Escape};
use crate::json::repair::RepairKind;

/// An opening quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    open: char,
    /// Bytes of the quote.
    pub(super) len: usize,
}

/// Whether a string is a key or a value; a quote ends them under different conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Value,
}

impl Tolerant<'_> {
    /// The quote that opens a string at `at`, if one does.
    #[inline]
    pub(super) fn quote_at(&self, at: usize) -> Option<Quote> {
        match self.cursor.byte_at(at)? {
            byte @ (b'"' | b'\'') => Some(Quote { open: char::from(byte), len: 1 }),
            // Three are a fence.
            b'`' => (!self.cursor.starts_with_at(at, "```")).then_some(Quote { open: '`', len: 1 }),
            0xc2 | 0xe2 | 0xef => {
                let c = self.cursor.char_at(at)?;
                matches!(c, '´' | '«' | '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '‛' | '＂' | '＇')
                    .then_some(Quote { open: c, len: c.len_utf8() })
            }
            _ => None,
        }
    }

    /// The bytes of the quote at `at`, if it can close a string opened by `quote`.
    #[inline]
    pub(super) fn closes(&self, quote: Quote, at: usize) -> Option<usize> {
        let byte = self.cursor.byte_at(at)?;
        if byte < 0x80 {
            let closes = match quote.open {
                '"' | '\'' => char::from(byte) == quote.open,
                '`' | '´' => matches!(byte, b'`' | b'\''),
                _ => false,
            };
            return closes.then_some(1);
        }
        if matches!(quote.open, '"' | '\'') {
            return None;
        }
        let c = self.cursor.char_at(at)?;
        let closes = match quote.open {
            '“' | '”' | '„' | '‟' => matches!(c, '“' | '”'),
            '‘' | '’' | '‚' | '‛' => matches!(c, '‘' | '’'),
            '«' => c == '»',
            '`' | '´' => c == '´',
            other => c == other,
        };
        closes.then_some(c.len_utf8())
    }

    pub(super) fn quoted_key(&mut self) -> Step<String> {
        self.quoted(Role::Key)
    }

    /// A string value, and the strings joined to it with `+`.
    pub(super) fn quoted_value(&mut self) -> Step<String> {
        let mut text = self.quoted(Role::Value)?;
        loop {
            let plus = self.trivia_end(self.cursor.pos);
            if self.cursor.byte_at(plus) != Some(b'+') {
                return Ok(text);
            }
            let next = self.trivia_end(plus + 1);
            if self.quote_at(next).is_none() {
                return Ok(text);
            }
            self.note(RepairKind::JoinedStrings, plus);
            self.cursor.advance_to(next);
            match self.quoted(Role::Value) {
                Ok(more) => text.push_str(&more),
                Err(Halt::Cut(state, Some(Value::String(more)))) => {
                    return Err(Halt::Cut(state, Some(Value::String(text + &more))));
                }
                Err(halt) => return Err(halt),
            }
        }
    }

    /// Reads the string whose opening quote is under the cursor.
    fn quoted(&mut self, role: Role) -> Step<String> {
        let at = self.cursor.pos;
        let Some(quote) = self.quote_at(at) else { return Err(Halt::Damaged(at, "a quote")) };
        if quote.open != '"' {
            self.note(RepairKind::Quotes, at);
        }
        let repeats = self.repeated_quotes(quote, role);
        if repeats == 0 {
            self.cursor.advance(quote.len * 2);
            return Ok(String::new());
        }
        if repeats > 1 {
            self.note(RepairKind::RepeatedQuotes, at);
        }
        self.cursor.advance(quote.len * repeats);
        self.string_body(quote, repeats, role)
    }

    /// How many quotes open the string: one, two (`""key""`), three (`"""text"""`), or none if it is empty.
    fn repeated_quotes(&mut self, quote: Quote, role: Role) -> usize {
        let at = self.cursor.pos;
        if self.closes(quote, at + quote.len).is_none() {
            return 1;
        }
        let after = at + quote.len * 2;
        if self.closes(quote, after).is_some() && matches!(quote.open, '"' | '\'') {
            return 3;
        }
        let opens_word = self.cursor.char_at(after).is_some_and(char::is_alphanumeric);
        let opens_literal = self.literal_at(after).is_some()
            || self.cursor.byte_at(after).is_some_and(|b| b.is_ascii_digit());
        // `{"" 1}` and `["" null]` lack a colon or comma; `""key""` has too many quotes.
        if opens_word && (role == Role::Key || !opens_literal || self.doubled_ahead(quote, after)) {
            2
        } else {
            0
        }
    }

    /// Whether the next quote is doubled too.
    fn doubled_ahead(&mut self, quote: Quote, from: usize) -> bool {
        let mut at = from;
        while let Some(byte) = self.cursor.byte_at(at) {
            if byte == b'\n' {
                break;
            }
            if let Some(len) = self.closes(quote, at) {
                self.look(from, at);
                return self.closes(quote, at + len).is_some();
            }
            at += 1;
        }
        self.look(from, at);
        false
    }

    fn string_body(&mut self, quote: Quote, repeats: usize, role: Role) -> Step<String> {
        let mut out = String::new();
        let mut run = self.cursor.pos;
        let mut raw_control = false;
        let mut inner = InnerQuotes::default();
        loop {
            let to = self.run_end(quote);
            self.cursor.advance_to(to);
            let Some(byte) = self.cursor.peek() else {
                out.push_str(self.cursor.slice(run, to));
                return Err(cut_string(role, out));
            };
            if byte == b'\\' {
                out.push_str(self.cursor.slice(run, to));
                self.escape(quote, role, &mut out)?;
                run = self.cursor.pos;
                continue;
            }
            let Some(len) = self.closes(quote, to) else {
                if byte < 0x20 && !raw_control {
                    raw_control = true;
                    self.note(RepairKind::RawControl, to);
                }
                self.cursor.advance(1);
                continue;
            };
            if repeats > 1 && !self.repeats_at(quote, to, repeats) {
                self.cursor.advance(len);
                continue;
            }
            let verdict =
                if repeats == 3 { Verdict::End } else { self.verdict(quote, to, len * repeats, role, run) };
            match verdict {
                Verdict::End => {
                    out.push_str(self.cursor.slice(run, to));
                    if role == Role::Value && self.doubts(inner) {
                        self.guess(RepairKind::DoubtfulQuote, to)?;
                    }
                    self.cursor.advance(len * repeats);
                    return Ok(out);
                }
                Verdict::Inner => {
                    self.note(RepairKind::InnerQuote, to);
                    self.count_inner(&mut inner, to, to + len * repeats, run);
                    self.cursor.advance(len);
                }
                // The string ended at `end`, before this quote, without one of its own.
                Verdict::Missing { end } => {
                    self.note(RepairKind::MissingQuote, end);
                    out.push_str(self.cursor.slice(run, end));
                    self.cursor.pos = end;
                    return Ok(out);
                }
            }
        }
    }

    fn repeats_at(&self, quote: Quote, at: usize, repeats: usize) -> bool {
        (0..repeats).all(|i| self.closes(quote, at + i * quote.len).is_some())
    }

    /// The end of the plain run from the cursor: the next quote, backslash or control character.
    fn run_end(&self, quote: Quote) -> usize {
        let from = self.cursor.pos;
        if quote.open == '"' {
            return self.cursor.plain_run_end(from);
        }
        let rest = self.cursor.text().as_bytes().get(from..).unwrap_or_default();
        let special = |b: &u8| match b {
            b'\\' | b'\'' | b'`' => true,
            0x80.. => quote.len > 1 || quote.open == '`',
            b => *b < 0x20 || char::from(*b) == quote.open,
        };
        let mut at = from + rest.iter().position(special).unwrap_or(rest.len());
        // A byte inside a character is none of ours.
        while at < self.cursor.len() && !self.cursor.text().is_char_boundary(at) {
            at += 1;
        }
        at
    }

    /// Reads the escape under the cursor.
    fn escape(&mut self, quote: Quote, role: Role, out: &mut String) -> Step<()> {
        let at = self.cursor.pos;
        match escape::read(&self.cursor, at) {
            Escape::Char(c, len) => {
                out.push(c);
                self.cursor.advance(len);
            }
            Escape::LoneSurrogate(len) => {
                self.note(RepairKind::LoneSurrogate, at);
                out.push(char::REPLACEMENT_CHARACTER);
                self.cursor.advance(len);
            }
            Escape::Unknown => {
                self.note(RepairKind::InvalidEscape, at);
                // `\'` is an escape everywhere but in JSON; any other backslash may be part of a path or a formula.
                let quotes =
                    self.closes(quote, at + 1).is_some() || self.cursor.byte_at(at + 1) == Some(b'\'');
                if quotes {
                    self.cursor.advance(1);
                    let c = self.cursor.char_at(at + 1).unwrap_or('\'');
                    out.push(c);
                    self.cursor.advance(c.len_utf8());
                } else {
                    out.push('\\');
                    self.cursor.advance(1);
                }
            }
            Escape::Cut => {
                let end = self.cursor.len();
                self.cursor.advance_to(end);
                return Err(cut_string(role, std::mem::take(out)));
            }
        }
        Ok(())
    }
}

fn cut_string(role: Role, text: String) -> Halt {
    match role {
        Role::Key => Halt::Cut(CutState::Key, None),
        Role::Value => Halt::Cut(CutState::String, Some(Value::String(text))),
    }
}
