//! What was changed on the way from the text to the value, and how sure each change is.

use std::fmt;

pub use backstop_core::Risk;

macro_rules! repair_kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $risk:ident;)*) => {
        /// The kinds of repair. [`RepairKind::risk`] is the usual risk of one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RepairKind { $($(#[$doc])* $name,)* }

        impl RepairKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind as a word for logs and metrics, such as `trailing_comma`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// How sure a repair of this kind is.
            pub fn risk(self) -> Risk {
                match self { $(Self::$name => Risk::$risk,)* }
            }
        }
    };
}

repair_kinds! {
    /// A byte order mark before the text.
    ByteOrderMark = "byte_order_mark", Cosmetic;
    /// Prose before or after the value.
    Prose = "prose", Cosmetic;
    /// A code fence around the value.
    Fence = "fence", Cosmetic;
    /// A block of reasoning such as `<think>…</think>`.
    Reasoning = "reasoning", Cosmetic;
    /// The whole document was escaped once: `{\"a\": 1}`.
    EscapedDocument = "escaped_document", Cosmetic;
    /// The document was a JSON string that holds the JSON text, or such a string in a string.
    DoubleEncoded = "double_encoded", Structural;
    /// Several values that stand apart, collected because the schema wants an array.
    Collected = "collected", Structural;
    /// A blank that JSON does not know, such as a no-break space.
    OddBlank = "odd_blank", Cosmetic;
    /// A comment: `//`, `/* */` or `#`.
    Comment = "comment", Cosmetic;
    /// A comma before the closing bracket.
    TrailingComma = "trailing_comma", Cosmetic;
    /// A comma without a value before it.
    ExtraComma = "extra_comma", Cosmetic;
    /// No comma between two members.
    MissingComma = "missing_comma", Cosmetic;
    /// No colon between a key and its value.
    MissingColon = "missing_colon", Cosmetic;
    /// Single, curly, backtick or full-width quotes around a key or value.
    Quotes = "quotes", Cosmetic;
    /// Doubled or tripled quotes around a key or value.
    RepeatedQuotes = "repeated_quotes", Cosmetic;
    /// A key without quotes.
    UnquotedKey = "unquoted_key", Cosmetic;
    /// A literal of another language: `True`, `None`, `undefined`.
    Literal = "literal", Cosmetic;
    /// A number in another form: `+1`, `.5`, `5.`, `1_000`.
    NumberForm = "number_form", Cosmetic;
    /// A raw line break or other control character in a string.
    RawControl = "raw_control", Cosmetic;
    /// An escape that JSON does not know; the backslash is kept, except before a quote.
    InvalidEscape = "invalid_escape", Cosmetic;
    /// A tuple, `(1, 2)`, read as an array.
    Tuple = "tuple", Cosmetic;
    /// Doubled braces, `{{ … }}`, as templates leave them.
    DoubledBraces = "doubled_braces", Cosmetic;
    /// A closing bracket that closes nothing.
    ExtraCloser = "extra_closer", Structural;
    /// A closing bracket of the wrong kind.
    WrongCloser = "wrong_closer", Structural;
    /// A bracket that is never closed, in a text that is known to be complete.
    MissingCloser = "missing_closer", Structural;
    /// An object inside an array without its braces: `["a": 1]`.
    MissingBraces = "missing_braces", Structural;
    /// A quote inside a string that was not escaped.
    InnerQuote = "inner_quote", Structural;
    /// A string without its closing quote, or a key without its opening one.
    MissingQuote = "missing_quote", Structural;
    /// A string value without quotes.
    UnquotedString = "unquoted_string", Structural;
    /// Strings joined with `+`.
    JoinedStrings = "joined_strings", Structural;
    /// An ellipsis in place of members: the model left something out.
    Elided = "elided", Structural;
    /// Half a surrogate pair, replaced by U+FFFD.
    LoneSurrogate = "lone_surrogate", Structural;
    /// The same key twice; the last one wins.
    DuplicateKey = "duplicate_key", Structural;
    /// An integer beyond 64 bits that no float holds exactly; its digits are kept as a string.
    WideInteger = "wide_integer", Structural;
    /// `NaN`, `Infinity` or a float out of range, read as null where a schema accepts null.
    NullForNan = "null_for_nan", Structural;
    /// The same without a schema to ask.
    NonFinite = "non_finite", Guess;
    /// A key without a value, read as null.
    MissingValue = "missing_value", Guess;
    /// A number that breaks off: `2e`.
    BrokenNumber = "broken_number", Guess;
    /// A value without its opening quote.
    MissingOpeningQuote = "missing_opening_quote", Guess;
    /// A bracket of the wrong kind with several ways to put it right.
    MixedBrackets = "mixed_brackets", Guess;
    /// A quote inside a string that has no partner, or that seems to open or close another member: the string may have
    /// ended before it.
    DoubtfulQuote = "doubtful_quote", Guess;
    /// Words inside a container that belong to no member.
    StrayText = "stray_text", Guess;
    /// The text was cut off; what was read so far is closed.
    Cut = "cut", Guess;
}

