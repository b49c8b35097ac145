//! Stand-ins for LLM providers in tests.
//!
//! [`MockProvider`] answers by script in process, so tests about time run on a paused clock. [`MockServer`] is a
//! loopback HTTP server that speaks the vendors' wire formats, with faults at any byte, so tests about the wire
//! use the real adapters. [`Recorder`] and [`Replay`] keep a real provider's answers for tests without a network.

pub mod cassette;
mod piece;
pub mod provider;
pub mod server;

pub use cassette::{Recorder, Replay};
pub use piece::Piece;
pub use provider::{MockProvider, Seen, Step};
pub use server::MockServer;
