//! A position in the text. Everything that reads JSON here (the strict parser, the tolerant one, the search for
//! candidates) moves one of these, so that work is counted in one place and tests can bound it.

use std::cell::Cell;

/// A read position over UTF-8 text that counts the bytes it looks at, and knows whether it has looked for a byte behind
/// the last one: what was decided then may be decided otherwise once the text goes on.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub(crate) pos: usize,
    /// Bytes examined so far, looking ahead included.
    pub(crate) steps: u64,
    met_end: Cell<bool>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, pos: usize) -> Self {
        Self { text, bytes: text.as_bytes(), pos, steps: 0, met_end: Cell::new(false) }
    }

    /// The same place and count in another text that begins as this one does.
    pub(crate) fn over<'b>(&self, text: &'b str) -> Cursor<'b> {
        Cursor { steps: self.steps, ..Cursor::new(text, self.pos) }
    }

    /// Whether anything since [`forget_end`](Self::forget_end) depended on where the text ends.
    #[inline]
    pub(crate) fn met_end(&self) -> bool {
        self.met_end.get()
    }

    pub(crate) fn forget_end(&self) {
        self.met_end.set(false);
    }

    /// Says that the end of the text decided something. Reading through the methods of the cursor says so by itself.
    #[cold]
    pub(crate) fn meet_end(&self) {
        self.met_end.set(true);
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.byte_at(self.pos)
    }

    #[inline]
    pub(crate) fn byte_at(&self, at: usize) -> Option<u8> {
        let byte = self.bytes.get(at).copied();
        if byte.is_none() {
            self.meet_end();
        }
        byte
    }

    /// The bytes from here on.
    pub(crate) fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.pos..)
    }

    /// The byte before `at`, if any.
    pub(crate) fn byte_before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|i| self.byte_at(i))
    }

    /// The character at `at`, or `None` at the end and inside a character.
    pub(crate) fn char_at(&self, at: usize) -> Option<char> {
        match self.byte_at(at) {
            Some(b) if b < 0x80 => Some(char::from(b)),
            Some(_) => self.text.get(at..).and_then(|rest| rest.chars().next()),
            None => None,
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.pos += bytes;
        self.steps += bytes as u64;
    }

    /// Moves on to `to`, which lies ahead.
    #[inline]
    pub(crate) fn advance_to(&mut self, to: usize) {
        self.steps += to.saturating_sub(self.pos) as u64;
        self.pos = to;
    }

    /// Counts bytes that were looked at without moving.
    #[inline]
    pub(crate) fn looked(&mut self, from: usize, to: usize) {
        self.steps += to.saturating_sub(from) as u64 + 1;
    }

    /// The text between two offsets; empty if they don't lie on character boundaries.
    #[inline]
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(crate) fn starts_with_at(&self, at: usize, prefix: &str) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.len() < prefix.len() && prefix.as_bytes().starts_with(rest) {
            self.meet_end();
        }
        rest.starts_with(prefix.as_bytes())
    }

    /// Skips the four blanks of the JSON grammar.
    #[inline]
    pub(crate) fn skip_json_blanks(&mut self) {
        let from = self.pos;
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.pos += 1;
        }
        self.steps += (self.pos - from) as u64;
    }

    /// The offset of the first byte from `from` on that ends a plain run of a JSON string: a quote, a backslash or a
    /// control character. The end of the text if there is none.
    #[inline]
    pub(crate) fn plain_run_end(&self, from: usize) -> usize {
        let mut at = from;
        let rest = self.bytes.get(from..).unwrap_or_default();
        for chunk in rest.chunks_exact(8) {
            let mut word = [0u8; 8];
            word.copy_from_slice(chunk);
            let hit = special_bytes(u64::from_le_bytes(word));
            if hit != 0 {
                return at + (hit.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(b) = self.byte_at(at) {
            if b == b'"' || b == b'\\' || b < 0x20 {
                break;
            }
            at += 1;
        }
        at
    }
}

/// A word whose lowest set high bit marks the first byte of `word` that is a quote, a backslash or below 0x20.
/// Higher bits may be wrong (borrows run upwards), which is why only the lowest counts.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20);
    (control | quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES)) & !word & HIGH
}

/// Blanks that models put between tokens and that JSON does not know: no-break and zero-width spaces and the like.
pub(crate) fn is_odd_blank(c: char) -> bool {
    matches!(
        c,
        '\u{0b}' | '\u{0c}' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{180e}' | '\u{2000}'
            ..='\u{200d}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{2060}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_run_ends_at_the_first_special_byte_wherever_it_lies() {
        for special in ['"', '\\', '\n', '\u{1f}'] {
            for before in 0..20 {
                let text = format!("{}{special}rest é 漢字", "é".repeat(before));
                let cursor = Cursor::new(&text, 0);
                assert_eq!(cursor.plain_run_end(0), before * 2, "{text:?}");
            }
        }
        let plain = "no special bytes here: \u{7f}\u{80}é";
        assert_eq!(Cursor::new(plain, 0).plain_run_end(0), plain.len());
    }
}
