//! JSON out of the text a model wrote.
//!
//! Models wrap JSON in prose, fences and reasoning, write it like JavaScript or Python, and stop in the middle. This
//! module gets the value out, in a fixed order, and stops at the first step that gives one:
//!
//! 1. the whole text as strict JSON: valid JSON is never altered;
//! 2. without reasoning (`<think>…</think>`), the values inside prose and code fences, each parsed where it starts,
//!    strictly and then tolerantly;
//! 3. a choice among them: what fits the caller's schema; several different ones are ambiguous.
//!
//! Every change is a [`Repair`] with its [`Risk`]; a [`Policy`] says how far to go. What would be a guess is refused, and
//! a text that was cut off is [`ExtractError::Truncated`], because a cut number or string passes every schema. Nothing
//! is ever filled in.
//!
//! Time is linear in the text and nothing recurses on its nesting, whatever it holds.
//!
//! ```
//! use backstop_validate::json::{CutState, ExtractError, Extractor};
//!
//! let cut = Extractor::new().extract("{\"name\": \"Ada\", \"amount\": 12").unwrap_err();
//! let ExtractError::Truncated(at) = cut else { panic!("{cut}") };
//! assert_eq!((at.pointer.as_str(), at.state), ("/amount", CutState::Number));
//! ```
//!
//! Inside: `cursor`, `escape`, `number` and `pointer` are the tokens; `strict` and `tolerant` the two parsers;
//! `candidates` (with `plausible`, `fences`, `thinking`, `escaped`, `found`) the scan between values; `choose` the choice;
//! `growth` what has come of a value that is still being written.

mod accept;
mod attempt;
mod candidates;
mod choose;
pub(crate) mod cursor;
mod error;
mod escape;
pub(crate) mod escaped;
mod extract;
mod extracted;
pub(crate) mod fences;
mod found;
mod frames;
pub(crate) mod growth;
mod number;
pub(crate) mod plausible;
pub(crate) mod pointer;
mod policy;
mod repair;
mod strict;
pub(crate) mod thinking;
pub(crate) mod tolerant;
mod truncation;

pub use accept::{Accept, Fit};
pub use error::ExtractError;
pub use extract::Extractor;
pub use extracted::Extracted;
pub use found::Source;
pub use policy::{Candidates, Limits, Policy};
pub use repair::{Repair, RepairKind, Risk};
pub use truncation::{CutState, Truncation};
