//! References within a schema: where they point, what their targets are called, and which of them go in circles.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MAX_NODES, Unsupported, walk};

/// The JSON pointer that a `$ref` holds.
pub(super) fn pointer(reference: &Value) -> Result<String, &'static str> {
    let text = reference.as_str().ok_or("has a reference that is not a text")?;
    let fragment =
        text.strip_prefix('#').ok_or("refers to another document; only references within it are followed")?;
    let pointer = percent_decoded(fragment).ok_or("has a reference that cannot be read")?;
    if pointer.is_empty() || pointer.starts_with('/') {
        Ok(pointer)
    } else {
        Err("refers to an anchor; use a JSON pointer")
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16).and_then(|d| u8::try_from(d).ok());
                digit()? << 4 | digit()?
            }
            plain => plain,
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

/// Names for the targets of references, in the order in which they were first met.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_pointer: BTreeMap<String, String>,
    taken: BTreeMap<String, usize>,
    waiting: Vec<(String, String)>,
}

impl Names {
    /// The name under `$defs` of what `pointer` points at.
    pub(super) fn name(&mut self, pointer: &str) -> &str {
        if !self.by_pointer.contains_key(pointer) {
            let name = self.new_name(pointer);
            self.waiting.push((pointer.to_owned(), name.clone()));
            self.by_pointer.insert(pointer.to_owned(), name);
        }
        self.by_pointer.get(pointer).map_or("", String::as_str)
    }

    /// A target that has been named and not been handed out yet.
    pub(super) fn next(&mut self) -> Option<(String, String)> {
        self.waiting.pop()
    }

    fn new_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
        let plain: String = last.chars().map(fit).collect();
        let base = if plain.is_empty() { "root".to_owned() } else { plain };
        loop {
            let count = self.taken.entry(base.clone()).or_default();
            *count += 1;
            let name = if *count == 1 { base.clone() } else { format!("{base}_{count}") };
            if *count == 1 || !self.taken.contains_key(&name) {
                self.taken.entry(name.clone()).or_insert(1);
                return name;
            }
        }
    }
}

/// Which targets contain each other.
#[derive(Debug, Default)]
pub(super) struct Circles {
    component: BTreeMap<String, usize>,
}

impl Circles {
    /// Whether a reference to `to`, met while writing `from`, closes a circle.
    pub(super) fn closes(&self, from: &str, to: &str) -> bool {
        from == to || self.component.get(from).is_some_and(|c| self.component.get(to) == Some(c))
    }

    /// Strongly connected components by two depth-first searches (Kosaraju), without recursion.
    pub(super) fn find(root: &Value) -> Result<Self, Unsupported> {
        let (pointers, edges) = graph(root)?;
        let mut reversed = vec![Vec::new(); edges.len()];
        for (from, targets) in edges.iter().enumerate() {
            for to in targets {
                if let Some(sources) = reversed.get_mut(*to) {
                    sources.push(from);
                }
            }
        }
        let mut seen = vec![false; edges.len()];
        let mut finished = Vec::new();
        for start in 0..edges.len() {
            search(&edges, start, &mut seen, &mut finished);
        }
        let mut seen = vec![false; edges.len()];
        let mut component = BTreeMap::new();
        for start in finished.into_iter().rev() {
            let mut members = Vec::new();
            search(&reversed, start, &mut seen, &mut members);
            for member in members {
                if let Some(pointer) = pointers.get(member) {
                    component.insert(pointer.clone(), start);
                }
            }
        }
        Ok(Self { component })
    }
}

/// Appends what can be reached from `start`, each node after those that it reaches.
fn search(edges: &[Vec<usize>], start: usize, seen: &mut [bool], finished: &mut Vec<usize>) {
    let mut stack = vec![(start, false)];
    while let Some((node, done)) = stack.pop() {
        if done {
            finished.push(node);
        } else if seen.get_mut(node).is_some_and(|seen| !std::mem::replace(seen, true)) {
            stack.push((node, true));
            stack.extend(edges.get(node).into_iter().flatten().map(|next| (*next, false)));
        }
    }
}

/// The targets of all references, the root first, and which of them refer to which.
fn graph(root: &Value) -> Result<(Vec<String>, Vec<Vec<usize>>), Unsupported> {
    let mut pointers = vec![String::new()];
    let mut index = BTreeMap::from([(String::new(), 0)]);
    let mut edges = Vec::new();
    let mut visited = 0;
    while let Some(pointer) = pointers.get(edges.len()).cloned() {
        let mut targets = Vec::new();
        let mut stack: Vec<&Value> = root.pointer(&pointer).into_iter().collect();
        while let Some(schema) = stack.pop() {
            visited += 1;
            if visited > MAX_NODES {
                return Err(Unsupported::new("", "is too large"));
            }
            let Some(map) = schema.as_object() else { continue };
            if let Some(Ok(target)) = map.get("$ref").map(self::pointer) {
                let next = pointers.len();
                let id = *index.entry(target.clone()).or_insert(next);
                if id == next {
                    pointers.push(target);
                }
                targets.push(id);
            }
            walk::children(map, |keyword, child| {
                if !matches!(keyword, "$defs" | "definitions") {
                    stack.push(child);
                }
            });
        }
        edges.push(targets);
    }
    Ok((pointers, edges))
}
