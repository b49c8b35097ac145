//! JSON as a Rust type, with the rules and checks that its value must pass.

use std::{fmt, sync::Arc};

use backstop_core::{Candidate, Check, ConfigError, Rejection, Request, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    misfit,
    reading::{Reading, settings},
    rules::{self, FieldRule},
    schema::Schema,
};

/// Accepts JSON that follows the schema of `T`, as a `T`. What [`ChainExt::extract`](crate::ChainExt::extract)
/// uses.
///
/// ```
/// use backstop_core::{Candidate, Request, Response, Validator};
/// use backstop_validate::Typed;
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # #[schemars(crate = "backstop_validate::schemars")]
/// struct Invoice {
///     total: f64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (answer, request) = (Response::new("Here: {\"total\": 3}"), Request::new("…"));
/// let invoice = Typed::<Invoice>::new().validate(Candidate::new(&answer, &request)).await.unwrap();
/// assert_eq!(invoice.total, 3.0);
/// # }
/// ```
pub struct Typed<T> {
    schema: Result<Schema, ConfigError>,
    reading: Reading,
    rules: Vec<FieldRule<T>>,
    checks: Vec<Arc<dyn Check>>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Typed<T> {
    /// With the type's own schema, the tolerant repair policy, safe coercion, and balanced refusal detection.
    #[must_use]
    pub fn new() -> Self {
        Self { schema: Schema::of::<T>(), reading: Reading::default(), rules: Vec::new(), checks: Vec::new() }
    }

    /// A rule that the value must keep, beyond its schema; see [`rules`](crate::rules).
    ///
    /// ```
    /// use backstop_validate::{Typed, rules::field};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # #[schemars(crate = "backstop_validate::schemars")]
    /// # struct Invoice { total: f64 }
    ///
    /// let invoices =
    ///     Typed::<Invoice>::new().rule(field("/total", |invoice: &Invoice| &invoice.total).at_least(0.0));
    /// # let _ = invoices;
    /// ```
    #[must_use]
    pub fn rule(mut self, rule: impl Into<FieldRule<T>>) -> Self {
        let rule = rule.into();
        if let Some(mistake) = rule.mistake() {
            self = self.failing(mistake);
        }
        self.rules.push(rule);
        self
    }

    /// The rules of the type's own `#[derive(garde::Validate)]`. Needs the feature `garde`, and the crate `garde` 0.22
    /// beside this one. Messages go to the model as garde words them, with the JSON's names for fields.
    #[cfg(feature = "garde")]
    #[must_use]
    pub fn validated(self) -> Self
    where
        T: garde::Validate<Context: Default>,
    {
        self.rule(crate::rules::derived())
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Default for Typed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Typed<T> {
    settings!();

    /// Whether a value is one that the extraction would take.
    pub(crate) fn fits(&self, value: &Value, request: &Request) -> bool {
        self.schema.as_ref().is_ok_and(|schema| self.reading.fits(value, schema, request))
    }

    /// Whether the schema has an object put around the value.
    pub(crate) fn wraps(&self) -> bool {
        self.schema.as_ref().is_ok_and(Schema::wraps)
    }

    pub(crate) fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }
}

impl<T: DeserializeOwned + Send + 'static> Validator for Typed<T> {
    type Output = T;

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        ask_for(request, self.schema.as_ref())
    }

    async fn validate(&self, candidate: Candidate<'_>) -> Result<T, Rejection> {
        let schema = self.schema.as_ref().map_err(|error| Rejection::new(error.to_string()))?;
        let value = self.reading.read(candidate, schema)?;
        if self.rules.is_empty() && self.checks.is_empty() {
            // The value is used up, for its texts need not be copied then. To say where it does not fit, it is read
            // once more, without a record of changes.
            return T::deserialize(value).map_err(|error| {
                let again = Candidate::new(candidate.response, candidate.request);
                not_the_type::<T>(&self.reading.read(again, schema).unwrap_or_default(), &error)
            });
        }
        let typed = T::deserialize(&value).map_err(|error| not_the_type::<T>(&value, &error))?;
        rules::check(&self.rules, &typed, &value)?;
        run(&self.checks, candidate.with_value(&value)).await?;
        Ok(typed)
    }
}

/// serde's message may quote the value, so it goes to the model only.
fn not_the_type<T: DeserializeOwned>(value: &Value, error: &serde_json::Error) -> Rejection {
    let pointer = misfit::place::<T>(value);
    let (reason, feedback) = match pointer.as_str() {
        "" => ("the JSON follows the schema but not the Rust type".to_owned(), error.to_string()),
        place => {
            (format!("`{place}` follows the schema but not the Rust type"), format!("`{place}`: {error}"))
        }
    };
    Rejection::schema(reason).with_feedback(feedback).with_pointer(pointer)
}

/// Runs checks in order until one rejects.
pub(crate) async fn run(checks: &[Arc<dyn Check>], candidate: Candidate<'_>) -> Result<(), Rejection> {
    for check in checks {
        check.check(candidate).await.map_err(|rejection| rejection.with_check(check.name()))?;
    }
    Ok(())
}

impl<T> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed")
            .field("schema", &self.schema)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

pub(crate) fn ask_for(
    request: &mut Request,
    schema: Result<&Schema, &ConfigError>,
) -> Result<(), ConfigError> {
    let schema =
        schema.map_err(|error| ConfigError::setting("extraction", format!("cannot work: {error}")))?;
    *request = std::mem::take(request).json_schema(schema.name().clone(), schema.wire().clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use backstop_core::Response;

    use super::*;
    use crate::coerce::Mode;

    #[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
    #[schemars(crate = "schemars")]
    struct Counted {
        n: i64,
        share: f64,
        list: Vec<u8>,
    }

    async fn read(text: &str, mode: Mode) -> Result<Counted, Rejection> {
        let (answer, request) = (Response::new(text), Request::new("x"));
        Typed::<Counted>::new().coercion(mode).validate(Candidate::new(&answer, &request)).await
    }

    #[tokio::test]
    async fn whole_floats_are_integers_where_the_type_wants_integers() {
        let text = r#"{"n": 3.0, "share": 2.0, "list": [1.0, 2]}"#;
        let counted = Counted { n: 3, share: 2.0, list: vec![1, 2] };
        assert_eq!(read(text, Mode::Safe).await.unwrap(), counted);
        assert!(read(text, Mode::Off).await.is_err());
        assert!(read(r#"{"n": 3.5, "share": 2.0, "list": []}"#, Mode::Safe).await.is_err());
        assert!(read(r#"{"n": 1e300, "share": 2.0, "list": []}"#, Mode::Safe).await.is_err());
    }
}
