//! Recorded providers: ask a real one once, play its answers back in tests for ever after.
//!
//! A [`Recorder`] stands before a provider and writes what it is asked and what it answers into a cassette, a file of
//! JSON lines; a [`Replay`] answers from that file. A cassette holds prompts and answers in clear, so record with data
//! that may be in a repository. It holds no key and no header's value: neither is looked at. Of fields for the
//! vendor's body only the names are kept, of pictures and documents length and digest, of addresses nothing after the
//! path.
//!
//! ```text
//! {"backstop_cassette":1,"provider":"openai"}
//! {"number":1,"asked":{"model":"gpt-4o","messages":[…],…},"answer":{"response":{"text":"blue",…}}}
//! {"number":2,"asked":{…},"answer":{"error":{"kind":"overloaded","status":529,…}}}
//! {"number":3,"asked":{…},"answer":{"stream":{"chunks":[{"text":"bl"},{"text":"ue"},…],"end":"finished"}}}
//! {"number":4,"asked":{…},"answer":"cancelled"}
//! ```

mod asked;
mod entry;
mod error;
mod recorder;
mod replay;
mod tape;

pub use error::{CassetteError, Unmatched};
pub use recorder::Recorder;
pub use replay::{Matching, Replay};
