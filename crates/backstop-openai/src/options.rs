//! Options that only this adapter understands.

use backstop_http::provider_options;

provider_options! {
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
    OpenAiOptions for "openai" {
        /// How long the model may think: `none`, `minimal`, `low`, `medium`, `high`, … as the model has them.
        reasoning_effort: String = impl Into<String>,
        /// How long the answer should be: `low`, `medium`, `high`.
        verbosity: String = impl Into<String>,
        /// `auto`, `default`, `flex`, `priority`, …
        service_tier: String = impl Into<String>,
        /// Whether the model may call several tools at once.
        parallel_tool_calls: bool = impl Into<bool>,
        /// Keeps the answer at OpenAI. Default: no. Chat Completions take the request's metadata only with it.
        store: bool = impl Into<bool>,
        /// Routes requests with the same beginning to the same prompt cache.
        prompt_cache_key: String = impl Into<String>,
        /// A stable, anonymous name of the end user, for abuse detection. At most 128 characters.
        safety_identifier: String = impl Into<String>,
        /// From -2 to 2: makes new topics likelier.
        presence_penalty: f64 = impl Into<f64>,
        /// From -2 to 2: makes repetition less likely.
        frequency_penalty: f64 = impl Into<f64>,
    }
}

provider_options! {
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
    OpenRouterOptions for "openrouter" {
        /// Hosts to try, in this order.
        order: Vec<String> = impl Into<Vec<String>>,
        /// No other hosts than these.
        only: Vec<String> = impl Into<Vec<String>>,
        /// None of these hosts.
        ignore: Vec<String> = impl Into<Vec<String>>,
        /// Whether it may try further hosts. OpenRouter's default: yes. With `false` the chain alone decides what follows.
        allow_fallbacks: bool = impl Into<bool>,
        /// Only hosts that know every parameter of the request. Default: yes if there is a schema, else OpenRouter's.
        require_parameters: bool = impl Into<bool>,
        /// `allow` or `deny`: hosts that may keep what they are sent.
        data_collection: String = impl Into<String>,
        /// Only hosts that keep nothing.
        zdr: bool = impl Into<bool>,
        /// `price`, `throughput` or `latency`.
        sort: String = impl Into<String>,
        /// Only hosts with one of these quantizations, such as `fp8`.
        quantizations: Vec<String> = impl Into<Vec<String>>,
    }
}
