//! Blanks and comments between tokens, and what a key or value can start with.

use serde_json::Value;

use super::parser::Tolerant;
use super::quotes::Quote;
use crate::json::cursor::is_odd_blank;
use crate::json::repair::RepairKind;

/// One piece of what may lie between tokens.
enum Piece {
    Blank,
    OddBlank,
    Comment,
}

/// Longest key without quotes, in bytes.
pub(super) const LONGEST_BARE_KEY: usize = 128;

impl Tolerant<'_> {
    /// Skips blanks and comments, noting what JSON does not know.
    pub(super) fn skip_trivia(&mut self) {
        self.cursor.skip_json_blanks();
        // What is behind the blanks is nearly always a token.
        if self.cursor.peek().is_some_and(is_token_start) {
            return;
        }
        while let Some((piece, end)) = self.piece(self.cursor.pos) {
            match piece {
                Piece::Blank => {}
                Piece::OddBlank => self.note(RepairKind::OddBlank, self.cursor.pos),
                Piece::Comment => self.note(RepairKind::Comment, self.cursor.pos),
            }
            self.cursor.advance_to(end);
        }
    }

    /// Where the next token after `at` starts, without moving.
    pub(super) fn trivia_end(&mut self, at: usize) -> usize {
        if self.cursor.byte_at(at).is_some_and(is_token_start) {
            self.look(at, at);
            return at;
        }
        let mut end = at;
        while self.lookahead > 0 {
            let Some((_, next)) = self.piece(end) else { break };
            self.look(end, next);
            end = next;
        }
        end
    }

    /// The offset up to which may be looked ahead from `at`.
    pub(super) fn horizon(&self, at: usize) -> usize {
        self.cursor.len().min(at.saturating_add(self.lookahead))
    }

    /// Accounts for bytes that were looked at ahead.
    pub(super) fn look(&mut self, from: usize, to: usize) {
        self.cursor.looked(from, to);
        self.lookahead = self.lookahead.saturating_sub(to.saturating_sub(from) + 1);
    }

    fn piece(&self, at: usize) -> Option<(Piece, usize)> {
        let cursor = &self.cursor;
        match cursor.byte_at(at)? {
            b' ' | b'\n' | b'\r' | b'\t' => {
                let mut end = at + 1;
                while let Some(b' ' | b'\n' | b'\r' | b'\t') = cursor.byte_at(end) {
                    end += 1;
                }
                Some((Piece::Blank, end))
            }
            b'/' => match cursor.byte_at(at + 1) {
                Some(b'/') => Some((Piece::Comment, self.line_end(at))),
                Some(b'*') => {
                    let body = cursor.text().as_bytes().get(at + 2..).unwrap_or_default();
                    let end =
                        memchr::memmem::find(body, b"*/").map_or(cursor.len(), |found| at + 2 + found + 2);
                    Some((Piece::Comment, end))
                }
                _ => None,
            },
            // `#fff` is a value, `# note` is a comment.
            b'#' if !cursor.byte_at(at + 1).is_some_and(|b| b.is_ascii_alphanumeric()) => {
                Some((Piece::Comment, self.line_end(at)))
            }
            0x0b | 0x0c | 0x80.. => {
                let c = cursor.char_at(at)?;
                is_odd_blank(c).then_some((Piece::OddBlank, at + c.len_utf8()))
            }
            _ => None,
        }
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = self.cursor.text().as_bytes().get(at..).unwrap_or_default();
        match memchr::memchr(b'\n', rest) {
            Some(found) => at + found,
            None => {
                self.cursor.meet_end();
                self.cursor.len()
            }
        }
    }

    pub(super) fn has_line_break(&self, from: usize, to: usize) -> bool {
        self.cursor.slice(from, to).contains('\n')
    }

    /// Skips `...` or `…` in place of members, and the comma behind it.
    pub(super) fn skip_ellipsis(&mut self) -> bool {
        let at = self.cursor.pos;
        let len = match () {
            () if self.cursor.starts_with_at(at, "...") => 3,
            () if self.cursor.starts_with_at(at, "…") => '…'.len_utf8(),
            () => return false,
        };
        let next = self.trivia_end(at + len);
        if !matches!(self.cursor.byte_at(next), None | Some(b',' | b'}' | b']' | b')' | b'"')) {
            return false;
        }
        self.note(RepairKind::Elided, at);
        self.comma = None;
        self.cursor.advance(len);
        self.skip_trivia();
        if self.cursor.peek() == Some(b',') {
            self.cursor.advance(1);
        }
        true
    }

    /// Whether a value starts here beyond doubt: a bare word other than a literal does not.
    pub(super) fn starts_value(&self, at: usize) -> bool {
        match self.cursor.byte_at(at) {
            Some(b'{' | b'[' | b'0'..=b'9') => true,
            Some(b'-' | b'+' | b'.') => {
                self.cursor.byte_at(at + 1).is_some_and(|b| b.is_ascii_digit() || b == b'.')
            }
            Some(_) => self.quote_at(at).is_some() || self.literal_at(at).is_some(),
            None => false,
        }
    }

    /// The literal at a position, of JSON or another language, if a delimiter follows it.
    pub(super) fn literal_at(&self, at: usize) -> Option<(Value, usize)> {
        let rest = self.cursor.text().get(at..)?;
        let len = rest.bytes().take(10).take_while(u8::is_ascii_alphabetic).count();
        let next = self.cursor.byte_at(at + len);
        let ends = !next.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        let value = literal(rest.get(..len)?)?;
        ends.then_some((value, len))
    }

    /// Whether a key with its colon starts here.
    pub(super) fn looks_like_key(&mut self, at: usize) -> bool {
        self.key_ahead(at) == Some(true)
    }

    /// The same, or the text ends before that is clear.
    pub(super) fn may_be_key(&mut self, at: usize) -> bool {
        self.key_ahead(at) != Some(false)
    }

    /// Whether a key with its colon starts here: quoted, or one bare word, which may have a closing quote alone. `None`
    /// if the text ends first.
    fn key_ahead(&mut self, at: usize) -> Option<bool> {
        if self.lookahead == 0 {
            return Some(false);
        }
        let (end, whole) = match self.quote_at(at) {
            Some(quote) => self.quoted_key_end(at, quote),
            None => {
                let end = self.word_end(at);
                let stray = end > at && self.cursor.byte_at(end) == Some(b'"');
                (end + usize::from(stray), end > at)
            }
        };
        self.look(at, end);
        if !whole {
            return (end < self.cursor.len()).then_some(false);
        }
        let colon = self.trivia_end(end);
        // `https://…` is a value.
        let byte = self.cursor.byte_at(colon)?;
        Some(byte == b':' && !self.cursor.starts_with_at(colon, "://"))
    }

    /// The end of the quoted key at `at`, in single or doubled quotes.
    fn quoted_key_end(&self, at: usize, quote: Quote) -> (usize, bool) {
        let from = at + quote.len;
        let doubled = self.closes(quote, from).is_some()
            && self.cursor.char_at(from + quote.len).is_some_and(char::is_alphanumeric);
        if !doubled {
            return self.simple_string_end(from, quote);
        }
        let (end, whole) = self.simple_string_end(from + quote.len, quote);
        (self.closes(quote, end).map_or(end, |len| end + len), whole)
    }

    /// The end of the string that would start here if no quote in it were unescaped, and whether it ends on its line.
    fn simple_string_end(&self, from: usize, quote: Quote) -> (usize, bool) {
        let mut at = from;
        let horizon = self.horizon(from);
        while let Some(byte) = self.cursor.byte_at(at).filter(|_| at < horizon) {
            match byte {
                b'\\' => at += 2,
                b'\n' => break,
                _ => match self.closes(quote, at) {
                    Some(len) => return (at + len, true),
                    None => at += 1,
                },
            }
        }
        (at.min(self.cursor.len()), false)
    }

    /// The end of the bare word at `at`.
    pub(super) fn word_end(&self, at: usize) -> usize {
        let mut end = at;
        while let Some(c) = self.cursor.char_at(end) {
            if !is_word_char(c) || end - at > LONGEST_BARE_KEY {
                break;
            }
            end += c.len_utf8();
        }
        end
    }
}

/// Bytes that can start neither a blank nor a comment.
#[inline]
fn is_token_start(byte: u8) -> bool {
    matches!(byte, b'"' | b',' | b':' | b'{'..=b'}' | b'[' | b']' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
}

/// Characters of a key without quotes.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '@')
}

/// The value of a literal, of JSON or another language.
pub(super) fn literal(word: &str) -> Option<Value> {
    Some(match word {
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        "null" | "Null" | "NULL" | "None" | "NONE" | "undefined" | "nil" => Value::Null,
        _ => return None,
    })
}
