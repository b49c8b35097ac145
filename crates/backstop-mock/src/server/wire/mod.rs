//! The vendors' wire formats, one file each. They are written from the vendors' documentation and share nothing with
//! backstop's adapters: a mistake made twice would not be found.

mod anthropic;
mod encoding;
mod format;
mod gemini;
mod listing;
mod ollama;
mod openai_chat;
mod openai_responses;
mod openai_words;
mod sse;

pub use format::Format;

pub(super) use encoding::{Context, StreamParts};
pub(super) use format::model_in_path;
pub(super) use listing::listing;
