//! What stands without quotes: keys, literals, numbers, and strings that lack theirs.

use serde_json::Value;

use super::parser::Tolerant;
use super::step::{Halt, State, Step};
use super::trivia::{LONGEST_BARE_KEY, is_word_char, literal};
use crate::json::number::{Loose, Numeral, json_number, read_json_number, read_loose};
use crate::json::repair::RepairKind;
use crate::json::truncation::CutState;

impl Tolerant<'_> {
    /// A key without quotes: words up to the colon.
    pub(super) fn bare_key(&mut self) -> Step<String> {
        let at = self.cursor.pos;
        let mut end = at;
        let mut spaced = false;
        let stray_quote = loop {
            let Some(c) = self.cursor.char_at(end) else {
                self.cursor.advance_to(end);
                return Err(Halt::Cut(CutState::Key, None));
            };
            match c {
                ':' => break None,
                '"' | '\'' if end > at => break Some(end),
                ' ' | '\t' => spaced = true,
                // A value without a colon before it can only follow a single word.
                _ if spaced && !is_word_char(c) => break None,
                c if is_word_char(c) || matches!(c, '/' | '(' | ')' | '&') => {}
                _ => break None,
            }
            if end - at > LONGEST_BARE_KEY {
                return Err(Halt::Damaged(at, "a key"));
            }
            end += c.len_utf8();
        };
        let key = self.cursor.slice(at, end).trim_end();
        if key.is_empty() {
            return Err(Halt::Damaged(at, "a key"));
        }
        self.cursor.advance_to(at + key.len());
        if let Some(quote) = stray_quote {
            self.after_stray_quote(quote, at)?;
        } else if key.contains(' ') && self.cursor.byte_at(end) != Some(b':') {
            return Err(Halt::Damaged(at, "a key"));
        } else {
            self.note(RepairKind::UnquotedKey, at);
        }
        Ok(key.to_owned())
    }

    /// `key": 1` lacks its opening quote; `key "text"` lacks a colon; `NOTE "key": 1` has a word too many.
    fn after_stray_quote(&mut self, quote: usize, at: usize) -> Step<()> {
        let next = self.trivia_end(quote + 1);
        if self.cursor.byte_at(next) == Some(b':') {
            self.note(RepairKind::MissingQuote, at);
            self.cursor.advance_to(quote + 1);
            return Ok(());
        }
        if self.cursor.pos == quote || self.looks_like_key(quote) {
            return Err(Halt::Damaged(at, "a key"));
        }
        self.note(RepairKind::UnquotedKey, at);
        Ok(())
    }

    /// A value without quotes.
    pub(super) fn bare_value(&mut self) -> Step<Value> {
        let at = self.cursor.pos;
        if let Some(value) = self.plain_scalar(at) {
            return Ok(value);
        }
        let end = self.bare_end(at)?;
        let word = self.cursor.slice(at, end).trim_end();
        if word.is_empty() {
            return Err(Halt::Damaged(at, "a value"));
        }
        self.cursor.advance_to(at + word.len());
        let cut = end == self.cursor.len();
        if cut {
            return Err(self.cut_word(word, at));
        }
        self.typed(word, at)
    }

    /// A number or literal of JSON with a delimiter right behind it: the usual case, read without looking ahead.
    fn plain_scalar(&mut self, at: usize) -> Option<Value> {
        let (value, len) = match json_number(self.cursor.rest()?) {
            Some((len, float)) => match read_json_number(self.cursor.slice(at, at + len), float) {
                Numeral::Exact(number) => (Value::Number(number), len),
                Numeral::Wide(_) | Numeral::Overflow => return None,
            },
            None => self.literal_at(at)?,
        };
        if !matches!(self.cursor.slice(at, at + len), "true" | "false" | "null") && !value.is_number() {
            return None;
        }
        let ends = match self.cursor.byte_at(at + len)? {
            b'}' | b']' | b'\n' => true,
            // In an object the comma may belong to the value: `12,000` or a sentence.
            b',' => !self.top_is_object() || self.cursor.byte_at(at + len + 1) == Some(b'\n'),
            _ => false,
        };
        ends.then(|| {
            self.cursor.advance(len);
            value
        })
    }

    /// What a complete bare word stands for.
    fn typed(&mut self, word: &str, at: usize) -> Step<Value> {
        if let Some(value) = literal(word) {
            if !matches!(word, "true" | "false" | "null") {
                self.note(RepairKind::Literal, at);
            }
            return Ok(value);
        }
        match read_loose(word) {
            Loose::Plain(numeral) => self.numeral(numeral, at),
            Loose::Form(numeral) => {
                self.note(RepairKind::NumberForm, at);
                self.numeral(numeral, at)
            }
            Loose::Broken(Some(numeral)) => {
                self.guess(RepairKind::BrokenNumber, at)?;
                self.numeral(numeral, at)
            }
            Loose::Broken(None) => Err(Halt::Damaged(at, "a value")),
            Loose::Word if is_non_finite(word) => self.non_finite(at),
            Loose::Word => {
                if let Some(text) = word.strip_suffix('"') {
                    self.guess(RepairKind::MissingOpeningQuote, at)?;
                    return Ok(Value::String(text.to_owned()));
                }
                // `ObjectId("…")` and the like have a meaning of their own.
                if word.contains("(\"") {
                    self.guess(RepairKind::StrayText, at)?;
                }
                self.note(RepairKind::UnquotedString, at);
                Ok(Value::String(word.to_owned()))
            }
        }
    }

    fn numeral(&mut self, numeral: Numeral, at: usize) -> Step<Value> {
        match numeral.into_value() {
            Some((value, changed)) => {
                if changed {
                    self.note(RepairKind::WideInteger, at);
                }
                Ok(value)
            }
            None => self.non_finite(at),
        }
    }

    /// Null for a number that JSON cannot write: a guess, unless a schema will say whether null may stand here.
    fn non_finite(&mut self, at: usize) -> Step<Value> {
        if self.options.null_for_nan {
            self.note(RepairKind::NullForNan, at);
        } else {
            self.guess(RepairKind::NonFinite, at)?;
        }
        Ok(Value::Null)
    }

    /// The halt for a word that touches the end of the text: more of it may have followed.
    fn cut_word(&self, word: &str, at: usize) -> Halt {
        if let Loose::Plain(n) | Loose::Form(n) | Loose::Broken(Some(n)) = read_loose(word) {
            return Halt::Cut(CutState::Number, n.into_value().map(|(value, _)| value));
        }
        let first = self.cursor.byte_at(at);
        if matches!(first, Some(b'-' | b'+' | b'.')) && word.len() == 1 {
            return Halt::Cut(CutState::Number, None);
        }
        for (full, value) in [
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("null", Value::Null),
            ("True", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("None", Value::Null),
        ] {
            if full.starts_with(word) {
                return Halt::Cut(CutState::Literal, Some(value));
            }
        }
        Halt::Cut(CutState::Literal, Some(Value::String(word.to_owned())))
    }

    /// The end of the bare value at `at`, trailing blanks included.
    fn bare_end(&mut self, at: usize) -> Step<usize> {
        let in_object = self.top_is_object();
        let mut end = at;
        let mut parens = 0_usize;
        while let Some(byte) = self.cursor.byte_at(end) {
            if byte.is_ascii_alphanumeric() {
                end += 1;
                continue;
            }
            let blank_before =
                end > at && self.cursor.byte_before(end).is_some_and(|b| b.is_ascii_whitespace());
            match byte {
                b'(' => parens += 1,
                b')' if parens > 0 => parens -= 1,
                b')' => break,
                b',' if parens == 0 && (!in_object || self.comma_ends_word(end)) => break,
                b'}' | b']' if parens == 0 => break,
                b'{' | b'[' if parens == 0 => {
                    if end > at && self.is_finished(at, end) {
                        break;
                    }
                    return Err(Halt::Damaged(end, "a comma or a closing bracket"));
                }
                b'\n' => match self.next_line_of_word(end, in_object) {
                    Some(next) => {
                        end = next;
                        continue;
                    }
                    None => break,
                },
                b' ' | b'\t' if self.blank_ends_word(at, end, in_object) => break,
                b'"' if in_object && blank_before && self.looks_like_key(end) => break,
                b'"' if !in_object && blank_before => break,
                b'/' if self.comment_starts(end, blank_before) => break,
                b'#' if blank_before => break,
                b'`' if self.cursor.starts_with_at(end, "```") => break,
                _ => {}
            }
            end += 1;
        }
        self.cursor.looked(at, end);
        Ok(end)
    }

    fn comment_starts(&self, at: usize, blank_before: bool) -> bool {
        match self.cursor.byte_at(at + 1) {
            Some(b'*') => true,
            Some(b'/') => blank_before,
            _ => false,
        }
    }

    /// Whether the comma at `at` ends a bare value in an object, rather than being part of a sentence.
    fn comma_ends_word(&mut self, at: usize) -> bool {
        let next = self.trivia_end(at + 1);
        match self.cursor.byte_at(next) {
            None | Some(b'}' | b']' | b',') => true,
            Some(b'.') => self.cursor.starts_with_at(next, "..."),
            Some(b'"') => true,
            Some(_) => self.may_be_key(next),
        }
    }

    /// Where a bare value goes on after the line break at `at`, if it does: never in an array; in an object unless the
    /// next line looks like more JSON.
    fn next_line_of_word(&mut self, at: usize, in_object: bool) -> Option<usize> {
        let next = self.trivia_end(at);
        match self.cursor.byte_at(next) {
            None | Some(b'}' | b']' | b',' | b'"' | b'`') => None,
            Some(_) => (in_object && !self.looks_like_key(next)).then_some(next.max(at + 1)),
        }
    }

    /// A number or literal ends at a blank if a new token follows.
    fn blank_ends_word(&mut self, at: usize, end: usize, in_object: bool) -> bool {
        if !self.is_finished(at, end) {
            return false;
        }
        let next = self.trivia_end(end);
        // `1 : 2` is no text that anyone would write as a value; what follows will be refused.
        if self.cursor.byte_at(next) == Some(b':') {
            return true;
        }
        if in_object {
            return self.quote_at(next).is_some() || self.looks_like_key(next);
        }
        self.starts_value(next)
    }

    /// Whether the text is a number or literal as it stands.
    fn is_finished(&self, at: usize, end: usize) -> bool {
        // Longer words are neither, and are not worth reading at each of their blanks.
        if end - at > 64 {
            return false;
        }
        let word = self.cursor.slice(at, end);
        literal(word).is_some() || matches!(read_loose(word), Loose::Plain(_) | Loose::Form(_))
    }

    /// Skips what belongs to no member, up to the next comma, quote, bracket or line.
    pub(super) fn stray_text(&mut self) -> State {
        let mut at = self.cursor.pos + 1;
        while self.cursor.byte_at(at).is_some_and(|b| !matches!(b, b',' | b'}' | b']' | b'\n' | b'"')) {
            at += 1;
        }
        self.cursor.advance_to(at);
        State::After
    }
}

fn is_non_finite(word: &str) -> bool {
    let body = word.trim_start_matches(['+', '-']).trim_start();
    matches!(body, "NaN" | "nan" | "Infinity" | "infinity" | "inf" | "Inf")
}
