//! From an answer's text to a value that follows the schema: extract, convert, validate, or say what is wrong.

use backstop_core::{Candidate, Change, FailureKind, FinishKind, Rejection, Request, Risk};
use serde_json::Value;

use crate::{
    coerce::{self, Mode},
    echo,
    json::{Accept, ExtractError, Extracted, Extractor, Fit},
    refusal::{Detector, Kind, Signals},
    schema::{Schema, Violation},
};

/// How answers are read: what may be repaired and converted, and what counts as a refusal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) extractor: Extractor,
    pub(crate) coercion: Mode,
    pub(crate) refusals: Detector,
    /// The answers of the examples that the model was shown.
    pub(crate) examples: Vec<Value>,
}

impl Reading {
    /// The value of an answer. Repairs and conversions are recorded with the candidate.
    pub(crate) fn read(&self, candidate: Candidate<'_>, schema: &Schema) -> Result<Value, Rejection> {
        let fitting = Fitting { schema, reading: self, request: candidate.request };
        match self.extractor.extract_fitting(candidate.text(), &fitting) {
            Ok(extracted) => self.accept(candidate, schema, extracted),
            Err(error) => Err(self.reject(candidate, schema, error)),
        }
    }

    /// Whether a complete value is one that [`read`](Self::read) would take, whatever other values follow it.
    pub(crate) fn fits(&self, value: &Value, schema: &Schema, request: &Request) -> bool {
        !self.extractor.takes_last() && Fitting { schema, reading: self, request }.fit(value) != Fit::No
    }

    fn accept(
        &self,
        candidate: Candidate<'_>,
        schema: &Schema,
        extracted: Extracted,
    ) -> Result<Value, Rejection> {
        let exact = extracted.is_exact();
        let value = schema.unwrap(extracted.value);
        let follows = exact || schema.is_valid(&value);
        let (value, coercions) = schema.convert_known(value, follows, self.coercion);
        if !follows {
            let violations = schema.violations(&value);
            if !violations.is_empty() {
                return Err(mismatch(&violations));
            }
        }
        for repair in extracted.repairs {
            candidate
                .record(Change::repair(repair.kind.as_str(), repair.risk, repair.pointer).at(repair.offset));
        }
        for coercion in coercions {
            let risk = risk(coercion.kind.mode());
            candidate.record(Change::coercion(coercion.kind.as_str(), risk, coercion.pointer));
        }
        Ok(value)
    }

    fn reject(&self, candidate: Candidate<'_>, schema: &Schema, error: ExtractError) -> Rejection {
        match error {
            ExtractError::Empty => Rejection::empty(),
            ExtractError::Truncated(at) => {
                Rejection::truncated(format!("the JSON was cut off {at}")).with_pointer(at.pointer)
            }
            ExtractError::OnlyReasoning { unclosed: true } => {
                Rejection::truncated("the answer ends inside its reasoning")
            }
            ExtractError::Ambiguous { count } => {
                Rejection::ambiguous(format!("{count} different values in the answer fit"))
            }
            ExtractError::Mismatch(extracted) => self.mismatched(candidate, schema, extracted.value),
            other => self
                .declined(candidate)
                .or_else(|| echo::error_page(schema, candidate.text(), None))
                .unwrap_or_else(|| {
                    Rejection::not_json(other.to_string()).with_feedback(
                        "It holds no usable JSON. Write the JSON value alone, without prose or code fences.",
                    )
                }),
        }
    }

    /// Why a value may not be used, the more telling reasons first.
    fn mismatched(&self, candidate: Candidate<'_>, schema: &Schema, value: Value) -> Rejection {
        if let Some(echo) = echo::schema(schema, &value) {
            return echo;
        }
        if let Some(declined) = self.declined(candidate) {
            return declined;
        }
        if let Some(page) = echo::error_page(schema, candidate.text(), Some(&value)) {
            return page;
        }
        let value = schema.unwrap(value);
        if echo::is_example(&self.examples, &value, candidate.request) {
            return echo::example();
        }
        let (value, _) = coerce::coerce(value, schema.original(), self.coercion);
        mismatch(&schema.violations(&value))
    }

