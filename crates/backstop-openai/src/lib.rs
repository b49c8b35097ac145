//! OpenAI Chat Completions and compatible servers for backstop.
//!
//! | module | holds |
//! | --- | --- |
//! | `config` | [`OpenAi`] and [`OpenAiBuilder`]: key, base URL, HTTP client |
//! | `models` | [`ModelTraits`]: which parameters a model takes, by name |
//! | `request` | from an attempt to JSON |
//! | `response`, `stream` | from JSON or server-sent events to an answer |
//! | `error` | from an error response to a kind of failure |
//! | `provider` | one attempt, made of these |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use backstop_core::Chain;
//! use backstop_openai::OpenAi;
//!
//! let chain = Chain::builder()
//!     .target(OpenAi::from_env()?.model("gpt-4o"))
//!     .target(OpenAi::builder().name("local").base_url("http://localhost:8000/v1").build()?.model("qwen3"))
//!     .build()?;
//! println!("{}", chain.complete("Name a colour.").await?.value);
//! # Ok(()) }
//! ```
//!
//! A schema is enforced by the server where it can be (`strict`), given as a hint where it cannot, and put into the
//! prompt where the server knows no schemas; see [`backstop_http::schema`]. What a model does not take is left out and
//! noted in [`Response::notes`](backstop_core::Response::notes).

mod config;
mod error;
mod models;
mod options;
mod provider;
mod request;
mod response;
mod stream;

pub use backstop_http::{ClientOptions, HttpClient};
pub use config::{Auth, OpenAi, OpenAiBuilder};
pub use models::{ModelTraits, SystemRole, TokenLimit};
pub use options::OpenAiOptions;
