//! Escapes inside strings, shared by the strict and the tolerant parser.

use super::cursor::Cursor;

/// What the backslash at a position stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// A character, and the bytes it takes in the text.
    Char(char, usize),
    /// Half a surrogate pair.
    LoneSurrogate(usize),
    /// No escape that JSON knows.
    Unknown,
    /// The text ends inside the escape.
    Cut,
}

/// Reads the escape whose backslash is at `at`.
pub(crate) fn read(cursor: &Cursor<'_>, at: usize) -> Escape {
    let Some(letter) = cursor.byte_at(at + 1) else { return Escape::Cut };
    let c = match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(cursor, at),
        _ => return Escape::Unknown,
    };
    Escape::Char(c, 2)
}

fn unicode(cursor: &Cursor<'_>, at: usize) -> Escape {
    let first = match hex4(cursor, at + 2) {
        Ok(unit) => unit,
        Err(escape) => return escape,
    };
    match first {
        0xd800..=0xdbff => {}
        0xdc00..=0xdfff => return Escape::LoneSurrogate(6),
        unit => return char::from_u32(unit).map_or(Escape::Unknown, |c| Escape::Char(c, 6)),
    }
    if cursor.byte_at(at + 6).is_none() {
        return Escape::Cut;
    }
    if !cursor.starts_with_at(at + 6, "\\u") {
        return if cursor.len() == at + 7 && cursor.byte_at(at + 6) == Some(b'\\') {
            Escape::Cut
        } else {
            Escape::LoneSurrogate(6)
        };
    }
    match hex4(cursor, at + 8) {
        Ok(second @ 0xdc00..=0xdfff) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            char::from_u32(code).map_or(Escape::LoneSurrogate(6), |c| Escape::Char(c, 12))
        }
        Err(Escape::Cut) => Escape::Cut,
        _ => Escape::LoneSurrogate(6),
    }
}

fn hex4(cursor: &Cursor<'_>, from: usize) -> Result<u32, Escape> {
    let mut unit = 0;
    for at in from..from + 4 {
        let Some(byte) = cursor.byte_at(at) else { return Err(Escape::Cut) };
        let Some(digit) = char::from(byte).to_digit(16) else { return Err(Escape::Unknown) };
        unit = unit * 16 + digit;
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogate_pairs_join_and_halves_are_told_apart_from_cuts() {
        let read = |text: &str| super::read(&Cursor::new(text, 0), 0);
        assert_eq!(read("\\ud83d\\ude00"), Escape::Char('😀', 12));
        assert_eq!(read("\\ud83dx"), Escape::LoneSurrogate(6));
        assert_eq!(read("\\ude00"), Escape::LoneSurrogate(6));
        assert_eq!(read("\\ud83d\\u0041"), Escape::LoneSurrogate(6));
        for cut in ["\\", "\\u", "\\u12", "\\ud83d", "\\ud83d\\", "\\ud83d\\ude"] {
            assert_eq!(read(cut), Escape::Cut, "{cut}");
        }
        assert_eq!(read("\\uzz00"), Escape::Unknown);
        assert_eq!(read("\\s"), Escape::Unknown);
        assert_eq!(read("\\u00e9"), Escape::Char('é', 6));
    }
}
