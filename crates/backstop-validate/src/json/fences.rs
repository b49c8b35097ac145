//! Code fences. They are met while scanning between values, so that one inside a string is never taken for a fence.

use super::cursor::Cursor;

/// A run of fence characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The offset of the first character.
    pub(crate) at: usize,
    mark: u8,
    len: usize,
    /// Whether a language follows at once: such a run opens a block even inside another.
    tagged: bool,
    /// The offset behind the run and its language.
    pub(crate) end: usize,
}

impl Fence {
    /// Whether this run closes the block that `open` has opened.
    pub(crate) fn closes(&self, open: &Self) -> bool {
        self.mark == open.mark && !self.tagged
    }
}

/// The fence at `at`: three or more backticks or tildes, or two backticks with a language behind or a fence of two to
/// close.
pub(crate) fn fence_at(cursor: &mut Cursor<'_>, at: usize, open: Option<&Fence>) -> Option<Fence> {
    let mark = cursor.byte_at(at).filter(|b| matches!(b, b'`' | b'~'))?;
    let mut end = at;
    while cursor.byte_at(end) == Some(mark) {
        end += 1;
    }
    let len = end - at;
    let word_start = end;
    while cursor
        .byte_at(end)
        .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'-' | b'#'))
    {
        end += 1;
    }
    cursor.looked(at, end);
    let word = cursor.slice(word_start, end);
    // `json`, `python`, `jsonc`: but not the literal of a value that stands on the same line.
    let tagged = word.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if !tagged {
        end = word_start;
    }
    let fence = len >= 3
        || len == 2
            && mark == b'`'
            && (tagged && word.eq_ignore_ascii_case("json") || open.is_some_and(|o| o.len == 2));
    fence.then_some(Fence { at, mark, len, tagged, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(text: &str) -> Option<(usize, bool)> {
        fence_at(&mut Cursor::new(text, 0), 0, None).map(|f| (f.end, f.tagged))
    }

    #[test]
    fn runs_of_any_length_and_tag_are_fences() {
        assert_eq!(fence("```json\n"), Some((7, true)));
        assert_eq!(fence("````{"), Some((4, false)));
        assert_eq!(fence("~~~\n"), Some((3, false)));
        assert_eq!(fence("``json\n"), Some((6, true)));
        assert_eq!(fence("``quoted``"), None);
        assert_eq!(fence("`code`"), None);
    }

    #[test]
    fn a_tagged_run_never_closes() {
        let mut cursor = Cursor::new("```json ~~~ ```", 0);
        let open = fence_at(&mut cursor, 0, None).unwrap();
        let tildes = fence_at(&mut cursor, 8, Some(&open)).unwrap();
        let close = fence_at(&mut cursor, 12, Some(&open)).unwrap();
        assert!(close.closes(&open) && !tildes.closes(&open) && !open.closes(&open));
    }
}
