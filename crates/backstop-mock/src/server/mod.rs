//! A loopback server that speaks the wire formats of LLM vendors, for integration tests of whole HTTP clients.
//!
//! [`MockServer`] answers by script. A [`Reply`] is what one request gets: a [`Completion`] or an [`ApiError`] in the
//! words of the vendor whose endpoint was called, or raw bytes; [`Streaming`] says how it is cut into events. A reply
//! also carries faults: delays, trickling, cuts at any byte, resets, silence. A [`Gate`] holds a reply until the test
//! lets it go, so that order is tested without sleeping. The server records every [`Received`] request and every
//! [`Disconnect`], which is how a test sees that a dropped call closed its connection. [`OnConnect`] and
//! [`ClosedPort`] are for what happens before any request.
//!
//! The formats are written from the vendors' documentation and share no code with backstop's adapters.
//!
//! ```
//! use backstop_mock::server::{MockServer, Reply};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = MockServer::start().await?;
//! server.push(Reply::text(r#"{"number":"A-1"}"#));
//! // OpenAi::builder().base_url(server.url()).api_key("test").build()?
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```

mod api_error;
mod closed_port;
mod completion;
mod connection;
mod error;
mod fault;
mod gate;
mod http;
mod log;
mod mock_server;
mod part;
mod payload;
mod plan;
mod player;
mod received;
mod reply;
mod script;
mod serve;
mod streaming;
mod wait;
mod wire;

pub use api_error::ApiError;
pub use closed_port::ClosedPort;
pub use completion::Completion;
pub use error::MockError;
pub use fault::{End, OnConnect};
pub use gate::Gate;
pub use log::Disconnect;
pub use mock_server::MockServer;
pub use received::{Received, ReceivedMessage};
pub use reply::Reply;
pub use script::Script;
pub use streaming::Streaming;
pub use wire::Format;
