//! Token counts.

use backstop_core::Usage;
use backstop_http::lenient;
use serde::Deserialize;

/// Token counts as the vendor has them: the input without what went through the cache.
#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default)]
pub(crate) struct WireUsage {
    #[serde(deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
    /// What each model of a fallback cost.
    #[serde(deserialize_with = "lenient::list")]
    iterations: Option<Vec<WireUsage>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Default)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "lenient::count")]
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Whether it says how long the prompt or the answer was.
    pub(crate) fn is_counted(&self) -> bool {
        self.input_tokens.or(self.output_tokens).is_some()
    }

    /// Takes later counts of a stream, which replace those that they repeat.
    pub(crate) fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens_details = later.output_tokens_details.or(self.output_tokens_details);
        self.iterations = later.iterations.or_else(|| self.iterations.take());
    }

    fn own(&self) -> Usage {
        let read = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let input = self.input_tokens.unwrap_or(0).saturating_add(read).saturating_add(written);
        Usage::new(input, self.output_tokens.unwrap_or(0))
            .with_cached(read)
            .with_cache_write(written)
            .with_reasoning(
                self.output_tokens_details.and_then(|details| details.thinking_tokens).unwrap_or(0),
            )
    }
}

impl From<WireUsage> for Usage {
    /// Models that declined before a fallback answered cost as well. Whether the totals hold them is not documented:
    /// the larger count is taken.
    fn from(wire: WireUsage) -> Self {
        let mut all = Usage::default();
        wire.iterations.iter().flatten().for_each(|iteration| all += iteration.own());
        let own = wire.own();
        if all.total() > own.total() { all } else { own }
    }
}
