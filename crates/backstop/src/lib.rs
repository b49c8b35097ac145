// Its snippets are compiled by the test package, which has the features that they need.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]

pub use backstop_core::*;

#[cfg(feature = "anthropic")]
pub use backstop_anthropic as anthropic;
#[cfg(feature = "gemini")]
pub use backstop_gemini as gemini;
#[cfg(feature = "mock")]
pub use backstop_mock as mock;
#[cfg(feature = "ollama")]
pub use backstop_ollama as ollama;
#[cfg(feature = "openai")]
pub use backstop_openai as openai;
#[cfg(feature = "redis")]
pub use backstop_redis as redis;
#[cfg(feature = "extract")]
pub use backstop_validate as validate;

/// For `#[derive(JsonSchema)]` on the types that are extracted.
#[cfg(feature = "extract")]
pub use backstop_validate::schemars;

/// What most programs need: `use backstop::prelude::*;`.
pub mod prelude {
    pub use backstop_core::{
        Answer, AnswerStream, Attempt, BreakerConfig, Candidate, Chain, ChainError, ChainErrorKind, Check,
        ConfigError, Disposition, FailureKind, FailurePolicy, Interrupted, Media, Message, OnInterrupt,
        PromptTemplate, Provider, ProviderError, ProviderExt, Registry, Rejection, Report, Request, Response,
        RetryPolicy, StreamEvent, Target, Usage, Validator, ValidatorExt,
    };

    #[cfg(feature = "anthropic")]
    pub use backstop_anthropic::Anthropic;
    #[cfg(feature = "gemini")]
    pub use backstop_gemini::Gemini;
    #[cfg(feature = "ollama")]
    pub use backstop_ollama::Ollama;
    #[cfg(feature = "openai")]
    pub use backstop_openai::OpenAi;
    #[cfg(feature = "extract")]
    pub use backstop_validate::ChainExt;
}
