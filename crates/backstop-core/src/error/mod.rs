//! Everything that can go wrong, from one attempt to the whole call.
//!
//! A [`ProviderError`] (hard) or a [`Rejection`] (soft) is one attempt's [`Failure`]; its [`FailureKind`] is what
//! the policy's table is asked about. A [`ChainError`] is the whole call's, with the report of all attempts.
//! A [`ConfigError`] is the caller's own mistake, found before anything is sent.

mod chain;
mod config;
mod kind;
mod plain;
mod provider;
mod rejection;

pub use chain::{ChainError, ChainErrorKind};
pub use config::ConfigError;
pub use kind::{Failure, FailureKind};
pub use plain::plain;
pub use provider::{ProviderError, Stage};
pub use rejection::Rejection;
