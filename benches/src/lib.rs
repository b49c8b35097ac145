//! Shared by the benches: providers that nobody waits for, a server in other threads, CPU time of one thread.
#![allow(clippy::expect_used, reason = "a bench that cannot go on has nothing else to say")]

pub mod cpu;
pub mod ready;
pub mod server;
