#![no_main]
//! JSON that is still being written: linear, no panic, the same in any pieces; what is finished stays so, and is what the
//! extraction reads from the whole text.

use std::collections::BTreeMap;

use backstop_validate::{
    json::Extractor,
    partial::{PartialParser, PartialValue},
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (u8, &str)| {
    let (size, text) = (usize::from(input.0 % 32) + 1, input.1);
    let chars: Vec<char> = text.chars().collect();
    let mut parser = PartialParser::new();
    let mut before = BTreeMap::new();
    for piece in chars.chunks(size) {
        let changes = parser.push(&piece.iter().collect::<String>());
        let now = leaves(parser.value());
        if !changes.cleared {
            for (pointer, leaf) in &before {
                assert_eq!(now.get(pointer), Some(leaf), "{pointer} was finished");
            }
        }
        before = now;
    }
    let steps = parser.steps();
    let allowed = 17 * text.len() + 256 * chars.len().div_ceil(size) + 4096;
    assert!(steps <= allowed as u64, "{steps} steps for {} bytes", text.len());
    parser.finish();
    let mut whole = PartialParser::new();
    whole.push(text);
    whole.finish();
    // A string at which reading ended may have been shown further in one than in the other.
    assert_eq!(leaves(parser.value()), leaves(whole.value()));
    let Ok(found) = Extractor::new().extract(text) else { return };
    if parser.start() == Some(found.span.start) {
        for (pointer, leaf) in leaves(parser.value()) {
            assert_eq!(found.value.pointer(&pointer), Some(&leaf), "{pointer}");
        }
    }
});

fn leaves(value: &PartialValue) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    collect(value, String::new(), &mut out);
    out
}

fn collect(value: &PartialValue, at: String, out: &mut BTreeMap<String, Value>) {
    if let Some(members) = value.members() {
        for (key, member) in members {
            collect(member, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
        }
    } else if let Some(items) = value.as_array() {
        items.iter().enumerate().for_each(|(index, item)| collect(item, format!("{at}/{index}"), out));
    } else if value.is_finished() {
        out.extend(value.to_value().map(|leaf| (at, leaf)));
    }
}
