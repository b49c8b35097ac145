#![no_main]
//! Answers, errors and streams of the Messages API; see `backstop_http::testing`.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| backstop_anthropic::fuzzing::decode(data));
