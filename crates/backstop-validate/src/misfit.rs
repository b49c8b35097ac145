//! Where in a value it is that a Rust type does not take it, although it follows the schema.
//!
//! serde says that something is wrong, but not where. A parser of text at least stops near by: the value is written
//! down and read once more, and the place where the reading ends is looked up among the places where values end.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json::pointer::{Segment, pointer};

/// The JSON pointer of what does not fit; empty for the whole value, or where nobody can tell.
pub(crate) fn place<T: DeserializeOwned>(value: &Value) -> String {
    let mut written = Written::default();
    written.value(value, ROOT);
    match serde_json::from_str::<T>(&written.text) {
        // Errors about the whole value have no position.
        Err(error) if error.line() == 1 => written.ends_before(error.column()),
        _ => String::new(),
    }
}

/// The place of the whole value; that of a member is one more than its index in [`Written::members`].
const ROOT: usize = 0;

/// A text on one line, and the places of its values with the offsets by which a reader has left them.
#[derive(Default)]
struct Written<'v> {
    text: String,
    /// Of each member the place around it and its step from there. Whole pointers would take more than the value.
    members: Vec<(usize, Segment<'v>)>,
    ends: Vec<(usize, usize)>,
}

impl<'v> Written<'v> {
    fn value(&mut self, value: &'v Value, place: usize) {
        match value {
            Value::Object(members) => {
                self.text.push('{');
                for (n, (key, member)) in members.iter().enumerate() {
                    let inner = self.member(place, Segment::Key(key));
                    self.text.push_str(if n == 0 { "" } else { "," });
                    self.text.push_str(&Value::from(key.as_str()).to_string());
                    self.ends.push((self.text.len(), inner));
                    self.text.push(':');
                    self.value(member, inner);
                }
                self.close('}', place);
            }
            Value::Array(items) => {
                self.text.push('[');
                for (n, item) in items.iter().enumerate() {
                    let inner = self.member(place, Segment::Index(n));
                    self.text.push_str(if n == 0 { "" } else { "," });
                    self.value(item, inner);
                }
                self.close(']', place);
            }
            scalar => {
                self.text.push_str(&scalar.to_string());
                self.ends.push((self.text.len(), place));
                self.text.push(' ');
            }
        }
    }

    fn member(&mut self, around: usize, step: Segment<'v>) -> usize {
        self.members.push((around, step));
        self.members.len()
    }

    /// What a reader rejects of the last member it says only after the bracket, but before the blank behind it.
    fn close(&mut self, bracket: char, place: usize) {
        self.text.push(bracket);
        self.text.push(' ');
        self.ends.push((self.text.len(), place));
    }

    fn ends_before(&self, offset: usize) -> String {
        let before = self.ends.iter().rev().find(|(end, _)| *end <= offset);
        let mut at = before.map_or(ROOT, |(_, place)| *place);
        let mut steps = Vec::new();
        while let Some((around, step)) = at.checked_sub(1).and_then(|index| self.members.get(index)) {
            steps.push(*step);
            at = *around;
        }
        pointer(steps.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(try_from = "i64")]
    struct Even(#[allow(dead_code)] i64);

    impl TryFrom<i64> for Even {
        type Error = &'static str;

        fn try_from(number: i64) -> Result<Self, Self::Error> {
            if number % 2 == 0 { Ok(Self(number)) } else { Err("odd") }
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(try_from = "Unchecked")]
    struct Span;

    #[derive(Debug, Deserialize)]
    struct Unchecked {
        from: u8,
        to: u8,
    }

    impl TryFrom<Unchecked> for Span {
        type Error = &'static str;

        fn try_from(span: Unchecked) -> Result<Self, Self::Error> {
            if span.from <= span.to { Ok(Self) } else { Err("backwards") }
        }
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct All {
        a: Even,
        b: Vec<Even>,
        c: BTreeMap<String, Span>,
        d: Span,
        e: Option<u8>,
    }

    #[test]
    fn the_place_is_found_at_any_depth_and_at_the_end_of_anything() {
        let span = |from: u8| json!({"from": from, "to": 5});
        let good = json!({"a": 2, "b": [4, 6], "c": {"x/y": span(1), "z": span(2)}, "d": span(3), "e": 1});
        assert!(serde_json::from_value::<All>(good.clone()).is_ok());
        let table = [
            ("/a", json!(3)),
            ("/b/0", json!(3)),
            ("/b/1", json!(3)),
            ("/c/x~1y", span(9)),
            ("/c/z", span(9)),
            ("/c/z/to", json!(256)),
            ("/d", span(9)),
            ("/d/from", json!(-1)),
            ("/e", json!(300)),
        ];
        for (pointer, bad) in table {
            let mut value = good.clone();
            *value.pointer_mut(pointer).unwrap() = bad;
            assert_eq!(place::<All>(&value), pointer);
        }
        assert_eq!(place::<All>(&good), "");
        // A pointer of each of these items would take two gigabytes together.
        let key = "k".repeat(100_000);
        let mut many = vec![json!(1); 20_000];
        many.push(json!(300));
        let pointer = place::<BTreeMap<String, Vec<u8>>>(&json!({ key.as_str(): many }));
        assert_eq!(pointer, format!("/{key}/20000"));
        assert_eq!(place::<Even>(&json!(3)), "");
        assert_eq!(place::<Span>(&span(9)), "");
    }
}
