//! Where in a schema the walk is, written out only when somebody asks.

use std::fmt;

/// A JSON pointer as a list that grows on the stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'p> {
    /// An absolute pointer: `""` or `/$defs/Name`.
    Base(&'p str),
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub(super) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path::Key(self, key)
    }

    pub(super) fn index(&'p self, index: usize) -> Path<'p> {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Base(pointer) => f.write_str(pointer),
            Path::Key(parent, key) => write!(f, "{parent}/{}", key.replace('~', "~0").replace('/', "~1")),
            Path::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}
