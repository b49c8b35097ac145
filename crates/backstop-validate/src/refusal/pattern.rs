//! A regular expression that is written with named word lists and compiled when first needed.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

/// A named list of words: `("act", "(?:help|assist)")` is what `<act>` in a pattern stands for.
pub(crate) type Word = (&'static str, &'static str);

/// One built-in pattern.
///
/// Compiling is deferred, so that a process that only ever sees English pays for English only. A pattern that does
/// not compile matches nothing; a test asserts that each one does.
pub(crate) struct Pattern {
    template: &'static str,
    words: &'static [Word],
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) const fn new(template: &'static str, words: &'static [Word]) -> Self {
        Self { template, words, regex: OnceLock::new() }
    }

    pub(crate) fn find(&self, haystack: &str) -> Option<Range<usize>> {
        self.compiled()?.find(haystack).map(|found| found.range())
    }

    pub(crate) fn find_all<'a>(&'a self, haystack: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.compiled().into_iter().flat_map(|regex| regex.find_iter(haystack)).map(|found| found.range())
    }

    pub(crate) fn is_match(&self, haystack: &str) -> bool {
        self.compiled().is_some_and(|regex| regex.is_match(haystack))
    }

    /// Compiles the pattern now, so that no answer has to wait for it. Tells whether it could be.
    pub(crate) fn prepare(&self) -> bool {
        self.compiled().is_some()
    }

    fn compiled(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(&self.expanded()).ok()).as_ref()
    }

    /// The regular expression itself.
    ///
    /// `\b` becomes the ASCII word boundary: with the Unicode one the engine leaves its fast path at the first
    /// non-ASCII letter. Patterns therefore use `\b` beside ASCII letters only.
    pub(crate) fn expanded(&self) -> String {
        // Word lists may use words defined before them, hence the reverse order.
        let expanded = self.words.iter().rev().fold(self.template.to_owned(), |pattern, (name, list)| {
            let placeholder = format!("<{name}>");
            if pattern.contains(&placeholder) { pattern.replace(&placeholder, list) } else { pattern }
        });
        expanded.replace(r"\b", r"(?-u:\b)")
    }

    #[cfg(test)]
    pub(crate) fn is_prepared(&self) -> bool {
        self.regex.get().is_some()
    }

    #[cfg(test)]
    pub(crate) fn error(&self) -> Option<String> {
        Regex::new(&self.expanded()).err().map(|error| error.to_string())
    }
}
