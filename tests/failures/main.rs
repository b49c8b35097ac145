//! Failures that users of LLM clients have met, each as a scenario of its own through the public API: what the provider
//! does, and what becomes of the call. `docs/failures.md` lists them all with their verdicts.
//!
//! What is about time runs against the scripted provider on paused time; what is about bytes over sockets, in real
//! time with short timeouts.

mod breaker;
mod concurrency;
mod config;
mod empty;
mod fallback;
mod json;
mod list;
mod refusal;
mod request;
mod retry;
mod schema;
mod streaming;
mod support;
mod timeout;
mod transport;
mod usage;
