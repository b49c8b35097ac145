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

impl Head {
    /// Whether enough has come.
    pub(crate) fn is_complete(&self, text: &str) -> bool {
        if self.chars == 0 {
            return true;
        }
        let text = text.trim_start();
        let mut before = None;
        for (count, now) in text.chars().enumerate() {
            if count + 1 >= self.chars {
                return true;
            }
            let ends = match before {
                Some('.' | '!' | '?' | ':') => now.is_whitespace(),
                Some('。' | '！' | '？' | '\n') => true,
                _ => false,
            };
            if ends && count >= SHORTEST {
                return true;
            }
            before = Some(now);
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
        for (text, complete) in cases {
            assert_eq!(head.is_complete(text), complete, "{text:?}");
        }
        assert!(head.is_complete(&"a".repeat(120)) && !head.is_complete(&"a".repeat(119)));
        assert!(head.is_complete(&"é".repeat(120)) && !head.is_complete(&"é".repeat(119)));
        assert!(!head.is_complete(&" ".repeat(500)), "blanks say nothing");
        assert!(Head { chars: 0, wait: Duration::ZERO }.is_complete(""));
    }
}
