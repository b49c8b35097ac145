//! JSON extraction, schema validation and refusal detection for backstop.
