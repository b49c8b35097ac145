//! Totals of a rendered schema against what a vendor accepts.

use serde_json::{Map, Value};

use super::{Limits, MAX_DEPTH, Unsupported};

/// Checks the totals of a rendered schema.
pub(super) fn check(schema: &Value, limits: &Limits) -> Result<(), Unsupported> {
    if *limits == Limits::NONE {
        return Ok(());
    }
    let mut totals = Totals { limits, properties: 0, enum_values: 0, chars: 0, optional: 0, unions: 0 };
    totals.schema(schema, "", 0, 0)?;
    totals.within()
}

struct Totals<'l> {
    limits: &'l Limits,
    properties: usize,
    enum_values: usize,
    chars: usize,
    optional: usize,
    unions: usize,
}

impl Totals<'_> {
    fn schema(&mut self, schema: &Value, at: &str, objects: usize, depth: usize) -> Result<(), Unsupported> {
        let Some(map) = schema.as_object() else { return Ok(()) };
        // Rendering has limited the depth already, but for a constant number of levels per level of the original.
        if depth > 4 * MAX_DEPTH {
            return Err(Unsupported::new(at, "is nested too deeply"));
        }
        self.values(map, at)?;
        let several_types = map.get("type").is_some_and(Value::is_array);
        let branches = map.get("anyOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.unions += usize::from(several_types || !branches.is_empty());
        for branch in
            branches.iter().chain(map.get("prefixItems").and_then(Value::as_array).into_iter().flatten())
        {
            self.schema(branch, at, objects, depth + 1)?;
        }
        for key in ["items", "additionalProperties"] {
            if let Some(child) = map.get(key) {
                self.schema(child, &format!("{at}/{key}"), objects, depth + 1)?;
            }
        }
        if let Some(Value::Object(definitions)) = map.get("$defs") {
            for (name, child) in definitions {
                self.chars += name.chars().count();
                self.schema(child, &format!("/$defs/{name}"), 0, depth + 1)?;
            }
        }
        match map.get("properties") {
            Some(Value::Object(properties)) => self.properties(map, properties, at, objects + 1, depth),
            _ => Ok(()),
        }
    }

    fn properties(
        &mut self,
        map: &Map<String, Value>,
        properties: &Map<String, Value>,
        at: &str,
        objects: usize,
        depth: usize,
    ) -> Result<(), Unsupported> {
        over(objects, self.limits.depth, at, "levels of objects")?;
        let required = map.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        self.properties += properties.len();
        self.optional += properties.len().saturating_sub(required);
        for (name, child) in properties {
            self.chars += name.chars().count();
            self.schema(child, &format!("{at}/properties/{name}"), objects, depth + 1)?;
        }
        Ok(())
    }

    fn values(&mut self, map: &Map<String, Value>, at: &str) -> Result<(), Unsupported> {
        let listed = map.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let chars: usize = listed.iter().chain(map.get("const")).map(chars).sum();
        self.chars += chars;
        self.enum_values += listed.len();
        if listed.len() > Limits::LARGE_ENUM && listed.iter().all(Value::is_string) {
            over(chars, self.limits.large_enum_chars, at, "characters in one long `enum`")?;
        }
        Ok(())
    }

    fn within(&self) -> Result<(), Unsupported> {
        over(self.properties, self.limits.properties, "", "properties")?;
        over(self.enum_values, self.limits.enum_values, "", "`enum` values")?;
        over(self.chars, self.limits.chars, "", "characters of names and values")?;
        over(self.optional, self.limits.optional, "", "optional properties")?;
        over(self.unions, self.limits.unions, "", "places with several types")
    }
}

fn chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    }
}

fn over(count: usize, limit: Option<usize>, at: &str, what: &str) -> Result<(), Unsupported> {
    match limit {
        Some(limit) if count > limit => {
            Err(Unsupported::new(at, format!("has {count} {what}; the vendor takes {limit}")))
        }
        _ => Ok(()),
    }
}
