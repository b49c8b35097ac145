#![no_main]
//! Any text as an answer: the points are the sum of the evidence, and spans lie in the text.

use std::sync::LazyLock;

use backstop_validate::refusal::Detector;
use libfuzzer_sys::fuzz_target;

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| Detector::balanced().prepared());

fuzz_target!(init: {
    // Compiling the patterns takes longer than any text may.
    LazyLock::force(&DETECTOR);
}, |text: &str| {
    let verdict = DETECTOR.detect(text);
    assert_eq!(verdict.points, verdict.evidence.iter().map(|evidence| evidence.points).sum::<i32>());
    assert!(verdict.evidence.iter().all(|evidence| text.get(evidence.span.clone()).is_some()));
});
