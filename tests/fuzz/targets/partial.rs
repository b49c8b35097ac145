#![no_main]
//! JSON that is still being written: linear, no panic, the same in any pieces; what is finished stays so, and is what the
//! extraction reads from the whole text; strings that grow only grow.

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
    let (mut before, mut grown) = (BTreeMap::new(), BTreeMap::<String, String>::new());
    for piece in chars.chunks(size) {
        let changes = parser.push(&piece.iter().collect::<String>());
        let now = leaves(parser.value());
        if !changes.cleared {
            for (pointer, leaf) in &before {
                assert_eq!(now.get(pointer), Some(leaf), "{pointer} was finished");
            }
            for (pointer, text) in &grown {
                let now = parser.value().pointer(pointer).and_then(PartialValue::as_str);
                assert!(now.is_some_and(|now| now.starts_with(text)), "{pointer} was longer");
            }
        }
        before = now;
        grown = growing(parser.value());
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
    collect(value, String::new(), &mut |at, leaf| {
        out.extend(leaf.to_value().filter(|_| leaf.is_finished()).map(|value| (at, value)));
    });
    out
}

fn growing(value: &PartialValue) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    collect(value, String::new(), &mut |at, leaf| {
        out.extend(leaf.as_str().filter(|_| !leaf.is_finished()).map(|text| (at, text.to_owned())));
    });
    out
}

fn collect(value: &PartialValue, at: String, leaf: &mut dyn FnMut(String, &PartialValue)) {
    if let Some(members) = value.members() {
        for (key, member) in members {
            collect(member, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), leaf);
        }
    } else if let Some(items) = value.as_array() {
        items.iter().enumerate().for_each(|(index, item)| collect(item, format!("{at}/{index}"), leaf));
    } else {
        leaf(at, value);
    }
}
