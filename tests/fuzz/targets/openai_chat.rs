#![no_main]
//! Answers, errors and streams of Chat Completions; see `backstop_http::testing`.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| backstop_openai::fuzzing::chat(data));
