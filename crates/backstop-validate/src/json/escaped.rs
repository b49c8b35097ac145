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

/// The document that the bracket at `start` opens, with one level of escapes taken off, if it
/// [is escaped](opens_escaped). To the end of the text if the bracket is never closed.
pub(crate) fn unescape(cursor: &mut Cursor<'_>, start: usize) -> Option<String> {
    if !opens_escaped(cursor, start) {
        return None;
    }
    let mut out = String::new();
    let (mut at, mut depth, mut in_string) = (start, 0_usize, false);
    while let Some((c, len)) = plain_char(cursor, at) {
        let escaped = in_string && c == '\\';
        out.push(c);
        at += len;
        match c {
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if let (true, Some((next, len))) = (escaped, plain_char(cursor, at)) {
            out.push(next);
            at += len;
        }
    }
    cursor.looked(start, at);
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
