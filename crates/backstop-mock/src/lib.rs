//! Stand-ins for LLM providers in tests.
//!
//! [`MockProvider`] answers by script in process, so tests about time run on a paused clock. [`MockServer`] is a
//! loopback HTTP server that speaks the vendors' wire formats, with faults at any byte, so tests about the wire
//! use the real adapters.

mod piece;
pub mod provider;
pub mod server;

pub use piece::Piece;
pub use provider::{MockProvider, Seen, Step};
pub use server::MockServer;
