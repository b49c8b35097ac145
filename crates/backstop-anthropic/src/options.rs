//! Options that only this adapter understands.

use backstop_core::CacheHint;
use backstop_http::provider_options;
use serde::{Deserialize, Serialize};

provider_options! {
    /// Parameters of the Messages API beyond those that every vendor has, for
    /// [`Request::options`](backstop_core::Request::options). What is not set is not sent.
    ///
    /// ```
    /// use backstop_anthropic::{AnthropicOptions, Fallback, Thinking};
    /// use backstop_core::Request;
    ///
    /// let options = AnthropicOptions::new()
    ///     .thinking(Thinking::Adaptive)
    ///     .effort("low")
    ///     .fallbacks([Fallback::new("claude-sonnet-4-6")]);
    /// let request = Request::new("Hello").options(&options)?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    AnthropicOptions for "anthropic" {
        /// Whether the model thinks before it answers. Default: as the model does by itself.
        thinking: Thinking = Thinking,
        /// How much work goes into an answer: `low`, `medium`, `high`, … as the model has them.
        effort: String = impl Into<String>,
        /// Samples from so many of the likeliest tokens. Left out, and noted, where the model does not take it.
        top_k: u32 = u32,
        /// Whether the model may call several tools at once.
        parallel_tool_calls: bool = bool,
        /// Lets the vendor mark the end of the prompt for its cache. Counts as one of the marks.
        cache: CacheHint = CacheHint,
        /// `auto`, `standard_only`, …
        service_tier: String = impl Into<String>,
        /// `standard`, `fast`, …; the fast one may need an entry in the header for betas.
        speed: String = impl Into<String>,
        /// Where the model has to run.
        inference_geo: String = impl Into<String>,
        /// Models that the vendor itself tries when the model declines.
        fallbacks: Fallbacks = impl Into<Fallbacks>,
    } {
        /// Entries of the `anthropic-beta` header, beside those of the builder.
        betas: Vec<String>,
    }
}

impl AnthropicOptions {
    /// Adds an entry to the `anthropic-beta` header.
    #[must_use]
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.betas.push(beta.into());
        self
    }

    /// Whether thinking was asked for.
    pub(crate) fn thinks(&self) -> bool {
        matches!(self.thinking, Some(Thinking::Adaptive | Thinking::Enabled { .. }))
    }
}

/// Whether the model thinks before it answers. Other forms go through
/// [`Request::extra_body`](backstop_core::Request::extra_body).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Thinking {
    /// As much as the model finds useful.
    Adaptive,
    /// Up to so many tokens. The vendor wants at least 1,024, and less than `max_tokens`: where the request names no
    /// limit, the budget is added to the default one.
    Enabled {
        /// Most tokens of thinking.
        budget_tokens: u32,
    },
    /// Not at all. Some models cannot.
    Disabled,
}

/// What the vendor's own fallbacks need in the `anthropic-beta` header.
pub(crate) const FALLBACK_BETA: &str = "server-side-fallback-2026-07-01";

/// Models that the vendor itself tries, in the same request, when the model declines (beta).
///
/// Only a refusal leads there, no overload, rate limit or error. A hop that was made stands in
/// [`Response::notes`](backstop_core::Response::notes), and [`Response::model`](backstop_core::Response::model) is the
/// model that answered. The beta header `server-side-fallback-2026-07-01` is added unless
/// [`AnthropicOptions::betas`] or the builder names another version of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Fallbacks {
    /// In this order.
    Models(Vec<Fallback>),
    /// A word: `default` lets the vendor choose.
    Named(String),
}

impl Fallbacks {
    /// Lets the vendor choose.
    #[must_use]
    pub fn default_models() -> Self {
        Self::Named("default".to_owned())
    }
}

impl<const N: usize> From<[Fallback; N]> for Fallbacks {
    fn from(models: [Fallback; N]) -> Self {
        Self::Models(models.into())
    }
}

/// A model that the vendor tries when the one before it declines. What is `None` is as in the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fallback {
    /// Its name.
    pub model: String,
    /// Most tokens of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Whether it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Its speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
}

impl Fallback {
    /// A model that is asked as the first one was.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), max_tokens: None, thinking: None, speed: None }
    }

    /// Sets the most tokens of its answer.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets whether it thinks.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = Some(thinking);
        self
    }

    /// Sets its speed.
    #[must_use]
    pub fn speed(mut self, speed: impl Into<String>) -> Self {
        self.speed = Some(speed.into());
        self
    }
}
