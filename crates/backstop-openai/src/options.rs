//! Options that only this adapter understands.

use backstop_core::ProviderOptions;
use serde::{Deserialize, Serialize};

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// Parameters of Chat Completions beyond those that every vendor has, for
        /// [`Request::options`](backstop_core::Request::options). What is not set is not sent.
        ///
        /// ```
        /// use backstop_core::Request;
        /// use backstop_openai::OpenAiOptions;
        ///
        /// let request = Request::new("Hello").options(&OpenAiOptions::new().reasoning_effort("low"))?;
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct OpenAiOptions {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>,)*
        }

        impl OpenAiOptions {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: impl Into<$kind>) -> Self {
                    self.$name = Some(value.into());
                    self
                }
            )*
        }
    };
}

options! {
    /// How long the model may think: `none`, `minimal`, `low`, `medium`, `high`, … as the model has them.
    reasoning_effort: String,
    /// How long the answer should be: `low`, `medium`, `high`.
    verbosity: String,
    /// `auto`, `default`, `flex`, `priority`, …
    service_tier: String,
    /// Whether the model may call several tools at once.
    parallel_tool_calls: bool,
    /// Keeps the answer at OpenAI; needed for the request's metadata to be sent.
    store: bool,
    /// Routes requests with the same beginning to the same prompt cache.
    prompt_cache_key: String,
    /// A stable, anonymous name of the end user, for abuse detection. At most 128 characters.
    safety_identifier: String,
    /// From -2 to 2: makes new topics likelier.
    presence_penalty: f64,
    /// From -2 to 2: makes repetition less likely.
    frequency_penalty: f64,
}

impl OpenAiOptions {
    /// Nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl ProviderOptions for OpenAiOptions {
    const PROVIDER: &'static str = "openai";
}
