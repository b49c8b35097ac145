//! A JSON value that may still grow.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Number, Value};

/// A JSON value that is still being written, or a part of one. `Debug` shows its shape, never what it holds.
#[derive(Clone, Default, PartialEq)]
pub struct PartialValue {
    node: Node,
    finished: bool,
}

#[derive(Clone, Default, PartialEq)]
pub(super) enum Node {
    #[default]
    Nothing,
    /// Null, a boolean or a number.
    Scalar(Value),
    Text(String),
    Array(Vec<PartialValue>),
    Object(BTreeMap<String, PartialValue>),
}

/// Nothing yet.
pub(crate) static NOTHING: PartialValue = PartialValue { node: Node::Nothing, finished: false };

impl PartialValue {
    pub(super) fn growing(node: Node) -> Self {
        Self { node, finished: false }
    }

    pub(super) fn leaf(value: Value) -> Self {
        let node = match value {
            Value::String(text) => Node::Text(text),
            scalar => Node::Scalar(scalar),
        };
        Self { node, finished: true }
    }

    pub(super) fn node_mut(&mut self) -> &mut Node {
        &mut self.node
    }

    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether there is nothing to show yet. Only a whole document can be nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self.node, Node::Nothing)
    }

    /// Whether it is complete. A leaf that is finished stays as it is; a container that is finished is closed, and all in
    /// it is finished.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether it is a null that the model wrote.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Scalar(Value::Null))
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Node::Scalar(value) = &self.node { value.as_bool() } else { None }
    }

    /// The number, if it is one. It is always finished.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        if let Node::Scalar(Value::Number(number)) = &self.node { Some(number) } else { None }
    }

    /// The text of a string as far as it has come, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Node::Text(text) = &self.node { Some(text) } else { None }
    }

    /// The items so far, if it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Node::Array(items) = &self.node { Some(items) } else { None }
    }

    /// The members so far, sorted by their keys, if it is an object.
    #[must_use]
    pub fn members(&self) -> Option<impl ExactSizeIterator<Item = (&str, &Self)>> {
        if let Node::Object(members) = &self.node {
            Some(members.iter().map(|(key, value)| (key.as_str(), value)))
        } else {
            None
        }
    }

    /// The member of an object with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        if let Node::Object(members) = &self.node { members.get(key) } else { None }
    }

    /// What a JSON pointer (RFC 6901) points at, `/items/0/name` for example; the empty pointer is the value itself.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, segment| match &value.node {
            Node::Object(members) => members.get(segment.replace("~1", "/").replace("~0", "~").as_str()),
            Node::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// A copy of what there is so far, with growing strings as far as they have come. `None` while there is nothing.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        // Values are never nested too deeply to recurse.
        Some(match &self.node {
            Node::Nothing => return None,
            Node::Scalar(value) => value.clone(),
            Node::Text(text) => Value::String(text.clone()),
            Node::Array(items) => Value::Array(items.iter().filter_map(Self::to_value).collect()),
            Node::Object(members) => {
                let members =
                    members.iter().filter_map(|(key, value)| Some((key.clone(), value.to_value()?)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        })
    }
}

impl fmt::Debug for PartialValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Node::Nothing => f.write_str("nothing")?,
            Node::Scalar(_) => f.write_str("a scalar")?,
            Node::Text(text) => write!(f, "a string of {} bytes", text.len())?,
            Node::Array(items) => write!(f, "an array of {}", items.len())?,
            Node::Object(members) => write!(f, "an object of {}", members.len())?,
        }
        f.write_str(if self.finished { ", finished" } else { ", growing" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_follow_keys_and_indexes() {
        let leaf = |value| PartialValue::leaf(value);
        let items = PartialValue::growing(Node::Array(vec![leaf(json!(1)), leaf(json!("x"))]));
        let members = BTreeMap::from([("a/b".to_owned(), items), ("~".to_owned(), leaf(Value::Null))]);
        let value = PartialValue::growing(Node::Object(members));
        assert_eq!(value.pointer("/a~1b/1").and_then(PartialValue::as_str), Some("x"));
        assert_eq!(value.pointer("/~0").map(PartialValue::is_null), Some(true));
        assert_eq!(value.pointer("").map(PartialValue::is_finished), Some(false));
        for nowhere in ["/a", "/a~1b/2", "/a~1b/x", "a", "/~0/x"] {
            assert_eq!(value.pointer(nowhere), None, "{nowhere}");
        }
        assert_eq!(value.to_value(), Some(json!({"a/b": [1, "x"], "~": null})));
        assert_eq!(NOTHING.to_value(), None);
    }
}
