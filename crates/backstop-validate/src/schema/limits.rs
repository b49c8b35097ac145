//! Bounds on what a schema may cost, found out before it is compiled or evaluated.
//!
//! The evaluator is fast, recurses, and looks at a place as often as the schema says so. A hostile schema of a few
//! lines can make that 2³⁰ times, or 20,000 frames of stack; a hostile answer does the same to a recursive schema's
//! error messages.

use std::collections::{HashMap, hash_map::Entry};

use backstop_core::ConfigError;
use serde_json::Value;

use super::graph::{Edge, Names, edges};

/// Most values (objects, arrays, strings, …) of one schema. Compiling takes time and memory for each of them.
const MAX_NODES: usize = 50_000;
/// Deepest nesting of one schema. The compiler recurses, so this bounds its stack.
const MAX_DEPTH: usize = 96;
/// Most regular expressions: each may take tens of milliseconds to compile.
const MAX_PATTERNS: usize = 256;
/// Most subschemas that a schema may apply to one place of a value, counting each way to get there.
const MAX_TIMES: u64 = 1 << 20;
/// Most subschemas that may apply each other to the same place before something descends. They recurse.
const MAX_CHAIN: u32 = 32;
/// Most steps that are spent on finding out what is wrong with one value.
const MAX_STEPS: usize = 200_000;
/// Most subschemas on the way from the root to a place, while that is found out. The evaluator recurses on them, with
/// about half a kilobyte of stack each in a debug build.
const MAX_WAY: u32 = 1_000;

/// Walks without recursion, because the schema may be deeper than the stack.
pub(super) fn check_size(schema: &Value) -> Result<(), ConfigError> {
    let (mut nodes, mut patterns, mut open) = (0_usize, 0_usize, vec![(schema, 1_usize)]);
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        if nodes > MAX_NODES {
            return too("has more than 50,000 values");
        }
        if depth > MAX_DEPTH {
            return too("is nested deeper than 96 levels");
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                patterns += usize::from(map.get("pattern").is_some_and(Value::is_string));
                let names = map.get("patternProperties").and_then(Value::as_object);
                patterns += names.map_or(0, serde_json::Map::len);
                open.extend(map.values().map(|item| (item, depth + 1)));
            }
            _ => {}
        }
        if patterns > MAX_PATTERNS {
            return too("has more than 256 patterns");
        }
    }
    Ok(())
}

fn too(what: &str) -> Result<(), ConfigError> {
    Err(ConfigError::setting("schema", format!("{what}; split or flatten it")))
}

/// What lies below one subschema.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// How often one place is looked at, at worst.
    times: u64,
    /// How many subschemas apply each other to the same place.
    chain: u32,
}

enum Visit {
    Open,
    Done(Weight),
}

/// Refuses schemas whose evaluation would take forever or overflow the stack. References back to a schema that is being
/// looked at are left out: the evaluator remembers the outcome for those.
pub(super) fn check_work(names: &Names, root: &Value) -> Result<(), ConfigError> {
    let mut seen: HashMap<*const Value, Visit> = HashMap::new();
    let mut stack = vec![(root, false)];
    let mut out = Vec::new();
    while let Some((schema, children_done)) = stack.pop() {
        let id = std::ptr::from_ref(schema);
        edges(names, root, schema, &mut out);
        if children_done {
            let weight = weigh(&out, &seen);
            if weight.times > MAX_TIMES {
                return too("applies more than a million subschemas to one place");
            }
            if weight.chain > MAX_CHAIN {
                return too("refers from one subschema to the next more than 32 times without descending");
            }
            seen.insert(id, Visit::Done(weight));
        } else if let Entry::Vacant(unseen) = seen.entry(id) {
            unseen.insert(Visit::Open);
            stack.push((schema, true));
            stack.extend(out.iter().map(|edge| (target(edge), false)));
        }
    }
    Ok(())
}

fn target<'a>(edge: &Edge<'a>) -> &'a Value {
    match edge {
        Edge::Same(schema) | Edge::Property(_, schema) | Edge::Each(schema) => schema,
    }
}

fn weigh(edges: &[Edge<'_>], seen: &HashMap<*const Value, Visit>) -> Weight {
    let mut sum = Weight::default();
    let mut below = 0;
    for edge in edges {
        let weight = match seen.get(&std::ptr::from_ref(target(edge))) {
            Some(Visit::Done(weight)) => *weight,
            // A way back: counted as one step.
            _ => Weight { times: 1, chain: 1 },
        };
        match edge {
            Edge::Same(_) => {
                sum.times = sum.times.saturating_add(weight.times);
                sum.chain = sum.chain.max(weight.chain);
            }
            Edge::Property(..) | Edge::Each(_) => below = below.max(weight.times),
        }
    }
    Weight { times: sum.times.saturating_add(below).max(1), chain: sum.chain + 1 }
}

/// Whether every error of a value can be collected in reasonable time and stack: walks over value and schema as the
/// evaluator would, without judging anything, until the steps are used up.
pub(super) fn explainable(names: &Names, root: &Value, value: &Value) -> bool {
    let (mut steps, mut out) = (0_usize, Vec::new());
    let mut open = vec![Place { schema: root, value, chain: 0, way: 0 }];
    while let Some(place) = open.pop() {
        steps += 1;
        if steps + open.len() > MAX_STEPS || place.way > MAX_WAY {
            return false;
        }
        edges(names, root, place.schema, &mut out);
        steps += out.len();
        for edge in &out {
            match (edge, place.value) {
                (Edge::Same(schema), _) if place.chain <= MAX_CHAIN => open.push(place.same(schema)),
                (Edge::Property(name, schema), Value::Object(map)) => {
                    open.extend(map.get(*name).map(|inner| place.below(schema, inner)));
                }
                (Edge::Each(schema), Value::Object(map)) => {
                    open.extend(map.values().map(|inner| place.below(schema, inner)));
                }
                (Edge::Each(schema), Value::Array(items)) => {
                    open.extend(items.iter().map(|inner| place.below(schema, inner)));
                }
                _ => {}
            }
        }
    }
    true
}

/// A subschema that is applied to a part of a value.
#[derive(Clone, Copy)]
struct Place<'a> {
    schema: &'a Value,
    value: &'a Value,
    chain: u32,
    way: u32,
}

impl<'a> Place<'a> {
    fn same(self, schema: &'a Value) -> Self {
        Self { schema, chain: self.chain + 1, way: self.way + 1, ..self }
    }

    fn below(self, schema: &'a Value, value: &'a Value) -> Self {
        Self { schema, value, chain: 0, way: self.way + 1 }
    }
}
