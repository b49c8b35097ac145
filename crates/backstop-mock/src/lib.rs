//! Stand-ins for LLM providers in tests: [`MockProvider`] answers by script in process.

pub mod provider;

pub use provider::{MockProvider, Seen, Step};
