//! Shared by the benches: documents to read, providers that nobody waits for, a server in other threads, CPU time of one
//! thread.
#![allow(clippy::expect_used, reason = "a bench that cannot go on has nothing else to say")]

pub mod cpu;
pub mod documents;
pub mod ready;
pub mod server;
