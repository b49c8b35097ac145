#![no_main]
//! Any JSON as a schema, in every dialect.

use backstop_http::schema::{Dialect, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(schema) = serde_json::from_str(text) else { return };
    let dialects = [
        Dialect::OPENAI_STRICT,
        Dialect::OPENAI_LOOSE,
        Dialect::ANTHROPIC,
        Dialect::ANTHROPIC_TOOL,
        Dialect::GEMINI_JSON,
        Dialect::GEMINI_OPENAPI,
        Dialect::GRAMMAR,
        Dialect::PROMPT,
    ];
    for dialect in &dialects {
        let _ = render(&schema, dialect);
    }
});
