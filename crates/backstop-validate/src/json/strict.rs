//! The strict parser: JSON as RFC 8259 has it, nothing else, on an explicit stack.
//!
//! It differs from `serde_json::from_str` in three ways that a caller of this crate relies on: it needs no call stack
//! for nesting, it notices keys that occur twice, and it never lets an integer lose digits.

use serde_json::{Map, Value, map::Entry};

use super::cursor::Cursor;
use super::escape::{self, Escape};
use super::number::{json_number, read_json_number};
use super::pointer::{Segment, pointer};
use super::repair::{RepairKind, RepairLog};

/// Why strict parsing stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// This is no JSON, at this byte.
    Invalid(usize),
    /// Nested deeper than allowed, at this byte.
    TooDeep(usize),
}

enum Frame {
    Array(Vec<Value>),
    /// The members so far, and the key of the one being read.
    Object(Map<String, Value>, String),
}

impl Frame {
    /// Adds a finished value; a key that was there already comes back.
    fn put(&mut self, value: Value) -> Option<String> {
        match self {
            Self::Array(items) => items.push(value),
            Self::Object(map, key) => match map.entry(std::mem::take(key)) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(mut entry) => {
                    entry.insert(value);
                    return Some(entry.key().clone());
                }
            },
        }
        None
    }

    fn finish(&mut self) -> Value {
        match self {
            Self::Array(items) => Value::Array(std::mem::take(items)),
            Self::Object(map, _) => Value::Object(std::mem::take(map)),
        }
    }

    fn segment(&self) -> Segment<'_> {
        match self {
            Self::Array(items) => Segment::Index(items.len()),
            Self::Object(_, key) => Segment::Key(key),
        }
    }
}

/// What starts at the cursor.
enum Start {
    Value(Value),
    /// An integer that does not fit, as its digits, and its offset.
    Wide(Value, usize),
    /// A container whose first member comes next.
    Open(Frame),
}

/// Reads what starts at the cursor; `levels` more may open.
#[inline]
fn start(cursor: &mut Cursor<'_>, levels: usize) -> Result<Start, Stop> {
    cursor.skip_json_blanks();
    let value = match cursor.peek() {
        Some(b'"') => Value::String(string(cursor)?),
        Some(open @ (b'{' | b'[')) => {
            if levels == 0 {
                return Err(Stop::TooDeep(cursor.pos));
            }
            let mut frame = open_container(cursor, open);
            if !take(cursor, closer(&frame)) {
                read_key(cursor, &mut frame)?;
                return Ok(Start::Open(frame));
            }
            frame.finish()
        }
        Some(b'-' | b'0'..=b'9') => return number(cursor),
        _ => literal(cursor)?,
    };
    Ok(Start::Value(value))
}

/// Reads one value at the cursor and leaves the cursor behind it.
pub(crate) fn parse(cursor: &mut Cursor<'_>, max_depth: usize, log: &mut RepairLog) -> Result<Value, Stop> {
    let mut outer: Vec<Frame> = Vec::new();
    let mut top = match start(cursor, max_depth)? {
        Start::Value(value) => return Ok(value),
        Start::Wide(value, at) => {
            note_wide(at, &outer, None, log);
            return Ok(value);
        }
        Start::Open(frame) => frame,
    };
    loop {
        let mut value = match start(cursor, max_depth.saturating_sub(outer.len() + 1))? {
            Start::Value(value) => value,
            Start::Wide(value, at) => {
                note_wide(at, &outer, Some(&top), log);
                value
            }
            Start::Open(frame) => {
                outer.push(std::mem::replace(&mut top, frame));
                continue;
            }
        };
        loop {
            if let Some(key) = top.put(value) {
                note_duplicate(cursor, &outer, &key, log);
            }
            cursor.skip_json_blanks();
            if take(cursor, b',') {
                read_key(cursor, &mut top)?;
                break;
            }
            if !take(cursor, closer(&top)) {
                return Err(Stop::Invalid(cursor.pos));
            }
            value = top.finish();
            match outer.pop() {
                Some(frame) => top = frame,
                None => return Ok(value),
            }
        }
    }
}
#[inline]
fn take(cursor: &mut Cursor<'_>, byte: u8) -> bool {
    let there = cursor.peek() == Some(byte);
    if there {
        cursor.advance(1);
    }
    there
}

fn closer(frame: &Frame) -> u8 {
    match frame {
        Frame::Array(_) => b']',
        Frame::Object(..) => b'}',
    }
}

fn open_container(cursor: &mut Cursor<'_>, open: u8) -> Frame {
    cursor.advance(1);
    cursor.skip_json_blanks();
    if open == b'[' { Frame::Array(Vec::new()) } else { Frame::Object(Map::new(), String::new()) }
}

/// Reads `"key":` into an object; nothing for an array.
fn read_key(cursor: &mut Cursor<'_>, frame: &mut Frame) -> Result<(), Stop> {
    let Frame::Object(_, key) = frame else { return Ok(()) };
    cursor.skip_json_blanks();
    if cursor.peek() != Some(b'"') {
        return Err(Stop::Invalid(cursor.pos));
    }
    *key = string(cursor)?;
    cursor.skip_json_blanks();
    if take(cursor, b':') { Ok(()) } else { Err(Stop::Invalid(cursor.pos)) }
}

