//! How a partial value grows, event by event.

use std::{collections::BTreeMap, mem};

use serde_json::Value;

use super::value::{Node, PartialValue};
use crate::json::pointer::{Segment, push};

/// A document under construction.
#[derive(Default)]
pub(crate) struct Tree {
    root: PartialValue,
    /// The containers that are open, from the outside in.
    open: Vec<Open>,
    /// The pointer of the innermost of them.
    pointer: String,
    /// A leaf that is read but may still turn out to be something else.
    held: Option<(Option<String>, Value)>,
    /// Whether the last member of the innermost container is a string that is growing.
    grows: bool,
    /// What has changed, in order.
    changed: Vec<String>,
    /// Whether something that was shown is void.
    replaced: bool,
    /// How many bytes the pointers of all places take.
    named: usize,
}

struct Open {
    /// Its key in the container around it, if that is an object.
    key: Option<String>,
    /// Where the pointer of the container around it ends.
    outer: usize,
    /// Whether its opening was among the changes that were taken.
    told: bool,
}

impl Tree {
    pub(crate) fn root(&self) -> &PartialValue {
        &self.root
    }

    pub(crate) fn into_root(self) -> PartialValue {
        self.root
    }

    /// How many bytes the pointers of all places take, in however many pieces the text comes.
    pub(crate) fn named(&self) -> usize {
        self.named
    }

    /// How long the pointer of a member of the innermost container is.
    pub(crate) fn pointer_len(&self, key: &str) -> usize {
        self.pointer.len() + 1 + key.len()
    }

    /// The pointers of what has changed since the last time, and whether something that was shown has been replaced.
    pub(crate) fn take_changes(&mut self) -> (Vec<String>, bool) {
        self.open.iter_mut().for_each(|open| open.told = true);
        (mem::take(&mut self.changed), mem::take(&mut self.replaced))
    }

    /// A container opens, under this key if it is a member of an object.
    pub(crate) fn open(&mut self, key: Option<&str>, object: bool) {
        let node = if object { Node::Object(BTreeMap::new()) } else { Node::Array(Vec::new()) };
        let outer = self.pointer.len();
        if self.open.is_empty() {
            self.root = PartialValue::growing(node);
        } else {
            self.pointer = self.next_pointer(key);
            self.place(key, PartialValue::growing(node));
        }
        // Its closing may be named as well.
        self.named += 2 * self.pointer.len();
        self.change_container();
        self.open.push(Open { key: key.map(str::to_owned), outer, told: false });
    }

    /// The innermost container closes.
    pub(crate) fn close(&mut self) {
        self.settle();
        if let Some(top) = self.top() {
            top.finish();
        }
        let Some(open) = self.open.pop() else { return };
        if open.told {
            self.change_container();
        }
        self.pointer.truncate(open.outer);
    }

    /// A key is read. If it was given before, what it had is void, whatever becomes of the value that follows.
    pub(crate) fn begin_member(&mut self, key: &str) {
        if let Some(Node::Object(members)) = self.top().map(PartialValue::node_mut) {
            self.replaced |= members.remove(key).is_some();
        }
    }

    /// A string grows: its text so far, in two parts.
    pub(crate) fn grow(&mut self, key: Option<&str>, (first, second): (&str, &str)) {
        if !mem::replace(&mut self.grows, true) {
            self.place(key, PartialValue::growing(Node::Text(String::new())));
        } else if self.text(key).is_some_and(|text| text.len() == first.len() + second.len()) {
            return;
        }
        if let Some(text) = self.text(key) {
            let shown = text.len();
            text.push_str(first.get(shown..).unwrap_or_default());
            text.push_str(second.get(shown.saturating_sub(first.len())..).unwrap_or_default());
        }
        let pointer = self.grown_pointer(key);
        self.changed.push(pointer);
    }

    /// A leaf is complete, unless what follows makes something else of it.
    pub(crate) fn hold(&mut self, key: Option<&str>, leaf: Value) {
        if let Value::String(text) = &leaf {
            self.grow(key, (text, ""));
        }
        self.named += self.pointer_len(key.unwrap_or_default());
        self.held = Some((key.map(str::to_owned), leaf));
    }

    /// The leaf is what it seemed to be.
    pub(crate) fn settle(&mut self) {
        let Some((key, leaf)) = self.held.take() else { return };
        let key = key.as_deref();
        if mem::take(&mut self.grows) {
            let pointer = self.grown_pointer(key);
            if self.changed.last() != Some(&pointer) {
                self.changed.push(pointer);
            }
            if let Some(text) = self.last(key) {
                *text = PartialValue::leaf(leaf);
            }
        } else {
            let pointer = self.next_pointer(key);
            self.changed.push(pointer);
            self.place(key, PartialValue::leaf(leaf));
        }
    }

    fn change_container(&mut self) {
        self.changed.push(self.pointer.clone());
    }

    /// Adds a value to the innermost container.
    fn place(&mut self, key: Option<&str>, value: PartialValue) {
        match (self.top().map(PartialValue::node_mut), key) {
            (Some(Node::Array(items)), _) => items.push(value),
            (Some(Node::Object(members)), Some(key)) => {
                members.insert(key.to_owned(), value);
            }
            _ => {}
        }
    }

    /// The innermost container. The way to it is as long as it is deep, and that is bounded.
    fn top(&mut self) -> Option<&mut PartialValue> {
        let mut at = Some(&mut self.root);
        for open in self.open.iter().skip(1) {
            at = match (at?.node_mut(), &open.key) {
                (Node::Object(members), Some(key)) => members.get_mut(key),
                (Node::Array(items), _) => items.last_mut(),
                _ => None,
            };
        }
        at
    }

    /// What was added last to the innermost container, under this key.
    fn last(&mut self, key: Option<&str>) -> Option<&mut PartialValue> {
        match (self.top()?.node_mut(), key) {
            (Node::Object(members), Some(key)) => members.get_mut(key),
            (Node::Array(items), _) => items.last_mut(),
            _ => None,
        }
    }

    fn text(&mut self, key: Option<&str>) -> Option<&mut String> {
        match self.last(key)?.node_mut() {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How many items the innermost container has, if it is an array.
    fn items(&mut self) -> usize {
        match self.top().map(PartialValue::node_mut) {
            Some(Node::Array(items)) => items.len(),
            _ => 0,
        }
    }

    fn next_pointer(&mut self, key: Option<&str>) -> String {
        let index = self.items();
        self.pointer_to(key, index)
    }

    fn grown_pointer(&mut self, key: Option<&str>) -> String {
        let index = self.items().saturating_sub(1);
        self.pointer_to(key, index)
    }

    fn pointer_to(&mut self, key: Option<&str>, index: usize) -> String {
        let mut pointer = self.pointer.clone();
        push(&mut pointer, key.map_or(Segment::Index(index), Segment::Key));
        pointer
    }
}
