//! What is known about models: which parameters they take and how much fits into them.
//!
//! Rules go by the version in a model's name, so that a later model is asked like the latest known one. A rule of the
//! caller's own ([`AnthropicBuilder::model_traits`](crate::AnthropicBuilder::model_traits)) comes before those here.

use backstop_core::{Capabilities, StructuredOutput};

/// The first API version that takes no sampling parameters at all.
const NO_SAMPLING_SINCE: &str = "2026-10-21";

/// Which of `temperature`, `top_p` and `top_k` a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampling {
    /// None of them.
    Rejected,
    /// `temperature` or `top_p`, not both.
    One,
    /// All.
    Free,
}

/// How a model is to be asked.
///
/// ```
/// use backstop_anthropic::{Anthropic, ModelTraits, Sampling};
///
/// // A model that takes sampling parameters, whatever its name says.
/// let traits = ModelTraits::latest().sampling(Sampling::Free).max_tokens(2_000);
/// let anthropic = Anthropic::builder().api_key("sk-0123456789").model_traits("claude-special", traits).build()?;
/// # Ok::<(), backstop_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTraits {
    /// The limit of an answer, in tokens, where the request names none. The vendor requires one.
    pub max_tokens: u32,
    /// Which sampling parameters it takes. The others are left out, and noted.
    pub sampling: Sampling,
    /// Goes on with an answer that the last message has begun.
    pub prefill: bool,
    /// Can be made to call a tool.
    pub forced_tools: bool,
    /// Most marks for the prompt cache in one request; with 0 none is sent.
    pub cache_breakpoints: u8,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ModelTraits {
    /// Anthropic's latest models, and those whose name says nothing: strict output, no sampling parameters, no
    /// prefill, no forced tools, 16,384 tokens, four cache marks.
    #[must_use]
    pub const fn latest() -> Self {
        Self {
            max_tokens: 16_384,
            sampling: Sampling::Rejected,
            prefill: false,
            forced_tools: false,
            cache_breakpoints: 4,
            capabilities: Capabilities::unknown().with_structured_output(StructuredOutput::Strict),
        }
    }

    /// Models of other servers that speak the Messages API: schemas by a forced tool, all sampling parameters,
    /// prefill, 8,192 tokens, four cache marks.
    #[must_use]
    pub const fn compatible() -> Self {
        Self {
            max_tokens: 8_192,
            sampling: Sampling::Free,
            prefill: true,
            forced_tools: true,
            cache_breakpoints: 4,
            capabilities: Capabilities::unknown().with_structured_output(StructuredOutput::Tool),
        }
    }

    /// Sets the limit of an answer, in tokens, where the request names none.
    #[must_use]
    pub const fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Sets which sampling parameters it takes.
    #[must_use]
    pub const fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets whether it goes on with an answer that the last message has begun.
    #[must_use]
    pub const fn prefill(mut self, yes: bool) -> Self {
        self.prefill = yes;
        self
    }

    /// Sets whether it can be made to call a tool.
    #[must_use]
    pub const fn forced_tools(mut self, yes: bool) -> Self {
        self.forced_tools = yes;
        self
    }

    /// Sets the most marks for the prompt cache in one request.
    #[must_use]
    pub const fn cache_breakpoints(mut self, most: u8) -> Self {
        self.cache_breakpoints = most;
        self
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// What is known about `model` under an API version, `base` for what is not.
pub(crate) fn traits_of(model: &str, version: &str, base: ModelTraits) -> ModelTraits {
    let mut traits = Name::read(model).map_or(base, |name| name.traits(base));
    // Versions are dates, which sort as text.
    if version >= NO_SAMPLING_SINCE {
        traits.sampling = Sampling::Rejected;
    }
    traits
}

/// What a model's name says.
struct Name {
    opus: bool,
    version: (u32, u32),
}

impl Name {
    /// Reads `claude-sonnet-4-5-20250929`, `claude-3-5-haiku-latest`, `anthropic/claude-opus-4.1`,
    /// `us.anthropic.claude-…`, `claude-…@20250929`.
    fn read(model: &str) -> Option<Self> {
        let (_, rest) = model.split_once("claude-")?;
        let words = || rest.split(|c: char| !c.is_ascii_alphanumeric());
        // A date has more digits than a version.
        let number = |word: &str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
        let mut numbers = words().skip_while(|word| number(word).is_none()).map_while(number);
        Some(Self {
            opus: words().any(|word| word == "opus"),
            version: (numbers.next()?, numbers.next().unwrap_or(0)),
        })
    }

    /// Sources: Anthropic's model overview and migration guides, as of November 2026.
    fn traits(&self, base: ModelTraits) -> ModelTraits {
        let version = self.version;
        let strict = version >= (4, 5) || (version == (4, 1) && self.opus);
        let structured = if strict { StructuredOutput::Strict } else { StructuredOutput::Tool };
        let mut known = Capabilities::unknown().with_structured_output(structured).with_tools(true);
        if version >= (3, 0) {
            let window = if version >= (4, 6) { 1_000_000 } else { 200_000 };
            known = known
                .with_context_window(window)
                .with_max_output_tokens(self.most_output())
                .with_images(true)
                .with_documents(version >= (3, 5));
        }
        let thinks = version >= (5, 0);
        ModelTraits {
            max_tokens: self.most_output().min(if thinks { 16_384 } else { 8_192 }),
            sampling: match version {
                (4, 7..) | (5.., _) => Sampling::Rejected,
                (4, 1..) => Sampling::One,
                _ => Sampling::Free,
            },
            prefill: version < (4, 6),
            forced_tools: !thinks,
            capabilities: base.capabilities.overlaid(known),
            ..base
        }
    }

    fn most_output(&self) -> u32 {
        match self.version {
            (4, 6..) | (5.., _) => 128_000,
            (4, 5) => 64_000,
            (4, _) if self.opus => 32_000,
            (4, _) | (3, 7) => 64_000,
            (3, 5..) => 8_192,
            _ => 4_096,
        }
    }
}

/// Whether `name` begins with `prefix` and the prefix ends there: `claude-4` is not the family of `claude-40`.
pub(crate) fn belongs(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Sampling::{Free, One, Rejected};
    use StructuredOutput::{Strict, Tool};

    const OLD: &str = "2023-06-01";

    /// A name; how it is held to a schema and sampled; its most output; its default limit; whether it takes a prefill.
    type Row = (&'static str, StructuredOutput, Sampling, Option<u32>, u32, bool);

    #[test]
    fn names_find_their_traits() {
        let table: &[Row] = &[
            ("claude-3-haiku-20240307", Tool, Free, Some(4_096), 4_096, true),
            ("claude-3-5-sonnet-latest", Tool, Free, Some(8_192), 8_192, true),
            ("claude-3.5-sonnet", Tool, Free, Some(8_192), 8_192, true),
            ("claude-3-7-sonnet-20250219", Tool, Free, Some(64_000), 8_192, true),
            ("claude-sonnet-4-20250514", Tool, Free, Some(64_000), 8_192, true),
            ("claude-opus-4-0", Tool, Free, Some(32_000), 8_192, true),
            ("claude-opus-4-1-20250805", Strict, One, Some(32_000), 8_192, true),
            ("claude-sonnet-4-5-20250929", Strict, One, Some(64_000), 8_192, true),
            ("claude-sonnet-4-5@20250929", Strict, One, Some(64_000), 8_192, true),
            ("anthropic/claude-haiku-4.5", Strict, One, Some(64_000), 8_192, true),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", Strict, One, Some(64_000), 8_192, true),
            ("claude-opus-4-6", Strict, One, Some(128_000), 8_192, false),
            ("claude-opus-4-7", Strict, Rejected, Some(128_000), 8_192, false),
            ("claude-opus-4-12", Strict, Rejected, Some(128_000), 8_192, false),
            ("claude-sonnet-5", Strict, Rejected, Some(128_000), 16_384, false),
            ("claude-fable-5-1", Strict, Rejected, Some(128_000), 16_384, false),
            ("claude-tiny-9-3", Strict, Rejected, Some(128_000), 16_384, false),
            ("claude-opus-latest", Strict, Rejected, None, 16_384, false),
            ("something-else", Strict, Rejected, None, 16_384, false),
            ("", Strict, Rejected, None, 16_384, false),
        ];
        for (name, structured, sampling, output, limit, prefill) in table {
            let traits = traits_of(name, OLD, ModelTraits::latest());
            let known = traits.capabilities;
            assert_eq!(
                (known.structured_output, traits.sampling, known.max_output_tokens),
                (Some(*structured), *sampling, *output),
                "{name}"
            );
            assert_eq!((traits.max_tokens, traits.prefill), (*limit, *prefill), "{name}");
        }
    }

    #[test]
    fn a_version_of_the_api_may_take_less_than_the_model() {
        let sampling = |version| traits_of("claude-3-haiku", version, ModelTraits::latest()).sampling;
        assert_eq!(sampling(OLD), Free);
        assert_eq!(sampling("2026-10-21"), Rejected);
        assert_eq!(sampling("2027-01-01"), Rejected);
    }

    #[test]
    fn what_the_base_knows_stays_where_the_name_says_nothing() {
        let base = ModelTraits::compatible()
            .cache_breakpoints(0)
            .capabilities(Capabilities::unknown().with_streaming(false));
        let traits = traits_of("claude-sonnet-4-5", OLD, base);
        assert_eq!((traits.cache_breakpoints, traits.capabilities.streaming), (0, Some(false)));
        assert_eq!(traits_of("kimi-k2", OLD, base), base);
    }
}
