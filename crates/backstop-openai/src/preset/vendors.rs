//! One constant per server.

use backstop_core::{
    Capabilities,
    FailureKind::{ContextTooLong, Server},
    StructuredOutput,
};

use super::{Caching, Preset, Route, Schemas, ToolIds};
use crate::models::{ModelTraits, TokenLimit};

const CHAT: ModelTraits = ModelTraits::new(TokenLimit::MaxTokens);
/// Servers of open models. A grammar shows the model no name of a field before it is due, and no description at all;
/// and the chat templates of many models refuse two messages of one role in a row.
const OPEN_MODELS: ModelTraits = CHAT.schema_in_prompt(true).joined_turns(true);

impl Preset {
    /// A compatible server that nothing is known about: `max_tokens`, `system`, no key needed. The base URL must be
    /// given.
    pub const COMPATIBLE: Self = Self {
        name: "openai",
        base_url: None,
        default_path: &["v1"],
        route: Route::Body,
        key_variable: Some("OPENAI_API_KEY"),
        key_required: false,
        base_url_variable: Some("OPENAI_BASE_URL"),
        key_header: None,
        traits: CHAT,
        developer_role: true,
        schemas: Schemas::OpenAi,
        stream_usage: true,
        lacks: &[],
        renames: &[],
        tool_ids: ToolIds::Any,
        body: &[],
        statuses: &[],
        routing: false,
        caching: Caching::Unknown,
    };

    /// OpenAI itself. The default.
    pub const OPENAI: Self = Self {
        base_url: Some("https://api.openai.com/v1"),
        key_required: true,
        traits: ModelTraits::new(TokenLimit::MaxCompletionTokens),
        caching: Caching::Retention,
        ..Self::COMPATIBLE
    };

    /// Azure OpenAI by its v1 URL, `https://{resource}.openai.azure.com/openai/v1`: a model is the name of a
    /// *deployment*, so [`model_like`](crate::OpenAiBuilder::model_like) tells which model stands behind it.
    ///
    /// - The key goes into `api-key`; with [`Auth::Bearer`](crate::Auth::Bearer) it may be a token of Entra ID.
    /// - A filtered prompt is a 400 with the code `content_filter`, and counts as filtered.
    /// - Older documentation allows 100 properties and 5 levels in a strict schema (*not verified*); a schema that is
    ///   refused is asked for in JSON mode.
    pub const AZURE: Self = Self {
        name: "azure",
        default_path: &["openai", "v1"],
        key_variable: Some("AZURE_OPENAI_API_KEY"),
        key_required: true,
        base_url_variable: Some("AZURE_OPENAI_ENDPOINT"),
        key_header: Some("api-key"),
        traits: Self::OPENAI.traits,
        caching: Caching::Automatic,
        ..Self::COMPATIBLE
    };

    /// Azure OpenAI by the URLs of its deployments, which need an
    /// [`api_version`](crate::OpenAiBuilder::api_version). Otherwise like [`AZURE`](Self::AZURE).
    pub const AZURE_DEPLOYMENTS: Self =
        Self { default_path: &["openai"], route: Route::Deployments, ..Self::AZURE };

    /// OpenRouter, which asks the vendors behind it.
    ///
    /// - Errors of the vendor behind come inside a 200, also after the stream has begun; they are read with the code
    ///   of the innermost.
    /// - It tries several hosts of one model by itself, and leaves out parameters that a host does not know:
    ///   [`OpenRouterOptions`](crate::OpenRouterOptions) says which hosts and what they must know. With a schema,
    ///   `require_parameters` is on unless it is set.
    /// - Names have a vendor before and may have a variant behind (`openai/gpt-4o:nitro`); the model that served may
    ///   be named otherwise than the one that was asked for.
    /// - A 403 may be its moderation, which counts as filtered.
    /// - Cache hints are passed on to the vendor behind, with Chat Completions.
    pub const OPENROUTER: Self = Self {
        name: "openrouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        key_required: true,
        base_url_variable: None,
        traits: Self::OPENAI.traits,
        developer_role: false,
        routing: true,
        caching: Caching::Marks,
        ..Self::COMPATIBLE
    };

    /// Groq.
    ///
    /// - An answer that fails the server's own JSON check is a 400 with the text, and is read as an answer.
    /// - 498 means that its flex tier has no capacity; 422 is a failure worth a retry, by its documentation.
    /// - Strict schemas work on some models only (*not verified* which); others refuse them and are asked in JSON mode.
    /// - Token counts of a stream stand in a place of their own, which is read too.
    pub const GROQ: Self = Self {
        name: "groq",
        base_url: Some("https://api.groq.com/openai/v1"),
        key_variable: Some("GROQ_API_KEY"),
        key_required: true,
        base_url_variable: Some("GROQ_BASE_URL"),
        traits: Self::OPENAI.traits,
        developer_role: false,
        statuses: &[(422, Server)],
        ..Self::COMPATIBLE
    };

