//! Ollama for backstop: its native `/api/chat`.
//!
//! | module | holds |
//! | --- | --- |
//! | `config` | [`Ollama`] and [`OllamaBuilder`]: base URL, key, HTTP client |
//! | `host` | the forms of `OLLAMA_HOST` |
//! | `models` | [`ModelTraits`]: what a model takes, by name |
//! | `options` | [`OllamaOptions`]: context size, keep-alive, thinking |
//! | `request` | from an attempt to JSON |
//! | `response`, `stream` | from JSON or lines of it to an answer |
//! | `error` | from an error to a kind of failure |
//! | `provider` | one attempt, made of these |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use backstop_core::{Chain, Request};
//! use backstop_ollama::{Ollama, OllamaOptions};
//!
//! let options = OllamaOptions::new().num_ctx(16_384).keep_alive(Duration::from_secs(600));
//! let chain = Chain::builder().target(Ollama::local().model("llama3.1:8b")).build()?;
//! let answer = chain.complete(Request::new("Name a colour.").options(&options)?).await?;
//! println!("{}", answer.value);
//! # Ok(()) }
//! ```
//!
//! # What the server is like
//!
//! - Left to itself it silently drops the oldest messages of a prompt that is longer than the context, and later the
//!   beginning of a conversation that outgrows it. Both are switched off (`truncate: false`, `shift: false`), so that
//!   there is a `ContextTooLong` or a `Length` instead; [`OllamaOptions`] switch them on again.
//! - The context is small by default and depends on the machine: set `num_ctx` for long prompts. Another `num_ctx`
//!   than that of the loaded model loads it anew.
//! - The first call may load the model for many seconds: give the target a long timeout.
//! - A schema goes over the wire as `format`, which the server turns into a grammar. A grammar never shows the model
//!   what it must write, so the schema goes into the prompt too. Ollama's cloud holds answers to no schema: there it
//!   goes into the prompt alone.
//! - There are no documents and no pictures by address, and no way to demand a tool call: a tool that must be called
//!   is sent alone, which is noted in the response.
//! - There is no refusal signal, no request id and no count of cached or reasoning tokens.

mod config;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod host;
mod models;
mod options;
mod provider;
mod request;
mod response;
mod stream;

pub use backstop_http::{ClientOptions, HttpClient};
pub use config::{Ollama, OllamaBuilder};
pub use models::ModelTraits;
pub use options::{KeepAlive, OllamaOptions, Think};
