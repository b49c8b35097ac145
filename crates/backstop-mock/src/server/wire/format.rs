//! Which wire format a request speaks.

use super::{
    anthropic::Anthropic, encoding::Encoding, gemini::Gemini, ollama::Ollama, openai_chat::OpenAiChat,
    openai_responses::OpenAiResponses,
};

/// A vendor's wire format. The server tells it from the path alone, whatever precedes it: base URLs with and
/// without `/v1` and those of compatible vendors and Azure deployments all work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions: `…/chat/completions`.
    OpenAiChat,
    /// OpenAI Responses: `…/responses`.
    OpenAiResponses,
    /// Anthropic Messages: `…/messages`.
    Anthropic,
    /// Gemini: `…/models/{model}:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// Ollama's own: `…/api/chat`.
    Ollama,
}

impl Format {
    /// The format of a completion endpoint, `None` for any other path.
    pub(in super::super) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/chat/completions") {
            Some(Self::OpenAiChat)
        } else if path.ends_with("/responses") {
            Some(Self::OpenAiResponses)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else if path.ends_with("/api/chat") {
            Some(Self::Ollama)
        } else {
            None
        }
    }

    /// The format whose envelope fits an error on a path that is no completion endpoint.
    pub(in super::super) fn nearest(path: &str) -> Self {
        let has = |part: &str| path.split('/').any(|segment| segment == part);
        match Self::of_path(path) {
            Some(format) => format,
            None if has("v1beta") || has("v1beta1") => Self::Gemini,
            None if has("api") => Self::Ollama,
            None => Self::OpenAiChat,
        }
    }

    pub(in super::super) fn encoding(self) -> &'static dyn Encoding {
        match self {
            Self::OpenAiChat => &OpenAiChat,
            Self::OpenAiResponses => &OpenAiResponses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
            Self::Ollama => &Ollama,
        }
    }
}

/// The model that a path names: Gemini's resource names and Azure's deployments.
pub(in super::super) fn model_in_path(path: &str) -> Option<&str> {
    let after = |marker: &str| path.rsplit_once(marker).map(|(_, rest)| rest);
    if let Some(rest) = after("/models/") {
        return rest.split(':').next();
    }
    after("/deployments/").and_then(|rest| rest.split('/').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_format_whatever_precedes_it() {
        let cases = [
            ("/v1/chat/completions", Some(Format::OpenAiChat)),
            ("/chat/completions", Some(Format::OpenAiChat)),
            ("/openai/deployments/prod/chat/completions", Some(Format::OpenAiChat)),
            ("/v1/responses", Some(Format::OpenAiResponses)),
            ("/v1/messages", Some(Format::Anthropic)),
            ("/v1beta/models/g:generateContent", Some(Format::Gemini)),
            ("/v1beta/models/g:streamGenerateContent", Some(Format::Gemini)),
            ("/api/chat", Some(Format::Ollama)),
            ("/v1/models", None),
            ("/", None),
        ];
        for (path, format) in cases {
            assert_eq!(Format::of_path(path), format, "{path}");
        }
    }

    #[test]
    fn a_path_may_name_the_model() {
        assert_eq!(model_in_path("/v1beta/models/gemini-x:generateContent"), Some("gemini-x"));
        assert_eq!(model_in_path("/openai/deployments/prod/chat/completions"), Some("prod"));
        assert_eq!(model_in_path("/v1/chat/completions"), None);
    }
}
