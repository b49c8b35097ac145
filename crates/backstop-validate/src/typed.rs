//! Validators whose value is JSON: as a Rust type, or as a [`Value`] by a schema known at run time.

use std::{fmt, marker::PhantomData};

use backstop_core::{Candidate, ConfigError, Rejection, Request, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    coerce::Mode,
    json::{Candidates, Policy},
    reading::Reading,
    refusal::Detector,
    schema::Schema,
};

/// Accepts JSON that follows the schema of `T`, as a `T`. What [`ChainExt::extract`](crate::ChainExt::extract)
/// uses.
///
/// ```
/// use backstop_core::{Candidate, Request, Response, Validator};
/// use backstop_validate::Typed;
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
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
    value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Typed<T> {
    /// With the type's own schema, the tolerant repair policy, safe coercion, and balanced refusal detection.
    #[must_use]
    pub fn new() -> Self {
        Self { schema: Schema::of::<T>(), reading: Reading::default(), value: PhantomData }
    }

    /// A mistake made while the extraction was described fails the call as a wrong schema would.
    pub(crate) fn with_reading(reading: Reading, mistake: Option<ConfigError>) -> Self {
        let schema = mistake.map_or_else(Schema::of::<T>, Err);
        Self { schema, reading, value: PhantomData }
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Default for Typed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Typed<T> {
    /// What may be repaired in the text. Default [`Policy::Tolerant`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.reading.extractor = self.reading.extractor.policy(policy);
        self
    }

    /// What to do when several different values fit. Default: refuse.
    #[must_use]
    pub fn candidates(mut self, candidates: Candidates) -> Self {
        self.reading.extractor = self.reading.extractor.candidates(candidates);
        self
    }

    /// How far values are converted to the schema's types. Default [`Mode::Safe`].
    #[must_use]
    pub fn coercion(mut self, mode: Mode) -> Self {
        self.reading.coercion = mode;
        self
    }

    /// What counts as a refusal when there is no valid value. Default [`Detector::balanced`].
    #[must_use]
    pub fn refusals(mut self, detector: Detector) -> Self {
        self.reading.refusals = detector;
        self
    }
}

impl<T: DeserializeOwned + Send> Validator for Typed<T> {
    type Output = T;

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        ask_for(request, self.schema.as_ref())
    }

    async fn validate(&self, candidate: Candidate<'_>) -> Result<T, Rejection> {
        let schema = self.schema.as_ref().map_err(|error| Rejection::new(error.to_string()))?;
        let value = self.reading.read(candidate, schema)?;
        // serde's message may quote the value, so it goes to the model only.
        T::deserialize(value).map_err(|error| {
            Rejection::schema("the JSON follows the schema but not the Rust type")
                .with_feedback(error.to_string())
        })
    }
}

impl<T> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").field("schema", &self.schema).field("reading", &self.reading).finish()
    }
}

/// Accepts JSON that follows a schema known at run time, as a [`Value`]. What
/// [`ChainExt::extract_value`](crate::ChainExt::extract_value) uses.
pub struct Untyped {
    schema: Result<Schema, ConfigError>,
    reading: Reading,
}

impl Untyped {
    /// With the tolerant repair policy, safe coercion, and balanced refusal detection.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        Self { schema: Ok(schema), reading: Reading::default() }
    }

    pub(crate) fn compiling(name: &'static str, schema: Value) -> Self {
        Self { schema: Schema::new(name, schema), reading: Reading::default() }
    }

    /// What may be repaired in the text. Default [`Policy::Tolerant`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.reading.extractor = self.reading.extractor.policy(policy);
        self
    }

    /// How far values are converted to the schema's types. Default [`Mode::Safe`].
    #[must_use]
    pub fn coercion(mut self, mode: Mode) -> Self {
        self.reading.coercion = mode;
        self
    }
}

impl Validator for Untyped {
    type Output = Value;

    fn prepare(&self, request: &mut Request) -> Result<(), ConfigError> {
        ask_for(request, self.schema.as_ref())
    }

    async fn validate(&self, candidate: Candidate<'_>) -> Result<Value, Rejection> {
        let schema = self.schema.as_ref().map_err(|error| Rejection::new(error.to_string()))?;
        self.reading.read(candidate, schema)
    }
}

impl fmt::Debug for Untyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Untyped").field("schema", &self.schema).field("reading", &self.reading).finish()
    }
}

fn ask_for(request: &mut Request, schema: Result<&Schema, &ConfigError>) -> Result<(), ConfigError> {
    let schema = schema.map_err(|error| ConfigError::setting("extract", error.to_string()))?;
    *request = std::mem::take(request).json_schema(schema.name().clone(), schema.wire().clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use backstop_core::Response;

    use super::*;

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
