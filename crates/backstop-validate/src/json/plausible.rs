//! Whether a bracket in a text can open a value: cheap tests that keep `{this}`, `[1]` and `[text](link)` apart from
//! JSON.

use serde_json::Value;

use super::cursor::{Cursor, is_odd_blank};

/// Where a bracket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the start of the text or of a fence.
    Start,
    /// Behind other text.
    Prose,
}

/// How far a bare word is followed.
const LONGEST_WORD: usize = 64;

/// Whether the bracket at `at` may open a value.
pub(crate) fn opens_value(cursor: &mut Cursor<'_>, at: usize, place: Place) -> bool {
    let next = skip_blanks(cursor, at + 1);
    cursor.looked(at + 1, next);
    let Some(byte) = cursor.byte_at(next) else { return cursor.byte_at(at) != Some(b'(') };
    if cursor.starts_with_at(next, "```") {
        return false;
    }
    match cursor.byte_at(at) {
        Some(b'(') => {
            place == Place::Start && matches!(byte, b'(' | b'[' | b'{' | b'"' | b'\'' | b'0'..=b'9' | b'-')
        }
        Some(b'{') => match byte {
            b'"' | b'\'' | b'}' | b'/' | b'#' | b'.' | b'\\' | b',' | b']' => true,
            b'{' => doubled(cursor, next, place),
            _ => is_quote(cursor, next) || place == Place::Start || word_and_colon(cursor, next),
        },
        _ => match byte {
            b'"' | b'\'' | b'{' | b'[' | b']' | b'/' | b'0'..=b'9' | b'-' | b',' | b'.' | b'\\' | b'}' => {
                true
            }
            _ => is_quote(cursor, next) || place == Place::Start || words_and_closer(cursor, next),
        },
    }
}

/// Whether the bracket at `at` is followed by what hardly occurs in prose: a quote or another bracket.
pub(crate) fn opens_firmly(cursor: &Cursor<'_>, at: usize) -> bool {
    let next = skip_blanks(cursor, at + 1);
    matches!(cursor.byte_at(next), None | Some(b'"' | b'{' | b'[' | b'0'..=b'9'))
}

/// Whether an object opens with a quoted key: then it is JSON, however damaged.
pub(crate) fn opens_with_quote(cursor: &Cursor<'_>, at: usize) -> bool {
    cursor.byte_at(at) == Some(b'{') && cursor.byte_at(skip_blanks(cursor, at + 1)) == Some(b'"')
}

/// Whether a value that stands in prose may be part of it: a citation such as `[1]`, an empty bracket.
pub(crate) fn may_be_prose(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            items.len() < 2 && items.iter().all(|item| !item.is_array() && !item.is_object())
        }
        Value::Object(map) => map.is_empty(),
        _ => true,
    }
}

/// Whether a value is an array of scalars.
pub(crate) fn scalars_only(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(|item| !item.is_array() && !item.is_object()))
}

fn skip_blanks(cursor: &Cursor<'_>, from: usize) -> usize {
    let mut at = from;
    while let Some(c) = cursor.char_at(at) {
        if !c.is_ascii_whitespace() && !is_odd_blank(c) {
            break;
        }
        at += c.len_utf8();
    }
    at
}

fn is_quote(cursor: &Cursor<'_>, at: usize) -> bool {
    matches!(cursor.char_at(at), Some('“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '＂' | '＇' | '`' | '´'))
}

/// `{{"a": 1}}`, but not the `{{name}}` of a template.
fn doubled(cursor: &mut Cursor<'_>, at: usize, place: Place) -> bool {
    let next = skip_blanks(cursor, at + 1);
    cursor.looked(at + 1, next);
    match cursor.byte_at(next) {
        Some(b'"' | b'\'') => true,
        Some(b'{') | None => false,
        Some(_) => place == Place::Start && word_and_colon(cursor, next) || is_quote(cursor, next),
    }
}

/// A bare key with its colon, or with a quoted value right behind it.
fn word_and_colon(cursor: &mut Cursor<'_>, at: usize) -> bool {
    let end = word_end(cursor, at);
    cursor.looked(at, end);
    let next = skip_blanks(cursor, end);
    end > at && matches!(cursor.byte_at(next), Some(b':' | b'"' | b'\''))
}

/// `[a, b]` rather than `[link]` or `[see below`.
fn words_and_closer(cursor: &mut Cursor<'_>, at: usize) -> bool {
    let rest = cursor.text().as_bytes().get(at..).unwrap_or_default();
    let window = rest.get(..rest.len().min(LONGEST_WORD)).unwrap_or_default();
    let stop = window.iter().position(|b| matches!(b, b',' | b']' | b'\n' | b'[' | b'{'));
    cursor.looked(at, at + stop.unwrap_or(window.len()));
    if stop.is_none() && window.len() < LONGEST_WORD {
        cursor.meet_end();
    }
    stop.and_then(|stop| window.get(stop)) == Some(&b',')
}

fn word_end(cursor: &Cursor<'_>, at: usize) -> usize {
    let mut end = at;
    while let Some(c) = cursor.char_at(end) {
        if end - at > LONGEST_WORD || !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')) {
            break;
        }
        end += c.len_utf8();
    }
    end
}
