//! Objects: which properties they have, and whether they may have others.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    Additional, Change, Recursion, Refs, Unsupported,
    flatten::list,
    keywords::Flat,
    path::Path,
    rewrite::{Out, Writer},
};

impl Writer<'_> {
    pub(super) fn object(
        &mut self,
        out: &mut Out,
        flat: &Flat<'_>,
        at: &Path<'_>,
    ) -> Result<(), Unsupported> {
        let none = Map::new();
        let listed = flat.get("properties").and_then(|properties| properties.as_object()).unwrap_or(&none);
        let required: Vec<&str> = flat
            .get("required")
            .into_iter()
            .flat_map(|names| list(names))
            .filter_map(Value::as_str)
            .collect();
        self.additional(out, flat, listed.is_empty(), at)?;

        let must: BTreeSet<&str> = required.iter().copied().collect();
        let (properties, loose) = self.properties(listed, &must, at)?;
        let order = in_order(&required, &must, listed);
        let needed =
            |name: &&&str| self.rules.all_required || (must.contains(**name) && !loose.contains(**name));
        let needed: Vec<&&str> = order.iter().filter(needed).collect();
        if !needed.is_empty() || self.rules.all_required {
            out.insert("required".to_owned(), json!(needed));
        }
        if self.rules.ordering && order.len() > 1 {
            out.insert("propertyOrdering".to_owned(), json!(order));
        }
        out.insert("properties".to_owned(), Value::Object(properties));
        Ok(())
    }

    /// The properties as they are written, and those that lead back to an object around them.
    fn properties<'p>(
        &mut self,
        listed: &'p Map<String, Value>,
        must: &BTreeSet<&str>,
        at: &Path<'_>,
    ) -> Result<(Out, BTreeSet<&'p str>), Unsupported> {
        let mut properties = Out::new();
        let mut loose = BTreeSet::new();
        for (name, schema) in listed {
            let place = at.key("properties");
            let place = place.key(name);
            let outside = self.circular;
            let mut written = self.node(schema, &place)?;
            if self.circular > outside {
                loose.insert(name.as_str());
                self.circular = outside;
            }
            if self.rules.all_required && !must.contains(name.as_str()) {
                written = self.widened(written, &place);
            }
            properties.insert(name.clone(), Value::Object(written));
        }
        if self.rules.refs == Refs::Defs(Recursion::BelowOptional) {
            for name in loose.iter().filter(|name| must.contains(*name)) {
                self.note(&at.key("properties").key(name), Change::Optional);
            }
        }
        Ok((properties, loose))
    }

    /// What the object says about properties that it does not list.
    fn additional(
        &mut self,
        out: &mut Out,
        flat: &Flat<'_>,
        empty: bool,
        at: &Path<'_>,
    ) -> Result<(), Unsupported> {
        let given = flat.get("additionalProperties").map(|given| &**given);
        let closed = given == Some(&json!(false));
        let map = matches!(given, Some(Value::Object(schema)) if !schema.is_empty());
        if self.rules.additional == Additional::Known {
            match given {
                Some(schema @ Value::Object(_)) => {
                    let place = at.key("additionalProperties");
                    let written = self.node(schema, &place)?;
                    out.insert("additionalProperties".to_owned(), Value::Object(written));
                }
                Some(flag @ Value::Bool(_)) => {
                    out.insert("additionalProperties".to_owned(), flag.clone());
                }
                _ => {}
            }
            return Ok(());
        }
        if map || flat.contains_key("patternProperties") {
            return Err(Unsupported::new(at.to_string(), "is a map, which this dialect cannot express"));
        }
        let fixed = self.rules.additional == Additional::Closed;
        if empty && !(closed && fixed) {
            return Err(Unsupported::new(at.to_string(), "is an object without properties of its own"));
        }
        if fixed {
            if !closed {
                self.note(at, Change::Closed);
            }
            out.insert("additionalProperties".to_owned(), json!(false));
        } else if given.is_some() {
            self.note(at, Change::Dropped("additionalProperties".to_owned()));
        }
        Ok(())
    }

    /// An optional property where all must be required: null stands for its absence.
    fn widened(&mut self, written: Out, at: &Path<'_>) -> Out {
        let wider = self.nullable(written.clone());
        if wider != written {
            self.widened = true;
            self.note(at, Change::Nullable);
        }
        wider
    }
}

/// Required ones first, in the caller's order, which derived schemas take from the declaration.
fn in_order<'n>(required: &[&'n str], must: &BTreeSet<&str>, listed: &'n Map<String, Value>) -> Vec<&'n str> {
    let optional = listed.keys().map(String::as_str).filter(|name| !must.contains(name));
    let mut seen = BTreeSet::new();
    let known = required.iter().copied().filter(|name| listed.contains_key(*name) && seen.insert(*name));
    known.chain(optional).collect()
}
