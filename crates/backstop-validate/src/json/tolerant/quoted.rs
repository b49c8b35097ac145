//! Strings: in any quotes, with raw line breaks, odd escapes and quotes that should have been escaped.

use serde_json::Value;

use super::parser::Tolerant;
use super::quotes::{OpenString, Quote, Quotes, Role, Verdict};
use super::step::{Halt, State, Step};
use crate::json::escape::{self, Escape};
use crate::json::repair::RepairKind;
use crate::json::truncation::CutState;

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

    /// A string value: its opening quote, [its text](Self::text), and [what is joined](Self::join) to it.
    pub(super) fn quoted_value(&mut self) -> Step<State> {
        self.string.out.clear();
        self.open_string()
    }

    fn open_string(&mut self) -> Step<State> {
        match self.opening(Role::Value)? {
            None => Ok(State::Join),
            Some(quotes) => {
                self.sure()?;
                self.string.begin(quotes, self.cursor.pos);
                Ok(State::Text)
            }
        }
    }

    pub(super) fn text(&mut self) -> Step<State> {
        let mut string = std::mem::take(&mut self.string);
        let read = self.string_body(&mut string, Role::Value);
        self.string = string;
        read.map(|()| State::Join)
    }

    /// The strings joined to a value with `+`.
    pub(super) fn join(&mut self) -> Step<State> {
        let plus = self.trivia_end(self.cursor.pos);
        if self.cursor.byte_at(plus) == Some(b'+') {
            let next = self.trivia_end(plus + 1);
            if self.quote_at(next).is_some() {
                self.note(RepairKind::JoinedStrings, plus);
                self.cursor.advance_to(next);
                return self.open_string();
            }
        }
        self.sure()?;
        self.committed = true;
        let text = std::mem::take(&mut self.string.out);
        self.put(Value::String(text))
    }

    /// Reads the key whose opening quote is under the cursor.
    pub(super) fn quoted_key(&mut self) -> Step<String> {
        let mut string = OpenString::default();
        if let Some(quotes) = self.opening(Role::Key)? {
            string.begin(quotes, self.cursor.pos);
            self.string_body(&mut string, Role::Key)?;
        }
        Ok(string.out)
    }

    /// Reads the quotes that open a string. `None` if the string is empty, and over.
    fn opening(&mut self, role: Role) -> Step<Option<Quotes>> {
        let at = self.cursor.pos;
        let Some(quote) = self.quote_at(at) else { return Err(Halt::Damaged(at, "a quote")) };
        if quote.open != '"' {
            self.note(RepairKind::Quotes, at);
        }
        let repeats = self.repeated_quotes(quote, role);
        if repeats == 0 {
            self.cursor.advance(quote.len * 2);
            return Ok(None);
        }
        if repeats > 1 {
            self.note(RepairKind::RepeatedQuotes, at);
        }
        self.cursor.advance(quote.len * repeats);
        Ok(Some(Quotes { quote, repeats }))
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
        let horizon = self.horizon(from);
        while let Some(byte) = self.cursor.byte_at(at) {
            if byte == b'\n' || at >= horizon {
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

    /// Reads the rest of a string. When the text is still coming, each round of the loop is either undone or final.
    fn string_body(&mut self, string: &mut OpenString, role: Role) -> Step<()> {
        let Quotes { quote, repeats } = string.quotes;
        loop {
            let to = self.run_end(quote);
            self.cursor.advance_to(to);
            self.keep_place(role == Role::Value);
            let Some(byte) = self.cursor.peek() else { return self.cut_string(string, role) };
            if byte == b'\\' {
                self.escape(string, role)?;
                continue;
            }
            let Some(len) = self.closes(quote, to) else {
                self.sure()?;
                if byte < 0x20 && !string.raw_control {
                    string.raw_control = true;
                    self.note(RepairKind::RawControl, to);
                }
                self.cursor.advance(1);
                continue;
            };
            if repeats > 1 && !self.repeats_at(quote, to, repeats) {
                self.sure()?;
                self.cursor.advance(len);
                continue;
            }
            let verdict = if repeats == 3 {
                Verdict::End
            } else {
                self.verdict(quote, to, len * repeats, role, string.run)
            };
            match verdict {
                Verdict::End => {
                    self.sure()?;
                    if role == Role::Value && self.doubts(string.inner) {
                        self.guess(RepairKind::DoubtfulQuote, to)?;
                    }
                    string.take_run(&self.cursor, to);
                    self.cursor.advance(len * repeats);
                    return Ok(());
                }
                Verdict::Inner => {
                    self.note(RepairKind::InnerQuote, to);
                    let inner = self.count_inner(string.inner, to, to + len * repeats, string.run);
                    self.sure()?;
                    string.inner = inner;
                    self.cursor.advance(len);
                }
                // The string ended at `end`, before this quote, without one of its own.
                Verdict::Missing { end } => {
                    self.sure()?;
                    self.note(RepairKind::MissingQuote, end);
                    string.take_run(&self.cursor, end);
                    self.cursor.pos = end;
                    return Ok(());
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
    fn escape(&mut self, string: &mut OpenString, role: Role) -> Step<()> {
        let at = self.cursor.pos;
        let (c, len) = match escape::read(&self.cursor, at) {
            Escape::Char(c, len) => (c, len),
            Escape::LoneSurrogate(len) => {
                self.note(RepairKind::LoneSurrogate, at);
                (char::REPLACEMENT_CHARACTER, len)
            }
            Escape::Unknown => {
                self.note(RepairKind::InvalidEscape, at);
                // `\'` is an escape everywhere but in JSON; any other backslash may be part of a path or a formula.
                let quotes = self.closes(string.quotes.quote, at + 1).is_some()
                    || self.cursor.byte_at(at + 1) == Some(b'\'');
                let escaped = self.cursor.char_at(at + 1).filter(|_| quotes);
                escaped.map_or(('\\', 1), |c| (c, 1 + c.len_utf8()))
            }
            Escape::Cut => return self.cut_string(string, role),
        };
        self.sure()?;
        string.take_run(&self.cursor, at);
        string.out.push(c);
        self.cursor.advance(len);
        string.run = self.cursor.pos;
        Ok(())
    }

    /// The text ends inside a string.
    fn cut_string(&mut self, string: &mut OpenString, role: Role) -> Step<()> {
        self.sure()?;
        string.take_run(&self.cursor, self.cursor.pos);
        string.run = self.cursor.len();
        self.cursor.advance_to(string.run);
        let leaf = |text: &mut String| Value::String(std::mem::take(text));
        Err(match role {
            Role::Key => Halt::Cut(CutState::Key, None),
            Role::Value => Halt::Cut(CutState::String, self.options.guess.then(|| leaf(&mut string.out))),
        })
    }
}
