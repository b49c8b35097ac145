//! The tolerant parser: one pass over the text, on a stack of its own, that reads what models write instead of JSON.
//!
//! It repairs only where the next few tokens leave one sensible reading, notes every repair, and halts otherwise: a
//! wrong value costs more than a refusal. Looking ahead never goes further than to the next quote, comma or word, so
//! that the work stays within a small multiple of the text.
//!
//! A parse may be open: the text is still coming. Then a step that has looked at its end is undone and waits,
//! so that what was read stays read whatever follows.
//!
//! - `parser`: its state, and what every reader does with it; `step`: what comes next, and how it ends;
//! - `structure`: objects and arrays;
//! - `trivia`: blanks and comments, and what a key or value can start with;
//! - `quoted`, `quotes` and `ends`: strings, and which quote ends one;
//! - `bare`: what stands without quotes: keys, literals, numbers, words;
//! - `closers`: brackets, matched and not;
//! - `growing` and `progress`: texts that come in pieces.

mod bare;
mod closers;
mod ends;
mod growing;
mod parser;
mod progress;
mod quoted;
mod quotes;
mod step;
mod structure;
mod trivia;

pub(crate) use parser::{Options, Tolerant};
pub(crate) use step::End;
