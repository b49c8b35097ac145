//! JSON pointers (RFC 6901) to the place a parser stands at.

use std::fmt::Write as _;

/// One step of a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes the segments as a pointer; no segments give the empty pointer, the root.
pub(crate) fn pointer<'a>(segments: impl IntoIterator<Item = Segment<'a>>) -> String {
    let mut out = String::new();
    for segment in segments {
        push(&mut out, segment);
    }
    out
}

/// Appends one segment.
pub(crate) fn push(out: &mut String, segment: Segment<'_>) {
    out.push('/');
    match segment {
        Segment::Index(i) => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{i}");
        }
        Segment::Key(key) => {
            for c in key.chars() {
                match c {
                    '~' => out.push_str("~0"),
                    '/' => out.push_str("~1"),
                    c => out.push(c),
                }
            }
        }
    }
}

/// The pointer from inside the member of the root with this key; none if it points to something else. The key must need
/// no escapes.
pub(crate) fn strip_key(pointer: &str, key: &str) -> Option<String> {
    let rest = pointer.strip_prefix('/')?.strip_prefix(key)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tilde_and_slash_are_escaped() {
        let segments = [Segment::Key("a/b"), Segment::Index(3), Segment::Key("~x"), Segment::Key("")];
        assert_eq!(pointer(segments), "/a~1b/3/~0x/");
        assert_eq!(pointer([]), "");
    }
}