    /// Mistral.
    ///
    /// - Fields that it does not know are a 422, so those of OpenAI are left out, and `max_completion_tokens` is never
    ///   sent. Streams have token counts without being asked for them.
    /// - `seed` is called `random_seed`; ids of tool calls have nine letters and digits.
    /// - Its errors have several shapes, and numbers as codes; they are all read.
    pub const MISTRAL: Self = Self {
        name: "mistral",
        base_url: Some("https://api.mistral.ai/v1"),
        key_variable: Some("MISTRAL_API_KEY"),
        key_required: true,
        base_url_variable: None,
        traits: CHAT,
        developer_role: false,
        stream_usage: false,
        lacks: &["metadata", "safety_identifier", "service_tier", "store", "verbosity"],
        renames: &[("seed", "random_seed")],
        tool_ids: ToolIds::NineAlphanumeric,
        ..Self::COMPATIBLE
    };

    /// DeepSeek.
    ///
    /// - It has JSON mode and no schemas; the schema goes into the prompt. In JSON mode it may answer with nothing
    ///   (*not verified* how often), which is retried.
    /// - Under load it holds the connection open with blank lines and comments for up to ten minutes, or breaks an
    ///   answer off as `insufficient_system_resource`, which counts as overloaded.
    /// - Its thoughts (`reasoning_content`) are never taken for the answer and never sent back.
    pub const DEEPSEEK: Self = Self {
        name: "deepseek",
        base_url: Some("https://api.deepseek.com/v1"),
        key_variable: Some("DEEPSEEK_API_KEY"),
        key_required: true,
        base_url_variable: None,
        traits: CHAT
            .capabilities(Capabilities::unknown().with_structured_output(StructuredOutput::JsonObject)),
        developer_role: false,
        caching: Caching::Automatic,
        ..Self::COMPATIBLE
    };

    /// Together.
    ///
    /// - A 403 means that prompt and limit do not fit into the model's context; a 402, that the account's limit of the
    ///   month is used up.
    /// - `eos` is one of its words for a normal end.
    pub const TOGETHER: Self = Self {
        name: "together",
        base_url: Some("https://api-inference.together.ai/v1"),
        key_variable: Some("TOGETHER_API_KEY"),
        key_required: true,
        base_url_variable: Some("TOGETHER_BASE_URL"),
        traits: CHAT,
        developer_role: false,
        statuses: &[(403, ContextTooLong)],
        ..Self::COMPATIBLE
    };

    /// Fireworks.
    ///
    /// - Left to itself it lowers the limit of tokens when the prompt is long, and answers are cut without a word of
    ///   it. It is asked to refuse instead (`context_length_exceeded_behavior`).
    pub const FIREWORKS: Self = Self {
        name: "fireworks",
        base_url: Some("https://api.fireworks.ai/inference/v1"),
        key_variable: Some("FIREWORKS_API_KEY"),
        key_required: true,
        base_url_variable: Some("FIREWORKS_BASE_URL"),
        traits: CHAT,
        developer_role: false,
        body: &[("context_length_exceeded_behavior", "error")],
        ..Self::COMPATIBLE
    };

    /// vLLM.
    ///
    /// - Schemas become grammars, so optional properties may stay away. They go into the prompt as well:
    ///   [`ModelTraits::schema_in_prompt`] saves the tokens.
    /// - Codes of errors are numbers. Fields that it does not know are ignored.
    /// - Messages of one role in a row are joined, because the chat templates of many models refuse them.
    pub const VLLM: Self = Self {
        name: "vllm",
        base_url: Some("http://localhost:8000/v1"),
        key_variable: Some("VLLM_API_KEY"),
        base_url_variable: Some("VLLM_BASE_URL"),
        traits: OPEN_MODELS,
        developer_role: false,
        schemas: Schemas::Grammar,
        caching: Caching::Automatic,
        ..Self::COMPATIBLE
    };

    /// The server of llama.cpp.
    ///
    /// - Schemas become grammars, and go into the prompt as well. A name of a model is not checked: what is loaded answers, and says its own name.
    /// - Codes of errors are numbers; `exceed_context_size_error` is a prompt that is too long, a 503 a model that is
    ///   still loading. A picture for a model without eyes is a 500, and counts as unsupported.
    /// - Templates without tools ignore them silently, also when one must be called.
    /// - Over [`Api::Responses`](crate::Api::Responses) it enforces no schema, and an answer that the limit of tokens
    ///   cut says that it is complete. Chat Completions do better.
    pub const LLAMA_CPP: Self = Self {
        name: "llama_cpp",
        base_url: Some("http://localhost:8080/v1"),
        key_variable: Some("LLAMA_API_KEY"),
        base_url_variable: None,
        traits: OPEN_MODELS,
        developer_role: false,
        schemas: Schemas::Grammar,
        caching: Caching::Automatic,
        ..Self::COMPATIBLE
    };

    /// LM Studio.
    ///
    /// - It has schemas, but no JSON mode: a schema that it refuses goes into the prompt alone (*not verified* for
    ///   every version; [`ModelTraits::json_object`] overrides it).
    pub const LM_STUDIO: Self = Self {
        name: "lm_studio",
        base_url: Some("http://localhost:1234/v1"),
        key_variable: None,
        base_url_variable: None,
        traits: OPEN_MODELS.json_object(false),
        developer_role: false,
        schemas: Schemas::Grammar,
        caching: Caching::Automatic,
        ..Self::COMPATIBLE
    };
}
