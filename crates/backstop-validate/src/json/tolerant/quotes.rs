//! The quotes around and inside a string.

use crate::json::cursor::Cursor;

/// An opening quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) open: char,
    /// Bytes of the quote.
    pub(super) len: usize,
}

/// The quotes that open a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quotes {
    pub(super) quote: Quote,
    pub(super) repeats: usize,
}

/// A string that is being read.
#[derive(Debug)]
pub(super) struct OpenString {
    pub(super) quotes: Quotes,
    /// Its text up to the plain run.
    pub(super) out: String,
    /// Where the plain run under the cursor began.
    pub(super) run: usize,
    pub(super) raw_control: bool,
    pub(super) inner: InnerQuotes,
    tail: Tail,
}

/// The end of the plain run that is none of the string's if its closing quote turns out to have been forgotten: a comma
/// and the blanks around it.
#[derive(Debug, Default)]
struct Tail {
    /// Where it begins.
    from: usize,
    /// Its comma.
    comma: Option<usize>,
    /// How far the run was looked at.
    to: usize,
}

impl Default for OpenString {
    fn default() -> Self {
        Self {
            quotes: Quotes { quote: Quote { open: '"', len: 1 }, repeats: 1 },
            out: String::new(),
            run: 0,
            raw_control: false,
            inner: InnerQuotes::default(),
            tail: Tail::default(),
        }
    }
}

impl OpenString {
    /// Begins behind the quotes; text that is there already is kept.
    pub(super) fn begin(&mut self, quotes: Quotes, at: usize) {
        (self.quotes, self.run) = (quotes, at);
        (self.raw_control, self.inner, self.tail) = (false, InnerQuotes::default(), Tail::default());
    }

    /// Adds the plain run up to `to`.
    pub(super) fn take_run(&mut self, cursor: &Cursor<'_>, to: usize) {
        self.out.push_str(cursor.slice(self.run, to));
        self.run = to;
    }

    /// The text so far, in two parts, with the cursor inside the string. If more is to come, without what may turn out
    /// to be none of it.
    pub(super) fn so_far<'s>(&'s mut self, cursor: &Cursor<'s>, ended: bool) -> (&'s str, &'s str) {
        let end = if ended { cursor.pos } else { self.tail.after(cursor, self.run) };
        (&self.out, cursor.slice(self.run, end))
    }
}

impl Tail {
    /// Goes on to the cursor, in a plain run that began at `run`, and says where the tail begins.
    fn after(&mut self, cursor: &Cursor<'_>, run: usize) -> usize {
        if self.to < run {
            *self = Self { from: run, comma: None, to: run };
        }
        let new = cursor.slice(self.to, cursor.pos);
        let firm = new.trim_end_matches(|c: char| c == ',' || c.is_whitespace()).len();
        if firm > 0 {
            (self.from, self.comma) = (self.to + firm, None);
        }
        for (at, _) in new.match_indices(',').filter(|(at, _)| *at >= firm) {
            // One comma is taken off, not two.
            if let Some(before) = self.comma.replace(self.to + at) {
                self.from = before + 1;
            }
        }
        self.to = cursor.pos;
        self.from
    }
}

/// Whether a string is a key or a value; a quote ends them under different conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Value,
}

/// The quotes inside one string that were taken for text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InnerQuotes {
    pub(super) count: usize,
    /// One of them stands where a key, or the value behind a colon, may begin or end.
    pub(super) at_member: bool,
    /// One of them stands right behind a colon.
    pub(super) after_colon: bool,
}

/// What a quote inside a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    End,
    Inner,
    /// It opens the next string; this one ended at `end` without a quote.
    Missing {
        end: usize,
    },
}

/// Where on the current line the next `"}` stands, found at most once per stretch of text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClosingQuote {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) found: bool,
}
