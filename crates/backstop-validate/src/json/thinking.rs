//! Reasoning that models write before their answer: `<think>…</think>` and its kin.
//!
//! A tag counts only between values, never inside one: a string may well hold the text `<think>`. A closing tag without
//! an opening one makes everything before it reasoning, because chat templates swallow the opening tag.

use super::cursor::Cursor;

const TAGS: [&str; 6] = ["think", "thinking", "thought", "reasoning", "reflection", "scratchpad"];

/// No tag is longer.
const LONGEST: usize = 12;

/// A tag of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    name: &'static str,
    pub(crate) closing: bool,
    /// The offset behind it.
    pub(crate) end: usize,
}

impl Tag {
    /// Whether both are of blocks of the same name.
    pub(crate) fn is_like(self, other: Self) -> bool {
        self.name == other.name
    }
}

/// The tag at `at`, if there is one.
pub(crate) fn tag_at(cursor: &Cursor<'_>, at: usize) -> Option<Tag> {
    let rest = cursor.text().as_bytes().get(at..)?.strip_prefix(b"<")?;
    let closing = rest.first() == Some(&b'/');
    let rest = rest.get(usize::from(closing)..)?;
    let len = rest.iter().take(LONGEST).take_while(|b| b.is_ascii_alphabetic()).count();
    if rest.len() == len && len < LONGEST {
        cursor.meet_end();
    }
    if rest.get(len) != Some(&b'>') {
        return None;
    }
    let word = rest.get(..len)?;
    let name = TAGS.into_iter().find(|name| name.as_bytes().eq_ignore_ascii_case(word))?;
    Some(Tag { name, closing, end: at + 1 + usize::from(closing) + len + 1 })
}

/// The offset behind the first tag after `open` that closes it. A block inside a block of the same name needs no count:
/// the closing tag that is then left over makes everything before it reasoning.
pub(crate) fn block_end(cursor: &mut Cursor<'_>, open: Tag) -> Option<usize> {
    let mut at = open.end;
    let end = loop {
        match next_tag(cursor, at) {
            Some(tag) if tag.closing && tag.name == open.name => break Some(tag.end),
            Some(tag) => at = tag.end,
            None => break None,
        }
    };
    cursor.looked(open.end, end.unwrap_or(cursor.len()));
    end
}

fn next_tag(cursor: &Cursor<'_>, from: usize) -> Option<Tag> {
    let bytes = cursor.text().as_bytes();
    memchr::memchr_iter(b'<', bytes.get(from..)?).find_map(|found| tag_at(cursor, from + found))
}

/// The offset behind the last closing tag of the text.
pub(crate) fn last_closing_tag(cursor: &mut Cursor<'_>) -> Option<usize> {
    cursor.looked(0, cursor.len());
    memchr::memrchr_iter(b'<', cursor.text().as_bytes())
        .filter_map(|at| tag_at(cursor, at))
        .find(|tag| tag.closing)
        .map(|tag| tag.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Option<usize> {
        let mut cursor = Cursor::new(text, 0);
        let tag = tag_at(&cursor, 0).unwrap();
        block_end(&mut cursor, tag)
    }

    #[test]
    fn tags_are_matched_without_regard_to_case() {
        assert_eq!(end_of("<think>a</think>b"), Some(16));
        assert_eq!(end_of("<THINK>a</Think>b"), Some(16));
        assert_eq!(end_of("<think>a</thinking>b"), None);
        assert_eq!(tag_at(&Cursor::new("<thinker>", 0), 0), None);
        assert_eq!(tag_at(&Cursor::new("<think", 0), 0), None);
    }

    #[test]
    fn a_block_ends_at_the_first_tag_of_its_name_that_closes() {
        assert_eq!(end_of("<think>a<thinking>b</thinking>c</think>d"), Some(39));
        assert_eq!(end_of("<think>a<think>b</think>c"), Some(24));
    }
}
