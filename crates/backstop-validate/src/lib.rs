//! JSON extraction, schema validation and refusal detection for backstop.

pub mod refusal;
