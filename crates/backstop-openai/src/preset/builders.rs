//! A builder for each preset.

use crate::{
    config::{OpenAi, OpenAiBuilder},
    preset::Preset,
};

/// Other vendors and servers, each with its [`Preset`]. Finish with
/// [`from_env`](OpenAiBuilder::from_env) or [`api_key`](OpenAiBuilder::api_key) and
/// [`build`](OpenAiBuilder::build).
///
/// ```no_run
/// # fn example() -> Result<(), backstop_core::ConfigError> {
/// use backstop_openai::OpenAi;
///
/// let groq = OpenAi::groq().from_env()?.model("openai/gpt-oss-120b");
/// let local = OpenAi::llama_cpp().base_url("http://10.0.0.7:8080").build()?.model("qwen3");
/// # Ok(()) }
/// ```
impl OpenAi {
    /// Azure OpenAI, by the resource's address such as `https://acme.openai.azure.com`. Models are deployments. See
    /// [`Preset::AZURE`].
    pub fn azure(endpoint: impl Into<String>) -> OpenAiBuilder {
        Self::builder().preset(Preset::AZURE).base_url(endpoint)
    }

    /// Azure OpenAI by the URLs of its deployments, with a version such as `2024-10-21`. See
    /// [`Preset::AZURE_DEPLOYMENTS`].
    pub fn azure_deployments(endpoint: impl Into<String>, api_version: impl Into<String>) -> OpenAiBuilder {
        Self::builder().preset(Preset::AZURE_DEPLOYMENTS).base_url(endpoint).api_version(api_version)
    }

    /// OpenRouter. See [`Preset::OPENROUTER`].
    pub fn openrouter() -> OpenAiBuilder {
        Self::builder().preset(Preset::OPENROUTER)
    }

    /// Groq. See [`Preset::GROQ`].
    pub fn groq() -> OpenAiBuilder {
        Self::builder().preset(Preset::GROQ)
    }

    /// Mistral. See [`Preset::MISTRAL`].
    pub fn mistral() -> OpenAiBuilder {
        Self::builder().preset(Preset::MISTRAL)
    }

    /// DeepSeek. See [`Preset::DEEPSEEK`].
    pub fn deepseek() -> OpenAiBuilder {
        Self::builder().preset(Preset::DEEPSEEK)
    }

    /// Together. See [`Preset::TOGETHER`].
    pub fn together() -> OpenAiBuilder {
        Self::builder().preset(Preset::TOGETHER)
    }

    /// Fireworks. See [`Preset::FIREWORKS`].
    pub fn fireworks() -> OpenAiBuilder {
        Self::builder().preset(Preset::FIREWORKS)
    }

    /// vLLM on this machine, or where [`base_url`](OpenAiBuilder::base_url) says. See [`Preset::VLLM`].
    pub fn vllm() -> OpenAiBuilder {
        Self::builder().preset(Preset::VLLM)
    }

    /// llama.cpp's server on this machine, or where [`base_url`](OpenAiBuilder::base_url) says. See
    /// [`Preset::LLAMA_CPP`].
    pub fn llama_cpp() -> OpenAiBuilder {
        Self::builder().preset(Preset::LLAMA_CPP)
    }

    /// LM Studio on this machine, or where [`base_url`](OpenAiBuilder::base_url) says. See [`Preset::LM_STUDIO`].
    pub fn lm_studio() -> OpenAiBuilder {
        Self::builder().preset(Preset::LM_STUDIO)
    }
}
