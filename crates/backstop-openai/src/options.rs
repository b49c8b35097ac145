//! Options that only this adapter understands.

use backstop_core::ProviderOptions;
use serde::{Deserialize, Serialize};

macro_rules! options {
    (
        $(#[$about:meta])* $options:ident for $provider:literal
        $($(#[$doc:meta])* $name:ident: $kind:ty,)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $options {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>,)*
        }

        impl $options {
            /// Nothing set.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: impl Into<$kind>) -> Self {
                    self.$name = Some(value.into());
                    self
                }
            )*
        }

        impl ProviderOptions for $options {
            const PROVIDER: &'static str = $provider;
        }
    };
}

options! {
    /// Parameters of OpenAI's APIs beyond those that every vendor has, for
    /// [`Request::options`](backstop_core::Request::options). What is not set is not sent. They go to every server that
    /// is asked through this adapter, but for those that its [`Preset`](crate::Preset) says the server does not take.
    ///
    /// ```
    /// use backstop_core::Request;
    /// use backstop_openai::OpenAiOptions;
    ///
    /// let request = Request::new("Hello").options(&OpenAiOptions::new().reasoning_effort("low"))?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    OpenAiOptions for "openai"
    /// How long the model may think: `none`, `minimal`, `low`, `medium`, `high`, … as the model has them.
    reasoning_effort: String,
    /// How long the answer should be: `low`, `medium`, `high`.
    verbosity: String,
    /// `auto`, `default`, `flex`, `priority`, …
    service_tier: String,
    /// Whether the model may call several tools at once.
    parallel_tool_calls: bool,
    /// Keeps the answer at OpenAI. Default: no. Chat Completions take the request's metadata only with it.
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

options! {
    /// Which hosts of a model OpenRouter may ask, in its `provider` field, for
    /// [`Request::options`](backstop_core::Request::options). Other servers are not told.
    ///
    /// ```
    /// use backstop_core::Request;
    /// use backstop_openai::OpenRouterOptions;
    ///
    /// let hosts = OpenRouterOptions::new().order(["azure".into(), "openai".into()]).allow_fallbacks(false);
    /// let request = Request::new("Hello").options(&hosts)?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    OpenRouterOptions for "openrouter"
    /// Hosts to try, in this order.
    order: Vec<String>,
    /// No other hosts than these.
    only: Vec<String>,
    /// None of these hosts.
    ignore: Vec<String>,
    /// Whether it may try further hosts. OpenRouter's default: yes. With `false` the chain alone decides what follows.
    allow_fallbacks: bool,
    /// Only hosts that know every parameter of the request. Default: yes if there is a schema, else OpenRouter's.
    require_parameters: bool,
    /// `allow` or `deny`: hosts that may keep what they are sent.
    data_collection: String,
    /// Only hosts that keep nothing.
    zdr: bool,
    /// `price`, `throughput` or `latency`.
    sort: String,
    /// Only hosts with one of these quantizations, such as `fp8`.
    quantizations: Vec<String>,
}
