//! Fields named as the JSON names them.

use serde_json::Value;

use crate::json::pointer::{Segment, push};

/// The pointer of a place as the JSON has it. A rule may know a field by its Rust name, where serde has made
/// `invoiceNumber` of `invoice_number`: a name that is not there is taken for the one that differs in case, `_` or `-`
/// only.
pub(super) fn as_in_json(pointer: &str, json: &Value) -> String {
    if pointer.is_empty() || json.pointer(pointer).is_some() {
        return pointer.to_owned();
    }
    let (mut named, mut place) = (String::new(), Some(json));
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        place = match place {
            Some(Value::Object(map)) => {
                let key = match map.contains_key(&name) {
                    true => Some(&name),
                    false => map.keys().find(|key| plain(key) == plain(&name)),
                };
                push(&mut named, Segment::Key(key.unwrap_or(&name)));
                key.and_then(|key| map.get(key))
            }
            other => {
                push(&mut named, Segment::Key(&name));
                other.and_then(|value| value.get(name.parse::<usize>().ok()?))
            }
        };
    }
    named
}

fn plain(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rust_names_become_those_of_the_json() {
        let json = json!({"billTo": {"post-code": 1}, "lines": [{"unitPrice": 2}], "a/b": {"c": 3}});
        assert_eq!(as_in_json("/bill_to/post_code", &json), "/billTo/post-code");
        assert_eq!(as_in_json("/lines/0/unit_price", &json), "/lines/0/unitPrice");
        assert_eq!(as_in_json("/lines/7/unit_price", &json), "/lines/7/unit_price");
        assert_eq!(as_in_json("/A~1B/C", &json), "/a~1b/c");
        assert_eq!(as_in_json("", &json), "");
    }
}
