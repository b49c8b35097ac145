#![no_main]
//! Error bodies of any shape.

use backstop_http::ErrorBody;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let body = ErrorBody::read(bytes);
    let _ = body.is_empty();
});
