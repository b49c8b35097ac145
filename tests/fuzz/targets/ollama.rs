#![no_main]
//! Answers, errors and streams of `/api/chat`; see `backstop_http::testing`.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| backstop_ollama::fuzzing::decode(data));
