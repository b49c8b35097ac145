//! JSON extraction, schema validation and refusal detection for backstop.

pub mod coerce;
pub mod json;
pub mod refusal;
