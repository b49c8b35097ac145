#![no_main]
//! JSON out of any text: linear, no panic, what comes out prints, and extracting again changes nothing.

use backstop_validate::json::{Extractor, Policy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for policy in [Policy::Strict, Policy::Tolerant, Policy::Salvage] {
        let extractor = Extractor::new().policy(policy);
        let (found, steps) = extractor.extract_counted(text);
        assert!(steps <= 8 * text.len() as u64 + 512, "{steps} steps for {} bytes", text.len());
        let Ok(found) = found else { continue };
        let printed = serde_json::to_string(&found.value).unwrap();
        let again = extractor.extract(&printed).unwrap();
        assert_eq!(again.value, found.value);
        assert!(again.repairs.is_empty());
        if let Ok(plain) = serde_json::from_str::<serde_json::Value>(text) {
            assert!(!found.repairs.is_empty() || plain == found.value, "changed without a word");
        }
    }
});
