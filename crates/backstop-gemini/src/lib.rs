//! Google Gemini for backstop: `generateContent` and `streamGenerateContent`.
//!
//! | module | holds |
//! | --- | --- |
//! | `config` | [`Gemini`] and [`GeminiBuilder`]: key, base URL, HTTP client |
//! | `models` | [`ModelTraits`]: what a model takes, by name |
//! | `options` | [`GeminiOptions`]: safety settings, thinking, cached content |
//! | `request` | from an attempt to JSON |
//! | `response`, `stream` | from JSON or server-sent events to an answer |
//! | `error` | from an error to a kind of failure |
//! | `provider` | one attempt, made of these |
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use backstop_core::{Chain, Request};
//! use backstop_gemini::{Gemini, GeminiOptions, HarmCategory, HarmThreshold};
//!
//! let options =
//!     GeminiOptions::new().safety(HarmCategory::DangerousContent, HarmThreshold::OnlyHigh).thinking_budget(0);
//! let chain = Chain::builder().target(Gemini::from_env()?.model("gemini-2.5-flash")).build()?;
//! let answer = chain.complete(Request::new("Name a colour.").options(&options)?).await?;
//! println!("{}", answer.value);
//! # Ok(()) }
//! ```
//!
//! # What the vendor's API asks for
//!
//! - The key goes into the header `x-goog-api-key`, never into the URL.
//! - A schema is sent as `responseJsonSchema` with `propertyOrdering`, to models before 2.5 as `responseSchema`.
//!   What neither can express goes into the prompt, beside JSON mode.
//! - Models before Gemini 3 take no schema beside tools: the schema goes into the prompt then.
//! - Thoughts are left out of the text and counted as reasoning. They use up `max_tokens`: with a small limit an
//!   answer may be cut off before its first word.
//! - Gemini 3 and later want a thought signature on every step of past tool calls. It comes with the call, as
//!   [`ToolCall::signature`](backstop_core::ToolCall::signature), and goes back with it. For calls of other models,
//!   which have none, the documented stand-in is sent, which switches the check off.
//! - `seed` has 31 bits; the rest is cut off. `metadata` and file names have no place and are not sent.
//! - Media by address must be an address that Google can read: an upload of the Files API, or what the model's
//!   documentation lists. All bytes within a request come to at most 20 MB.
//! - A parameter that Google refuses is named in the error as the request or [`GeminiOptions`] name it, for
//!   [`Target::may_drop`](backstop_core::Target::may_drop).
//! - A blocked prompt and a blocked answer are a [`Response`](backstop_core::Response) with the finish kind
//!   `ContentFilter` and Google's word for the reason.

mod config;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod models;
mod options;
mod params;
mod provider;
mod request;
mod response;
mod stream;

pub use backstop_http::{ClientOptions, HttpClient};
pub use config::{Auth, Gemini, GeminiBuilder};
pub use models::{ModelTraits, SchemaField};
pub use options::{GeminiOptions, HarmCategory, HarmThreshold, SafetySetting};
