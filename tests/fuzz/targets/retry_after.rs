#![no_main]
//! Waits in any form: none is longer than the longest.

use std::time::{Duration, SystemTime};

use backstop_http::retry_after;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    for wait in [retry_after::parse(text, now), retry_after::parse_duration(text)].into_iter().flatten() {
        assert!(wait <= retry_after::LONGEST, "{wait:?}");
    }
});
