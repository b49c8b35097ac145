//! A typed call over loopback, by each client.

pub mod bare;
pub mod client;
pub mod document;
pub mod ours;
pub mod server;
