//! OpenAI (Chat Completions and Responses) and compatible servers for backstop.
//!
//! | module | holds |
//! | --- | --- |
//! | `config` | [`OpenAi`] and [`OpenAiBuilder`]: key, base URL, HTTP client |
//! | `preset`, `server` | [`Preset`]: in what other vendors and servers differ, as data |
//! | `models` | [`ModelTraits`]: which parameters a model takes, by name |
//! | `chat`, `responses` | `request`, `response` and `stream` of the two APIs ([`Api`]) |
//! | `request`, `parts`, `stream`, `error` | what the two have in common |
//! | `format`, `params`, `cache`, `tool_ids`, `media` | parts of a request: how the answer is held to JSON, optional parameters, … |
//! | `provider` | one attempt, made of these |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use backstop_core::Chain;
//! use backstop_openai::OpenAi;
//!
//! let chain = Chain::builder()
//!     .target(OpenAi::from_env()?.model("gpt-4o"))
//!     .target(OpenAi::groq().from_env()?.model("openai/gpt-oss-120b"))
//!     .target(OpenAi::vllm().build()?.model("qwen3"))
//!     .build()?;
//! println!("{}", chain.complete("Name a colour.").await?.value);
//! # Ok(()) }
//! ```
//!
//! A schema is enforced by the server where it can be (`strict`), given as a hint where it cannot, and put into the
//! prompt where the server knows no schemas; see [`backstop_http::schema`]. What a model does not take is left out and
//! noted in [`Response::notes`](backstop_core::Response::notes).

mod api;
mod cache;
mod chat;
mod config;
mod error;
mod format;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod media;
mod models;
mod options;
mod params;
mod parts;
mod preset;
mod provider;
mod request;
mod responses;
mod server;
mod stream;
mod tool_ids;

pub use api::Api;
pub use backstop_http::{ClientOptions, HttpClient};
pub use config::{Auth, OpenAi, OpenAiBuilder};
pub use models::{ModelTraits, SystemRole, TokenLimit};
pub use options::{OpenAiOptions, OpenRouterOptions};
pub use preset::{Caching, Preset, Route, Schemas, ToolIds};
