//! The beginning of an answer that is held back: while it is clear neither that it is no refusal nor that the stream
//! does not break at once.

use std::time::Duration;

/// How much is held back. Whatever comes first ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) chars: usize,
    pub(crate) wait: Duration,
}

/// A sentence that ends before this many characters does not end the head: "I'm sorry." may go on either way.
const SHORTEST: usize = 40;

/// A head that is coming.
pub(crate) struct Scan {
    head: Head,
    /// How much of the text was looked at.
    seen: usize,
    /// Characters of it, without blanks at the beginning.
    count: usize,
    before: Option<char>,
}

impl Head {
    pub(crate) fn scan(self) -> Scan {
        Scan { head: self, seen: 0, count: 0, before: None }
    }
}

impl Scan {
    /// Whether enough has come, of a text that begins as it did the last time.
    pub(crate) fn is_complete(&mut self, text: &str) -> bool {
        if self.head.chars == 0 {
            return true;
        }
        for now in text.get(self.seen..).unwrap_or_default().chars() {
            self.seen += now.len_utf8();
            if self.before.is_none() && now.is_whitespace() {
                continue;
            }
            let ends = match self.before.replace(now) {
                Some('.' | '!' | '?' | ':') => now.is_whitespace(),
                Some('。' | '！' | '？' | '\n') => true,
                _ => false,
            };
            if self.count + 1 >= self.head.chars || (ends && self.count >= SHORTEST) {
                return true;
            }
            self.count += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_or_enough_characters_end_the_head() {
        let head = Head { chars: 120, wait: Duration::ZERO };
        let cases = [
            ("", false),
            ("I'm sorry. ", false),
            ("I'm sorry. I cannot help you with that. ", false),
            ("I'm sorry. I cannot help you with that request. ", true),
            ("I'm sorry. I cannot help you with that request.", false),
            ("Version 1.2 of the protocol has a number of fields, 1.2.3", false),
            (
                "申し訳ありませんが、そのご依頼にはお応えできません。別の方法をお探しになることをお勧めいたします。は",
                true,
            ),
        ];
        let is_complete = |text: &str| head.scan().is_complete(text);
        for (text, complete) in cases {
            assert_eq!(is_complete(text), complete, "{text:?}");
            let mut scan = head.scan();
            let mut prefixes = (1..=text.len()).filter_map(|end| text.get(..end));
            let grown = prefixes.any(|prefix| scan.is_complete(prefix));
            assert_eq!(grown, complete, "{text:?} by characters");
        }
        assert!(is_complete(&"a".repeat(120)) && !is_complete(&"a".repeat(119)));
        assert!(is_complete(&"é".repeat(120)) && !is_complete(&"é".repeat(119)));
        assert!(!is_complete(&" ".repeat(500)), "blanks say nothing");
        assert!(Head { chars: 0, wait: Duration::ZERO }.scan().is_complete(""));
    }
}
