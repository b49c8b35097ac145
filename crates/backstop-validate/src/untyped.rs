//! JSON as a [`Value`], by a schema known at run time.

use std::{fmt, sync::Arc};

use backstop_core::{Candidate, Check, ConfigError, Rejection, Request, Validator};
use serde_json::Value;

use crate::{
    reading::{Reading, settings},
    rules::{self, FieldRule},
    schema::Schema,
    typed::{ask_for, run},
};

/// Accepts JSON that follows a schema known at run time, as a [`Value`]. What
/// [`ChainExt::extract_value`](crate::ChainExt::extract_value) uses.
pub struct Untyped {
    schema: Result<Schema, ConfigError>,
    reading: Reading,
    rules: Vec<FieldRule<Value>>,
    checks: Vec<Arc<dyn Check>>,
}

impl Untyped {
    /// With the tolerant repair policy, safe coercion, and balanced refusal detection.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        Self::of(Ok(schema))
    }

    pub(crate) fn compiling(name: &'static str, schema: Value) -> Self {
        Self::of(Schema::cached(name, schema))
    }

    fn of(schema: Result<Schema, ConfigError>) -> Self {
        Self { schema, reading: Reading::default(), rules: Vec::new(), checks: Vec::new() }
    }

    /// A rule that the value must keep, beyond its schema; see [`rules`](crate::rules).
    #[must_use]
    pub fn rule(mut self, rule: impl Into<FieldRule<Value>>) -> Self {
        let rule = rule.into();
        if let Some(mistake) = rule.mistake() {
            self = self.failing(mistake);
        }
        self.rules.push(rule);
        self
    }

    settings!();
}

impl Validator for Untyped {
    type Output = Value;

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        ask_for(request, self.schema.as_ref())
    }

    async fn validate(&self, candidate: Candidate<'_>) -> Result<Value, Rejection> {
        let schema = self.schema.as_ref().map_err(|error| Rejection::new(error.to_string()))?;
        let value = self.reading.read(candidate, schema)?;
        rules::check(&self.rules, &value, &value)?;
        run(&self.checks, candidate.with_value(&value)).await?;
        Ok(value)
    }
}

impl fmt::Debug for Untyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Untyped")
            .field("schema", &self.schema)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use backstop_core::Response;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_value_that_follows_the_schema_loses_nothing_over_an_integer_written_as_a_float() {
        let schema = json!({"anyOf": [
            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": false},
        ]});
        for (text, expected) in [("{\"id\": 1e20}", json!({"id": 1e20})), ("{\"id\": 3.0}", json!({"id": 3}))]
        {
            let (answer, request) = (Response::new(text), Request::new("x"));
            let read = Untyped::compiling("x", schema.clone())
                .validate(Candidate::new(&answer, &request))
                .await
                .unwrap();
            assert_eq!(read, expected);
        }
    }
}
