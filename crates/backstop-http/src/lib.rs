//! What every HTTP adapter of backstop shares.
//!
//! | module | holds |
//! | --- | --- |
//! | [`ClientOptions`], [`HttpClient`] | settings of the HTTP client; no redirects, no retries of its own |
//! | [`BaseUrl`], [`ApiKey`] | where a provider is, and with which credential; neither is ever printed whole |
//! | [`Connect`], [`Endpoint`] | the settings that all builders share, and what is made of them |
//! | [`provider_options!`] | the shape of the options that only one adapter understands |
//! | [`Post`], [`Reply`], [`Opened`] | one request and its response, read within limits |
//! | [`SseDecoder`], [`NdjsonDecoder`] | streams, decoded as they arrive |
//! | [`streaming`] | from a body to the chunks of an answer, and from chunks to an answer |
//! | [`lenient`] | fields of a vendor's JSON that never fail |
//! | [`Fields`] | a request's JSON, with what the caller lays over it |
//! | [`check_numbers`] | what no vendor takes, before it is rendered |
//! | [`room_for`] | how many bytes the body of a request takes |
//! | [`CacheControl`] | the mark at the end of what is worth caching |
//! | [`retry_after`] | when a server says "later", how much later |
//! | [`ErrorBody`], [`recognise`] | what a vendor's error says, and which kind of failure it means |
//! | [`schema`] | a JSON Schema in the dialect that a vendor accepts |
//! | `testing` | what the decoders of an adapter must keep on any bytes (feature `testing`) |
//!
//! An adapter renders a request, sends it with [`HttpClient::send`] or [`HttpClient::open`], and turns the reply into
//! a [`Response`](backstop_core::Response) or, with [`recognise::http_error`], into a
//! [`ProviderError`](backstop_core::ProviderError). It makes one attempt; what a failure leads to is the chain's
//! decision.

mod base_url;
mod cache_control;
mod client;
mod connections;
mod endpoint;
mod error_body;
mod exchange;
mod fields;
pub mod lenient;
mod lines;
mod media_type;
mod ndjson;
mod numbers;
mod options;
pub mod recognise;
pub mod retry_after;
mod room;
pub mod schema;
mod secret;
mod sse;
pub mod streaming;
#[cfg(any(fuzzing, feature = "testing"))]
pub mod testing;

pub use base_url::BaseUrl;
pub use cache_control::CacheControl;
pub use client::{ClientOptions, HttpClient, Tls};
pub use endpoint::{Connect, Endpoint};
pub use error_body::ErrorBody;
pub use exchange::{Opened, Post, Reply};
pub use fields::Fields;
pub use lines::{DecodeError, StreamLimits};
pub use ndjson::NdjsonDecoder;
pub use numbers::check_numbers;
pub use reqwest::header;
pub use room::room_for;
pub use secret::{ApiKey, process_env};
pub use sse::{SseDecoder, SseEvent, SseItem};
