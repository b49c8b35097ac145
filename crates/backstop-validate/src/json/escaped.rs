//! Documents that were escaped once too often: `{\"a\": \"b\"}`.

use super::cursor::Cursor;

/// How far the first quote is looked for, in bytes.
const LONGEST_OPENING: usize = 64;

/// Whether the first token behind the bracket at `start` is an escaped quote.
pub(crate) fn opens_escaped(cursor: &mut Cursor<'_>, start: usize) -> bool {
    let mut first = start + 1;
    let escaped = loop {
        if first > start + LONGEST_OPENING {
            break false;
        }
        match cursor.byte_at(first) {
            Some(b' ' | b'\n' | b'\r' | b'\t' | b'[' | b'{') => first += 1,
            Some(b'\\') if matches!(cursor.byte_at(first + 1), Some(b'n' | b't' | b'r')) => first += 2,
            byte => break byte == Some(b'\\') && cursor.byte_at(first + 1) == Some(b'"'),
        }
    };
    cursor.looked(start, first);
    escaped
}

/// The text from the bracket at `start` on with one level of escapes taken off, if it [is escaped](opens_escaped).
pub(crate) fn unescape(cursor: &mut Cursor<'_>, start: usize) -> Option<String> {
    if !opens_escaped(cursor, start) {
        return None;
    }
    cursor.looked(start, cursor.len());
    let mut out = String::with_capacity(cursor.len() - start);
    let mut at = start;
    while let Some((c, len)) = plain_char(cursor, at) {
        out.push(c);
        at += len;
    }
    Some(out)
}

/// How many bytes of the original text the first `plain` bytes of the unescaped one took.
pub(crate) fn original_len(cursor: &mut Cursor<'_>, start: usize, plain: usize) -> usize {
    let mut at = start;
    let mut seen = 0;
    while seen < plain {
        let Some((c, len)) = plain_char(cursor, at) else { break };
        seen += c.len_utf8();
        at += len;
    }
    cursor.looked(start, at);
    at - start
}

/// The character that the text at `at` stands for, and the bytes it takes there.
fn plain_char(cursor: &Cursor<'_>, at: usize) -> Option<(char, usize)> {
    let c = cursor.char_at(at)?;
    if c != '\\' {
        return Some((c, c.len_utf8()));
    }
    match cursor.byte_at(at + 1) {
        Some(b'"') => Some(('"', 2)),
        Some(b'\\') => Some(('\\', 2)),
        Some(b'n') => Some(('\n', 2)),
        Some(b'r') => Some(('\r', 2)),
        Some(b't') => Some(('\t', 2)),
        Some(b'/') => Some(('/', 2)),
        _ => Some(('\\', 1)),
    }
}