impl RepairKind {
    /// Whether the repair only took something away from around the JSON.
    pub fn is_wrapping(self) -> bool {
        matches!(self, Self::ByteOrderMark | Self::Prose | Self::Fence | Self::Reasoning)
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What was changed.
    pub kind: RepairKind,
    /// How sure that is.
    pub risk: Risk,
    /// Where in the text, in bytes.
    pub offset: usize,
    /// Where in the value, as a JSON pointer (RFC 6901); empty for the root.
    pub pointer: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " ({})", self.pointer) }
    }
}

/// The repairs of one value: a bounded list, and exact figures about all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairLog {
    pub(crate) list: Vec<Repair>,
    /// Repairs beyond the bound.
    pub(crate) unlisted: usize,
    /// The least sure repair, listed or not.
    pub(crate) worst: Option<Repair>,
    /// Whether one changed the JSON itself rather than its surroundings.
    pub(crate) inner: bool,
    max: usize,
}

impl RepairLog {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.unlisted
    }

    /// Notes a repair; the pointer is only made when the entry is kept.
    pub(crate) fn note(&mut self, kind: RepairKind, offset: usize, pointer: impl FnOnce() -> String) {
        self.inner |= !kind.is_wrapping();
        let risk = kind.risk();
        let worse = self.worst.as_ref().is_none_or(|w| risk > w.risk);
        let listed = self.list.len() < self.max;
        if !listed && !worse {
            self.unlisted += 1;
            return;
        }
        let repair = Repair { kind, risk, offset, pointer: pointer() };
        if worse {
            self.worst = Some(repair.clone());
        }
        if listed {
            self.list.push(repair);
        } else {
            self.unlisted += 1;
        }
    }

    /// Takes over another log's entries.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.inner |= other.inner;
        self.unlisted += other.unlisted;
        if let Some(worst) = other.worst {
            if self.worst.as_ref().is_none_or(|w| worst.risk > w.risk) {
                self.worst = Some(worst);
            }
        }
        for repair in other.list {
            if self.list.len() < self.max {
                self.list.push(repair);
            } else {
                self.unlisted += 1;
            }
        }
    }

    pub(crate) fn risk(&self) -> Option<Risk> {
        self.worst.as_ref().map(|w| w.risk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_and_the_worst_repair_is_known_all_the_same() {
        let mut log = RepairLog::new(2);
        for offset in 0..5 {
            log.note(RepairKind::Comment, offset, String::new);
        }
        log.note(RepairKind::StrayText, 9, || "/a".to_owned());
        assert_eq!((log.list.len(), log.unlisted, log.count()), (2, 4, 6));
        assert_eq!(log.worst.as_ref().map(|w| (w.kind, w.offset)), Some((RepairKind::StrayText, 9)));
        assert_eq!(log.risk(), Some(Risk::Guess));
    }

    #[test]
    fn every_kind_has_its_own_word() {
        let mut words: Vec<_> = RepairKind::ALL.iter().map(|kind| kind.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), RepairKind::ALL.len());
    }
}
