//! Valid answers: JSON out of text that nobody prepared for it, schema checks, refusals, and typed extraction on a
//! chain.
//!
//! | module | holds |
//! | --- | --- |
//! | [`json`] | JSON extraction and repair, every repair recorded |
//! | [`coerce`] | conversion of values to the types that a schema asks for |
//! | [`Schema`] | JSON Schema, compiled once, with violations that a model can act on |
//! | [`refusal`] | whether an answer declines |
//! | [`Typed`], [`Untyped`] | validators: text to a checked value |
//! | [`ChainExt`] | `chain.extract::<T>(…)` |
//! | [`NonEmpty`], [`MinLength`], [`Refusal`], [`FollowsSchema`] | ready checks |

pub mod coerce;
pub mod json;
pub mod refusal;

mod checks;
mod extract;
mod reading;
mod schema;
mod typed;

pub use checks::{CheckedText, FollowsSchema, MinLength, NonEmpty, Refusal};
pub use extract::{ChainExt, Extraction};
pub use schema::{Schema, Violation};
pub use typed::{Typed, Untyped};

/// For `#[derive(JsonSchema)]` on the types that are extracted.
pub use schemars;
