#![no_main]
//! Any value by any schema: nothing is changed without a word.

use backstop_validate::coerce::{Mode, coerce};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (&str, &str)| {
    let (Ok(value), Ok(schema)) =
        (serde_json::from_str::<Value>(input.0), serde_json::from_str::<Value>(input.1))
    else {
        return;
    };
    for mode in [Mode::Off, Mode::Safe, Mode::Eager] {
        let (changed, coercions) = coerce(value.clone(), &schema, mode);
        assert!(changed == value || !coercions.is_empty());
    }
});
