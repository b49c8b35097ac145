//! Anthropic's Messages API for backstop, and servers that speak it.
//!
//! | module | holds |
//! | --- | --- |
//! | `config` | [`Anthropic`] and [`AnthropicBuilder`]: key, base URL, API version, HTTP client |
//! | `models` | [`ModelTraits`]: which parameters a model takes, by name |
//! | `options` | [`AnthropicOptions`]: what only this vendor has, such as thinking and its own fallbacks |
//! | `request` | from an attempt to JSON |
//! | `response`, `stream` | from JSON or server-sent events to an answer |
//! | `error` | from an error response to a kind of failure |
//! | `provider` | one attempt, made of these |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use backstop_anthropic::Anthropic;
//! use backstop_core::Chain;
//!
//! let anthropic = Anthropic::from_env()?;
//! let chain = Chain::builder()
//!     .target(anthropic.model("claude-sonnet-4-5"))
//!     .target(anthropic.model("claude-haiku-4-5"))
//!     .build()?;
//! println!("{}", chain.complete("Name a colour.").await?.value);
//! # Ok(()) }
//! ```
//!
//! # How an answer is held to a schema
//! In this order, the first that model and request allow:
//! 1. `output_config.format`: the vendor constrains the answer. Not for models before 4.5 (Opus: 4.1), nor for
//!    schemas beyond the vendor's subset (24 optional properties, 16 places with several types, no recursion).
//! 2. A tool that must be called, whose input is the answer. Not together with thinking, nor for models that cannot
//!    be forced to call a tool (5 and later), nor where the caller forces a tool of its own.
//! 3. The schema in the prompt. There is no JSON mode: [`Output::Json`](backstop_core::Output::Json) goes into the
//!    prompt as well.
//!
//! A schema that the vendor refuses leads to the next of these. A conversation that ends with the model's own words
//! (a prefill) always takes the third. What was not the first choice is said in
//! [`Response::notes`](backstop_core::Response::notes).
//!
//! # What the vendor wants
//! - `max_tokens` is required. Without one in the request, [`ModelTraits::max_tokens`] is sent: 8,192, for models that
//!   think by default 16,384, never more than the model can write. Thinking counts towards it.
//! - API version `2026-10-21` takes no `temperature`, `top_p` or `top_k`, and no version takes them for Claude 4.7 and
//!   later; models from 4.1 on take one of the first two. What is not taken is left out and noted. `temperature` is
//!   held to at most 1.
//! - Pictures are JPEG, PNG, GIF or WebP; documents PDF or text. Other media types are
//!   [`Unsupported`](backstop_core::FailureKind::Unsupported), so that a chain goes on to a target that takes them.
//! - A request may have 32 MB.
//! - [`CacheHint`](backstop_core::CacheHint)s become `cache_control`. That the vendor takes four of them is not
//!   confirmed: [`ModelTraits::cache_breakpoints`] can be changed. If there are more, the first ones are dropped.
//! - `seed` and metadata other than `user_id` do not exist there.
//!
//! # What is not supported
//! Thinking blocks are not given back to the model in later turns, because a neutral conversation has no place for
//! them; so `thinking` is left out, and noted, once a conversation holds tool calls. Server tools, files, containers
//! and batches have no typed form; [`Request::extra_body`](backstop_core::Request::extra_body) reaches them, and
//! [`Response::raw`](backstop_core::Response::raw) shows what came of it. Bedrock and Vertex AI sign and address
//! requests in their own ways and are not spoken.

mod config;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod models;
mod options;
mod provider;
mod request;
mod response;
mod stream;

pub use backstop_http::{ClientOptions, HttpClient};
pub use config::{Anthropic, AnthropicBuilder, Auth};
pub use models::{ModelTraits, Sampling};
pub use options::{AnthropicOptions, Fallback, Fallbacks, Thinking};
