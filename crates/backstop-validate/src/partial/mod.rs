//! JSON that is still being written: what can be said of it already, piece by piece.
//!
//! ```
//! use backstop_validate::partial::PartialParser;
//!
//! let mut parser = PartialParser::new();
//! parser.push("Sure: {\"name\": \"Ada Love");
//! let name = parser.value().pointer("/name").unwrap();
//! assert_eq!((name.as_str(), name.is_finished()), (Some("Ada Love"), false));
//! let changes = parser.push("lace\", \"born\": 18");
//! assert_eq!(changes.pointers, ["/name"]);
//! assert!(parser.value().pointer("/name").unwrap().is_finished());
//! assert!(parser.value().pointer("/born").is_none(), "18 may become 1815");
//! ```
//!
//! - A leaf that is finished never changes. A string that is growing only grows: it is shown as far as it has come, but
//!   a comma at its end, and blanks there, only once more follows, because where the model forgot the closing quote they
//!   are none of it. Numbers, literals, keys and keys without value are shown once they are complete. Nothing is
//!   filled in.
//! - What it reads is what the [extraction](crate::json::Extractor) reads from the whole text, because it is the same
//!   parser: fences, prose and reasoning around the value, comments, trailing commas and other quotes are no obstacle.
//!   Where the text that is still to come decides how to read something, that is not shown before. Documents that
//!   were escaped as a whole, tuples and objects without braces are not shown at all, nor is anything behind a place
//!   that cannot be read without a guess, a place whose pointer has more than 4 KiB, or many values below a long key.
//! - The whole text may still belie what was shown in three ways: another document follows, all so far turns out to have
//!   been reasoning (`</think>`), or a key is given twice. Then [`Changes::cleared`] says that what was shown is void.
//!
//! Work is linear in the text and the number of its pieces; nothing is read again from its start. Nothing recurses; memory
//! is the text and its values, within [`Limits`](crate::json::Limits).
//!
//! - `finder`: where a document begins, in prose, fences and reasoning;
//! - `parser`: what is found there, read as it grows.

mod finder;
mod parser;

pub use crate::json::growth::PartialValue;
pub use parser::{Changes, PartialParser};
