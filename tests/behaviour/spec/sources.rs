//! Which schema judges what.

use backstop::mock::server::Format::{self, Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};

/// What a JSON document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Request,
    /// A whole answer.
    Answer,
    /// One event or line of a stream.
    Event,
    Error,
}

/// A schema within a file.
pub struct Source {
    pub format: Format,
    pub role: Role,
    pub file: &'static str,
    /// JSON pointer; empty where the file itself is the schema.
    pub schema: &'static str,
}

const fn source(format: Format, role: Role, file: &'static str, schema: &'static str) -> Source {
    Source { format, role, file, schema }
}

pub const OPENAI: &str = "openai-chat-responses.subset.openapi.json";
pub const ANTHROPIC_REQUEST: &str = "anthropic-message-create-params.schema.json";
pub const ANTHROPIC_ANSWER: &str = "anthropic-message.schema.json";
pub const ANTHROPIC_EVENT: &str = "anthropic-stream-event.schema.json";
pub const ANTHROPIC_ERROR: &str = "anthropic-error-response.schema.json";
pub const GEMINI: &str = "gemini-v1beta.openapi.json";
pub const GEMINI_SDK: &str = "gemini-generate-content-response.sdk.schema.json";
pub const OLLAMA: &str = "ollama-openapi.yaml";

/// Gemini's specifications describe no error: its errors are those of all of Google's APIs.
pub static SOURCES: &[Source] = &[
    source(OpenAiChat, Role::Request, OPENAI, "/components/schemas/CreateChatCompletionRequest"),
    source(OpenAiChat, Role::Answer, OPENAI, "/components/schemas/CreateChatCompletionResponse"),
    source(OpenAiChat, Role::Event, OPENAI, "/components/schemas/CreateChatCompletionStreamResponse"),
    source(OpenAiChat, Role::Error, OPENAI, "/components/schemas/ErrorResponse"),
    source(OpenAiResponses, Role::Request, OPENAI, "/components/schemas/CreateResponse"),
    source(OpenAiResponses, Role::Answer, OPENAI, "/components/schemas/Response"),
    source(OpenAiResponses, Role::Event, OPENAI, "/components/schemas/ResponseStreamEvent"),
    source(OpenAiResponses, Role::Error, OPENAI, "/components/schemas/ErrorResponse"),
    source(Anthropic, Role::Request, ANTHROPIC_REQUEST, ""),
    source(Anthropic, Role::Answer, ANTHROPIC_ANSWER, ""),
    source(Anthropic, Role::Event, ANTHROPIC_EVENT, ""),
    source(Anthropic, Role::Error, ANTHROPIC_ERROR, ""),
    source(Gemini, Role::Request, GEMINI, "/components/schemas/GenerateContentRequest"),
    source(Gemini, Role::Answer, GEMINI, "/components/schemas/GenerateContentResponse"),
    source(Gemini, Role::Answer, GEMINI_SDK, ""),
    source(Gemini, Role::Event, GEMINI, "/components/schemas/GenerateContentResponse"),
    source(Gemini, Role::Event, GEMINI_SDK, ""),
    source(Ollama, Role::Request, OLLAMA, "/components/schemas/ChatRequest"),
    source(Ollama, Role::Answer, OLLAMA, "/components/schemas/ChatResponse"),
    source(Ollama, Role::Event, OLLAMA, "/components/schemas/ChatStreamEvent"),
    source(Ollama, Role::Error, OLLAMA, "/components/schemas/ErrorResponse"),
];
