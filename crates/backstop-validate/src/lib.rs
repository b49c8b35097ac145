//! Valid answers: JSON out of text that nobody prepared for it, schema checks, refusals, and typed extraction on a
//! chain.
//!
//! | module | holds |
//! | --- | --- |
//! | [`json`] | JSON extraction and repair, every repair recorded |
//! | [`partial`] | JSON that is still being written |
//! | [`coerce`] | conversion of values to the types that a schema asks for |
//! | [`Schema`] | JSON Schema, compiled once, with violations that a model can act on |
//! | [`refusal`] | whether an answer declines |
//! | [`Typed`], [`Untyped`] | validators: text to a checked value |
//! | [`rules`] | rules on the typed value, beyond its schema |
//! | [`ChainExt`] | `chain.extract::<T>(…)` |
//! | [`ExtractionStream`] | `chain.extractor::<T>().stream()` |
//! | [`NonEmpty`], [`MinLength`], [`Refusal`], [`FollowsSchema`] | ready checks that say yes or no |
//! | [`Grounded`], [`Judge`], [`InputSeen`], [`Weighted`] | ready checks with a score and a threshold |
//! | [`CheckExt`] | checks made of checks |

pub mod coerce;
pub mod json;
pub mod partial;
pub mod refusal;
pub mod rules;

mod checks;
mod echo;
mod extract;
mod misfit;
mod reading;
mod schema;
mod streamed;
mod typed;
mod untyped;

pub use checks::{
    Against, And, CheckExt, CheckedText, FollowsSchema, Grade, Grounded, InputSeen, Inverted, Judge,
    JudgeStats, MinLength, NonEmpty, Or, PassFail, Refusal, Score, Unjudged, Weighted,
};
pub use extract::{ChainExt, Extraction};
pub use schema::{Schema, Violation};
pub use streamed::{ExtractionStream, StreamedExtraction, Update};
pub use typed::Typed;
pub use untyped::Untyped;

/// For `#[derive(Validate)]` on types whose own rules are checked ([`Typed::validated`]). The derive macro needs the
/// crate beside this one, under its own name.
#[cfg(feature = "garde")]
pub use garde;
/// For `#[derive(JsonSchema)]` on the types that are extracted.
pub use schemars;
