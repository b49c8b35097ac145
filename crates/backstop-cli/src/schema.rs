//! A JSON Schema with the conversions that may make a value follow it.

use std::fs;
use std::path::Path;

use backstop_validate::coerce::{Coercion, Mode};
use backstop_validate::json::{Accept, Fit};
use serde_json::Value;

use crate::failure::Failure;

/// A schema, ready to check values. Its limits and formats are those of an extraction.
pub(crate) struct Schema {
    schema: backstop_validate::Schema,
    mode: Mode,
}

impl Schema {
    pub(crate) fn new(source: Value, mode: Mode) -> Result<Self, String> {
        let schema = backstop_validate::Schema::new("schema", source).map_err(|error| error.to_string())?;
        Ok(Self { schema, mode })
    }

    pub(crate) fn read(path: &Path, mode: Mode) -> Result<Self, Failure> {
        let name = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("cannot read the schema {name}: {error}")))?;
        let source = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| Failure::new(format!("{name} is not JSON: {error}")))?;
        Self::new(source, mode).map_err(|why| Failure::new(format!("{name}: {why}")))
    }

    /// The value as the schema wants it, and what was converted for that.
    pub(crate) fn convert(&self, value: Value) -> (Value, Vec<Coercion>) {
        self.schema.convert(value, self.mode)
    }

    /// The first few things that are wrong with a value, each with its place.
    pub(crate) fn complaints(&self, value: &Value) -> Vec<String> {
        self.schema.violations(value).iter().map(backstop_validate::Violation::feedback).collect()
    }
}

impl Accept for Schema {
    fn fit(&self, value: &Value) -> Fit {
        if self.schema.is_valid(value) {
            return Fit::Exact;
        }
        let (converted, changes) = self.schema.convert(value.clone(), self.mode);
        if self.schema.is_valid(&converted) { Fit::Coerced(changes.len()) } else { Fit::No }
    }
}
