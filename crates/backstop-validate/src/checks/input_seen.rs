//! Whether the server saw the whole input.

use async_trait::async_trait;
use backstop_core::{Candidate, Check, ConfigError, Part, Rejection, Request};

use super::{
    score::{Grade, Score, check_threshold},
    script::has_no_word_edges,
};

/// Inputs estimated below this are not judged, in tokens: no context window is that small.
const MIN_TOKENS: u64 = 256;
/// Digits that one token may hold, in the tokenizers that hold most.
const DIGITS_PER_TOKEN: u64 = 3;
/// Characters that one token may hold in scripts without blanks between words. Common words of two or three
/// characters are one token in the largest vocabularies; the mean is lower.
const WIDE_PER_TOKEN: u64 = 3;

/// The server saw the input, as far as the tokens that it reports tell.
///
/// Some servers drop the oldest messages without a word when a prompt exceeds their window (Ollama does unless
/// `truncate` is off, and its window may be 4,096 tokens), and the model then answers about half a document. The score
/// is reported input tokens ÷ a lower bound of those that the request has: one for each word, one for three digits, one
/// for three characters of a script without blanks. Real tokenizers need more, so that a whole input scores above 1,
/// which counts as 1.
///
/// Default threshold 0.7. Nothing is judged without usage from the vendor, if the usage is an estimate, or for inputs
/// below 256 tokens; pictures, documents, tools and schemas are not counted. Costs one pass over the input.
///
/// ```
/// use backstop_validate::InputSeen;
/// # fn add(builder: backstop_core::ChainBuilder) -> backstop_core::ChainBuilder {
/// builder.check(InputSeen::new())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InputSeen {
    threshold: f64,
}

impl InputSeen {
    /// With a threshold of 0.7.
    #[must_use]
    pub const fn new() -> Self {
        Self { threshold: 0.7 }
    }

    /// Passes from this share on, from 0.0 to 1.0.
    #[must_use]
    pub fn threshold(mut self, share: f64) -> Self {
        self.threshold = share;
        self
    }

    /// A lower bound of the tokens of a request's texts.
    #[must_use]
    pub fn fewest_tokens(request: &Request) -> u64 {
        let texts =
            request.messages.iter().flat_map(|message| message.parts.iter()).filter_map(Part::as_text);
        texts.chain(request.system.as_deref()).map(fewest_tokens).fold(0, u64::saturating_add)
    }
}

impl Default for InputSeen {
    fn default() -> Self {
        Self::new()
    }
}

/// Blanks and punctuation are left out: long runs of them may be one token, and a blank usually joins its word.
fn fewest_tokens(text: &str) -> u64 {
    let (mut tokens, mut wide, mut digits, mut in_word) = (0_u64, 0_u64, 0_u64, false);
    for c in text.chars() {
        let digit = c.is_ascii_digit();
        if digit {
            digits += 1;
        } else {
            tokens += std::mem::take(&mut digits).div_ceil(DIGITS_PER_TOKEN);
        }
        if has_no_word_edges(c) {
            wide += 1;
            in_word = false;
        } else {
            // Letters after digits may share a token with them.
            let word = c.is_alphabetic();
            tokens += u64::from(word && !in_word);
            in_word = word || digit || (in_word && c == '\'');
        }
    }
    tokens + digits.div_ceil(DIGITS_PER_TOKEN) + wide / WIDE_PER_TOKEN
}

#[async_trait]
impl Score for InputSeen {
    fn name(&self) -> &str {
        "input_seen"
    }

    async fn score(&self, candidate: Candidate<'_>) -> Result<Grade, Rejection> {
        let reported = candidate.response.usage.filter(|usage| !usage.estimated && usage.input_tokens > 0);
        let Some(usage) = reported else { return Ok(Grade::nothing()) };
        let sent = Self::fewest_tokens(candidate.request);
        if sent < MIN_TOKENS {
            return Ok(Grade::nothing());
        }
        let reason =
            format!("the server counted {} input tokens where at least {sent} were sent", usage.input_tokens);
        // Both are far below 2⁵³.
        Ok(Grade::new(usage.input_tokens as f64 / sent as f64, reason))
    }
}

#[async_trait]
impl Check for InputSeen {
    fn name(&self) -> &str {
        "input_seen"
    }

    fn ready(&self) -> Result<(), ConfigError> {
        check_threshold("input_seen", self.threshold)
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.score(candidate).await?.hold_against(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_digits_and_wide_characters_count_and_blanks_do_not() {
        for (text, least) in [
            ("The quick brown fox jumps over the lazy dog.", 9),
            ("don't stop", 2),
            ("1234567890", 4),
            ("東京都の天気は晴れです", 3),
            ("    ========    ", 0),
            ("x1y2", 3),
            ("", 0),
        ] {
            assert_eq!(fewest_tokens(text), least, "{text}");
        }
    }
}
