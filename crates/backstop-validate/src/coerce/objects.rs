//! Members of objects: their names, and whether they may be there at all.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::CoercionKind;
use super::schema::{is_closed, property_schema, requires};
use super::walk::Walk;
use crate::json::pointer::Segment;

impl<'s> Walk<'s> {
    pub(super) fn object(
        &mut self,
        mut map: Map<String, Value>,
        schema: &'s Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            self.respell_keys(&mut map, properties);
            if is_closed(schema) {
                map.retain(|name, _| {
                    let known = properties.contains_key(name);
                    if !known {
                        self.note_member(CoercionKind::UnknownProperty, name);
                    }
                    known
                });
            }
        }
        let mut out = Map::new();
        for (name, value) in map {
            let Some(sub) = property_schema(schema, &name) else {
                out.insert(name, value);
                continue;
            };
            if value.is_null() && !requires(schema, &name) && !self.conforms(&value, sub) {
                self.note_member(CoercionKind::NullToAbsent, &name);
                continue;
            }
            let value = self.member(value, Segment::Key(&name), sub, depth);
            out.insert(name, value);
        }
        out
    }

    /// Gives keys the spelling of the schema where exactly one key and one property are meant.
    fn respell_keys(&mut self, map: &mut Map<String, Value>, properties: &'s Map<String, Value>) {
        let mut meant: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for stranger in map.keys().filter(|name| !properties.contains_key(*name)) {
            if let Some(name) = self.meant(properties, stranger).filter(|name| !map.contains_key(*name)) {
                meant.entry(name).and_modify(|one| *one = None).or_insert_with(|| Some(stranger.clone()));
            }
        }
        for (name, stranger) in meant {
            let Some(stranger) = stranger else { continue };
            if let Some(value) = map.remove(&stranger) {
                self.note_member(CoercionKind::KeySpelling, &stranger);
                map.insert(name.to_owned(), value);
            }
        }
    }
}