    /// Where there is no valid value, the text may say why.
    fn declined(&self, candidate: Candidate<'_>) -> Option<Rejection> {
        let verdict = self.refusals.detect_with(signals(candidate).json_expected(true), candidate.text());
        match verdict.kind {
            Kind::NeedsInput => Some(Rejection::of(
                FailureKind::NeedsInput,
                "the model asks for input that the request lacks",
            )),
            _ if verdict.refusal => Some(Rejection::refused("the model declined in words")),
            _ => None,
        }
    }
}

/// The settings of a validator that has a schema, a [`Reading`] and checks.
macro_rules! settings {
    () => {
        /// A check that the value must pass once it follows schema and rules; it sees the value
        /// ([`Candidate::value`](backstop_core::Candidate::value)).
        #[must_use]
        pub fn check(mut self, check: impl backstop_core::Check) -> Self {
            if let Err(mistake) = check.ready() {
                self = self.failing(mistake);
            }
            self.checks.push(std::sync::Arc::new(check));
            self
        }

        /// What may be repaired in the text. Default [`Policy::Tolerant`]($crate::json::Policy::Tolerant).
        #[must_use]
        pub fn policy(mut self, policy: $crate::json::Policy) -> Self {
            self.reading.extractor = self.reading.extractor.policy(policy);
            self
        }

        /// What to do when several different values fit. Default: refuse.
        #[must_use]
        pub fn candidates(mut self, candidates: $crate::json::Candidates) -> Self {
            self.reading.extractor = self.reading.extractor.candidates(candidates);
            self
        }

        /// How far values are converted to the schema's types. Default [`Mode::Safe`]($crate::coerce::Mode::Safe).
        #[must_use]
        pub fn coercion(mut self, mode: $crate::coerce::Mode) -> Self {
            self.reading.coercion = mode;
            self
        }

        /// What counts as a refusal when there is no valid value. Default
        /// [`Detector::balanced`]($crate::refusal::Detector::balanced).
        #[must_use]
        pub fn refusals(mut self, detector: $crate::refusal::Detector) -> Self {
            self.reading.refusals = detector;
            self
        }

        /// A mistake in a setting fails the call as a wrong schema would.
        pub(crate) fn failing(mut self, mistake: backstop_core::ConfigError) -> Self {
            if self.schema.is_ok() {
                self.schema = Err(mistake);
            }
            self
        }
    };
}

pub(crate) use settings;

/// What the vendor says about an answer.
pub(crate) fn signals(candidate: Candidate<'_>) -> Signals {
    let response = candidate.response;
    Signals::new()
        .vendor_refusal(response.refusal.is_some() || response.finish.kind == FinishKind::Refusal)
        .filtered(response.finish.kind == FinishKind::ContentFilter)
        .truncated(response.finish.kind == FinishKind::Length)
}

fn mismatch(violations: &[Violation]) -> Rejection {
    let reasons: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let feedback: Vec<String> =
        violations.iter().map(|violation| format!("- {}", violation.feedback())).collect();
    let rejection = Rejection::schema(reasons.join("; ")).with_feedback(feedback.join("\n"));
    match violations.first() {
        Some(first) => rejection.with_pointer(first.pointer.clone()),
        None => rejection,
    }
}

/// Safe conversions have one reading; eager ones may have another.
fn risk(mode: Mode) -> Risk {
    if mode == Mode::Eager { Risk::Guess } else { Risk::Cosmetic }
}

/// Lets the schema choose among several values of a text.
struct Fitting<'a> {
    schema: &'a Schema,
    reading: &'a Reading,
    request: &'a Request,
}

impl Accept for Fitting<'_> {
    fn fit(&self, value: &Value) -> Fit {
        if self.schema.accepts(value) {
            return if self.is_example(value) { Fit::No } else { Fit::Exact };
        }
        let mode = self.reading.coercion;
        if mode == Mode::Off {
            return Fit::No;
        }
        let value = self.schema.unwrap(value.clone());
        let (value, coercions) = coerce::coerce(value, self.schema.original(), mode);
        if self.schema.is_valid(&value) { Fit::Coerced(coercions.len()) } else { Fit::No }
    }
}

impl Fitting<'_> {
    /// An example's answer that is given back is no answer, and another value beside it may be one.
    fn is_example(&self, value: &Value) -> bool {
        let examples = &self.reading.examples;
        !examples.is_empty() && echo::is_example(examples, &self.schema.unwrap(value.clone()), self.request)
    }
}
