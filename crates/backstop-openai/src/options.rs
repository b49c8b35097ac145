//! Options that only this adapter understands.

use backstop_core::ProviderOptions;
use serde::{Deserialize, Serialize};

/// Parameters of Chat Completions beyond those that every vendor has, for
/// [`Request::options`](backstop_core::Request::options). What is `None` is not sent.
///
/// ```
/// use backstop_core::Request;
/// use backstop_openai::OpenAiOptions;
///
/// let options = OpenAiOptions { reasoning_effort: Some("low".into()), ..Default::default() };
/// let request = Request::new("Hello").options(&options)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenAiOptions {
    /// How long the model may think: `none`, `minimal`, `low`, `medium`, `high`, … as the model has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// How long the answer should be: `low`, `medium`, `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<String>,
    /// `auto`, `default`, `flex`, `priority`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Whether the model may call several tools at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Keeps the answer at OpenAI; needed for `metadata` to be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// Routes requests with the same beginning to the same prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<String>,
    /// A stable, anonymous name of the end user, for abuse detection. At most 128 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety_identifier: Option<String>,
    /// From -2 to 2: makes new topics likelier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// From -2 to 2: makes repetition less likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
}

impl ProviderOptions for OpenAiOptions {
    const PROVIDER: &'static str = "openai";
}