/// Reads the string at the cursor, which stands on its opening quote.
fn string(cursor: &mut Cursor<'_>) -> Result<String, Stop> {
    let start = cursor.pos + 1;
    let end = cursor.plain_run_end(start);
    if cursor.byte_at(end) == Some(b'"') {
        cursor.advance_to(end + 1);
        return Ok(cursor.slice(start, end).to_owned());
    }
    escaped_string(cursor, start, end)
}

/// The rest of [`string`] for one whose first plain run, `start..end`, does not reach the closing quote.
fn escaped_string(cursor: &mut Cursor<'_>, start: usize, end: usize) -> Result<String, Stop> {
    let mut out = String::with_capacity((end - start) * 2);
    let (mut from, mut to) = (start, end);
    loop {
        out.push_str(cursor.slice(from, to));
        cursor.advance_to(to);
        match cursor.peek() {
            Some(b'"') => {
                cursor.advance(1);
                return Ok(out);
            }
            Some(b'\\') => match escape::read(cursor, to) {
                Escape::Char(c, len) => {
                    out.push(c);
                    cursor.advance(len);
                }
                _ => return Err(Stop::Invalid(to)),
            },
            _ => return Err(Stop::Invalid(to)),
        }
        from = cursor.pos;
        to = cursor.plain_run_end(from);
    }
}

fn number(cursor: &mut Cursor<'_>) -> Result<Start, Stop> {
    let at = cursor.pos;
    let Some((len, float)) = cursor.rest().and_then(json_number) else { return Err(Stop::Invalid(at)) };
    cursor.advance(len);
    match read_json_number(cursor.slice(at, cursor.pos), float).into_value() {
        Some((value, false)) => Ok(Start::Value(value)),
        Some((value, true)) => Ok(Start::Wide(value, at)),
        None => Err(Stop::Invalid(at)),
    }
}

fn literal(cursor: &mut Cursor<'_>) -> Result<Value, Stop> {
    for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
        if cursor.starts_with_at(cursor.pos, word) {
            cursor.advance(word.len());
            return Ok(value);
        }
    }
    Err(Stop::Invalid(cursor.pos))
}

#[cold]
fn note_duplicate(cursor: &Cursor<'_>, outer: &[Frame], key: &str, log: &mut RepairLog) {
    log.note(RepairKind::DuplicateKey, cursor.pos, || {
        pointer(outer.iter().map(Frame::segment).chain([Segment::Key(key)]))
    });
}

#[cold]
fn note_wide(at: usize, outer: &[Frame], top: Option<&Frame>, log: &mut RepairLog) {
    log.note(RepairKind::WideInteger, at, || pointer(outer.iter().chain(top).map(Frame::segment)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Result<(Value, Vec<String>), Stop> {
        let mut log = RepairLog::new(8);
        let mut cursor = Cursor::new(text, 0);
        let value = parse(&mut cursor, 127, &mut log)?;
        cursor.skip_json_blanks();
        if !cursor.at_end() {
            return Err(Stop::Invalid(cursor.pos));
        }
        Ok((value, log.list.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn agrees_with_serde_json_on_what_json_is() {
        for text in [
            "{}",
            "[]",
            " [ ] ",
            "{\"a\":{}}",
            "[1,-0,0.5,1e3,-1.5E-2,true,false,null]",
            "\"\\u00e9\\n\\ud83d\\ude00\"",
            "\"\u{7f}\"",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "[1 2]",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "tru",
            "nulls",
            "\"a",
            "\"\t\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "[",
            "]",
            "",
            "{\"a\":1]",
            "[1}",
            "'a'",
            "[1]//",
            "\u{feff}1",
        ] {
            let theirs = serde_json::from_str::<Value>(text).ok();
            assert_eq!(read(text).ok().map(|(value, _)| value), theirs, "{text}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_noticed_where_it_is() {
        let (value, notes) = read("{\"x\":[{\"a\":1,\"b\":2,\"a\":3}]}").unwrap();
        assert_eq!(value, json!({"x": [{"a": 3, "b": 2}]}));
        assert_eq!(notes, ["duplicate_key at byte 24 (/x/0/a)"]);
    }

    #[test]
    fn an_integer_that_does_not_fit_keeps_its_digits() {
        let (value, notes) = read("{\"id\": 123456789012345678901234567890}").unwrap();
        assert_eq!(value, json!({"id": "123456789012345678901234567890"}));
        assert_eq!(notes, ["wide_integer at byte 7 (/id)"]);
    }

    #[test]
    fn depth_is_bounded_without_a_call_stack() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(read(&deep(127)).is_ok());
        assert_eq!(read(&deep(128)), Err(Stop::TooDeep(127)));
        assert_eq!(read(&deep(1_000_000)), Err(Stop::TooDeep(127)));
    }
}
