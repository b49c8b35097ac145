//! The adapters, and where their vendors differ. What a vendor does not have is said with the reason: no behaviour is
//! left out in silence.

use std::sync::Arc;

use backstop::{
    FailureKind, FinishKind,
    anthropic::{self, Anthropic},
    gemini::{self, Gemini},
    mock::server::{ApiError, Format, Reply},
    ollama::{self, Ollama},
    openai::{self, OpenAi},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{bench::KEY, problem::Problem};

/// An adapter and what is expected of it.
pub struct Adapter {
    pub name: &'static str,
    /// The wire format that it speaks.
    pub format: Format,
    pub model: &'static str,
    /// Builds it for a base URL and [`KEY`].
    pub connect: fn(String) -> Arc<dyn Provider>,
    pub vendor: Vendor,
}

/// What only some vendors have.
#[derive(Debug)]
pub enum Has<T = ()> {
    Yes(T),
    /// Why not.
    No(&'static str),
}

impl<T> Has<T> {
    pub fn is_there(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// The signal with which a vendor says that its model declined.
#[derive(Debug)]
pub struct Refusal {
    pub finish: FinishKind,
    /// There is a refusal beside the finish reason.
    pub signal: bool,
    /// With the model's own words.
    pub words: bool,
}

/// What is particular about a vendor.
pub struct Vendor {
    /// The header of the key, and what stands before the key in it.
    pub key_header: (&'static str, &'static str),
    pub request_id: Has,
    pub refusal: Has<Refusal>,
    /// How an answer ends that the vendor's filter stopped.
    pub filter: Has<FinishKind>,
    /// An answer may lack every choice, which is another thing than an empty one.
    pub choices: Has,
    pub image_by_address: Has,
    pub document: Has,
    pub document_by_address: Has,
    /// A tool call can be demanded.
    pub tool_demand: Has,
    /// A tool's result can be marked as a failure.
    pub failed_tools: Has,
    pub cached_tokens: Has,
    pub reasoning_tokens: Has,
    /// The wire's words for a normal end, for a limit and for tool calls.
    pub finish_words: [&'static str; 3],
    /// The least that is an answer, with the text `ok`.
    pub least: &'static str,
    /// A field that the adapter does not write, and a value.
    pub extra: fn() -> (&'static str, Value),
    /// The vendor's own way to name a wait of 7 s, beside `Retry-After`.
    pub own_wait: Has<fn() -> Reply>,
    /// A stream of which all came but the mark of its end is still a whole answer.
    pub end_mark: Has<EndMark>,
    /// Calls may carry something that is to go back with them. An answer, and an event of a stream, with a call of
    /// `get_weather` whose signature is `c2lnbmVk`.
    pub signed_calls: Has<&'static str>,
    /// Problems that lead to another kind than usual, or that the vendor does not tell from others.
    pub problems: &'static [(Problem, FailureKind, &'static str)],
}

/// What becomes of a stream whose last mark is missing.
#[derive(Debug, PartialEq)]
pub enum EndMark {
    /// The finish reason has come before it, and says enough.
    Dispensable,
    /// The finish reason comes with it.
    Needed,
}

pub static ADAPTERS: &[Adapter] = &[
    Adapter {
        name: "openai, chat completions",
        format: Format::OpenAiChat,
        model: "gpt-4o",
        connect: |url| {
            let client = openai::ClientOptions::new().no_proxy();
            Arc::new(OpenAi::builder().base_url(url).api_key(KEY).client(client).build().unwrap())
        },
        vendor: Vendor {
            key_header: ("authorization", "Bearer "),
            request_id: Has::Yes(()),
            refusal: Has::Yes(Refusal { finish: FinishKind::Stop, signal: true, words: true }),
            filter: Has::Yes(FinishKind::ContentFilter),
            choices: Has::Yes(()),
            image_by_address: Has::Yes(()),
            document: Has::Yes(()),
            document_by_address: Has::No("the API takes the bytes or the id of an upload"),
            tool_demand: Has::Yes(()),
            failed_tools: Has::No("a result is a text, which has to say so itself"),
            cached_tokens: Has::Yes(()),
            reasoning_tokens: Has::Yes(()),
            finish_words: ["stop", "length", "tool_calls"],
            least: r#"{"choices":[{"message":{"content":"ok"}}]}"#,
            extra: || ("service_tier", json!("auto")),
            own_wait: Has::Yes(|| Reply::from(ApiError::rate_limited()).header("retry-after-ms", "7000")),
            end_mark: Has::Yes(EndMark::Dispensable),
            signed_calls: Has::No("a call is whole without one"),
            problems: &[],
        },
    },
    Adapter {
        name: "openai, responses",
        format: Format::OpenAiResponses,
        model: "gpt-4o",
        connect: |url| {
            let client = openai::ClientOptions::new().no_proxy();
            let builder = OpenAi::builder().base_url(url).api_key(KEY).client(client);
            Arc::new(builder.api(openai::Api::Responses).build().unwrap())
        },
        vendor: Vendor {
            key_header: ("authorization", "Bearer "),
            request_id: Has::Yes(()),
            refusal: Has::Yes(Refusal { finish: FinishKind::Stop, signal: true, words: true }),
            filter: Has::Yes(FinishKind::ContentFilter),
            choices: Has::No("an answer is a list of items; an empty list is an empty answer"),
            image_by_address: Has::Yes(()),
            document: Has::Yes(()),
            document_by_address: Has::Yes(()),
            tool_demand: Has::Yes(()),
            failed_tools: Has::No("a result is a text, which has to say so itself"),
            cached_tokens: Has::Yes(()),
            reasoning_tokens: Has::Yes(()),
            finish_words: ["completed", "max_output_tokens", "completed"],
            least: r#"{"output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}"#,
            extra: || ("service_tier", json!("auto")),
            own_wait: Has::Yes(|| Reply::from(ApiError::rate_limited()).header("retry-after-ms", "7000")),
            end_mark: Has::Yes(EndMark::Needed),
            signed_calls: Has::No("a call is whole without one"),
            problems: &[],
        },
    },
    Adapter {
        name: "anthropic",
        format: Format::Anthropic,
        model: "claude-sonnet-4-5",
        connect: |url| {
            let client = anthropic::ClientOptions::new().no_proxy();
            Arc::new(Anthropic::builder().base_url(url).api_key(KEY).client(client).build().unwrap())
        },
        vendor: Vendor {
            key_header: ("x-api-key", ""),
            request_id: Has::Yes(()),
            refusal: Has::Yes(Refusal { finish: FinishKind::Refusal, signal: true, words: false }),
            filter: Has::Yes(FinishKind::Refusal),
            choices: Has::No("an answer is a list of blocks; an empty list is an empty answer"),
            image_by_address: Has::Yes(()),
            document: Has::Yes(()),
            document_by_address: Has::Yes(()),
            tool_demand: Has::Yes(()),
            failed_tools: Has::Yes(()),
            cached_tokens: Has::Yes(()),
            reasoning_tokens: Has::Yes(()),
            finish_words: ["end_turn", "max_tokens", "tool_use"],
            least: r#"{"content":[{"type":"text","text":"ok"}]}"#,
            extra: || ("service_tier", json!("auto")),
            own_wait: Has::No("`Retry-After` is all there is"),
            end_mark: Has::Yes(EndMark::Dispensable),
            signed_calls: Has::No("a call is whole without one"),
            problems: &[],
        },
    },
    Adapter {
        name: "gemini",
        format: Format::Gemini,
        model: "gemini-2.5-flash",
        connect: |url| {
            let client = gemini::ClientOptions::new().no_proxy();
            Arc::new(Gemini::builder().base_url(url).api_key(KEY).client(client).build().unwrap())
        },
        vendor: Vendor {
            key_header: ("x-goog-api-key", ""),
            request_id: Has::Yes(()),
            refusal: Has::Yes(Refusal { finish: FinishKind::ContentFilter, signal: false, words: false }),
            filter: Has::Yes(FinishKind::ContentFilter),
            choices: Has::Yes(()),
            image_by_address: Has::Yes(()),
            document: Has::Yes(()),
            document_by_address: Has::Yes(()),
            tool_demand: Has::Yes(()),
            failed_tools: Has::Yes(()),
            cached_tokens: Has::Yes(()),
            reasoning_tokens: Has::Yes(()),
            finish_words: ["STOP", "MAX_TOKENS", "STOP"],
            least: r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}"#,
            extra: || ("cachedContent", json!("cachedContents/c-1")),
            own_wait: Has::Yes(|| {
                let wait =
                    json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s" }]);
                ApiError::rate_limited().field("details", wait).into()
            }),
            end_mark: Has::No("a stream ends with its body"),
            signed_calls: Has::Yes(
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":"Köln"}},"thoughtSignature":"c2lnbmVk"}]},"finishReason":"STOP"}]}"#,
            ),
            problems: &[(
                Problem::PromptFiltered,
                FailureKind::InvalidRequest,
                "a prompt is blocked with a 200; there is no code for it in an error",
            )],
        },
    },
    Adapter {
        name: "ollama",
        format: Format::Ollama,
        model: "llama3.1:8b",
        connect: |url| {
            let client = ollama::ClientOptions::new().no_proxy();
            Arc::new(Ollama::builder().base_url(url).api_key(KEY).client(client).build().unwrap())
        },
        vendor: Vendor {
            key_header: ("authorization", "Bearer "),
            request_id: Has::No("the server gives none"),
            refusal: Has::No("a refusal is a text like any other"),
            filter: Has::No("the server filters nothing"),
            choices: Has::Yes(()),
            image_by_address: Has::No("the server fetches nothing"),
            document: Has::No("models of the server take text and pictures"),
            document_by_address: Has::No("models of the server take text and pictures"),
            tool_demand: Has::No("the API has no `tool_choice`"),
            failed_tools: Has::No("a result is a text, which has to say so itself"),
            cached_tokens: Has::No("the server counts prompt and answer"),
            reasoning_tokens: Has::No("the server counts prompt and answer"),
            finish_words: ["stop", "length", "stop"],
            least: r#"{"message":{"content":"ok"},"done":true}"#,
            extra: || ("keep_alive", json!("5m")),
            own_wait: Has::No("`Retry-After` is all there is"),
            end_mark: Has::Yes(EndMark::Needed),
            signed_calls: Has::No("a call is whole without one"),
            problems: &[
                (Problem::Quota, FailureKind::RateLimited, "the server's words are those of a rate limit"),
                (Problem::PromptFiltered, FailureKind::InvalidRequest, "the server filters nothing"),
            ],
        },
    },
];

#[test]
fn every_adapter_has_a_name_of_its_own() {
    for (index, adapter) in ADAPTERS.iter().enumerate() {
        assert!(ADAPTERS[..index].iter().all(|other| other.name != adapter.name), "{}", adapter.name);
    }
}
