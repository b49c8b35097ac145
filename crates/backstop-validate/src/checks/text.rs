//! Ready checks and validators of text.

use std::fmt;

use async_trait::async_trait;
use backstop_core::{Candidate, Check, FailureKind, Rejection, Validator};

use crate::{
    reading::{Reading, signals},
    refusal::{Detector, Kind, Signals},
    schema::Schema,
};

/// The answer has at least so many characters, not counting blanks at the ends.
///
/// ```
/// use backstop_validate::MinLength;
/// # use backstop_core::{Chain, ChainBuilder};
/// # fn add(builder: ChainBuilder) -> ChainBuilder {
/// builder.check(MinLength(20))
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MinLength(pub usize);

/// The answer has a character that is not a blank.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonEmpty;

#[async_trait]
impl Check for MinLength {
    fn name(&self) -> &str {
        "min_length"
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        let length = candidate.text().trim().chars().count();
        if length >= self.0 {
            return Ok(());
        }
        let reason = format!("{length} characters, at least {} are wanted", self.0);
        Err(Rejection::of(FailureKind::TooShort, reason))
    }
}

#[async_trait]
impl Check for NonEmpty {
    fn name(&self) -> &str {
        "non_empty"
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        if candidate.text().trim().is_empty() { Err(Rejection::empty()) } else { Ok(()) }
    }
}

/// The model did not decline: by the vendor's own signal first, then by words.
///
/// ```
/// use backstop_validate::{Refusal, refusal::Detector};
/// # use backstop_core::ChainBuilder;
/// # fn add(builder: ChainBuilder) -> ChainBuilder {
/// builder.check(Refusal::new(Detector::strict().allow("I cannot recommend")))
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    detector: Detector,
    needs_input: bool,
}

impl Refusal {
    /// With this detector. Default: [`Detector::balanced`].
    #[must_use]
    pub fn new(detector: Detector) -> Self {
        Self { detector, needs_input: false }
    }

    /// Also rejects an answer that asks for something the request lacks, as [`FailureKind::NeedsInput`]. Off by
    /// default, because in a conversation that is an answer.
    #[must_use]
    pub fn needs_input(mut self) -> Self {
        self.needs_input = true;
        self
    }

    fn judge(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.judge_text(signals(candidate), candidate.text())
    }

    fn judge_text(&self, signals: Signals, text: &str) -> Result<(), Rejection> {
        let verdict = self.detector.detect_with(signals, text);
        if verdict.kind == Kind::NeedsInput && self.needs_input {
            let reason = "the model asks for input that the request lacks";
            return Err(Rejection::of(FailureKind::NeedsInput, reason));
        }
        if !verdict.refusal {
            return Ok(());
        }
        let rules: Vec<&str> = verdict
            .evidence
            .iter()
            .filter(|evidence| evidence.points > 0)
            .map(|evidence| evidence.rule)
            .collect();
        let reason = format!("the model declined ({} points: {})", verdict.points, rules.join(", "));
        Err(Rejection::refused(reason).with_score(f64::from(verdict.points)))
    }
}

#[async_trait]
impl Check for Refusal {
    fn name(&self) -> &str {
        "refusal"
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.judge(candidate)
    }

    /// By words alone: a vendor's signal ends a stream by itself. A head is an answer whose shortness says nothing.
    fn check_head(&self, head: &str) -> Result<(), Rejection> {
        self.judge_text(Signals::new().truncated(true), head)
    }
}

/// Text that is not a refusal. What [`ChainExt::text`](crate::ChainExt::text) uses.
#[derive(Clone, Debug, Default)]
pub struct CheckedText {
    refusal: Refusal,
}

impl CheckedText {
    /// With this check of refusals.
    #[must_use]
    pub fn new(refusal: Refusal) -> Self {
        Self { refusal }
    }
}

impl Validator for CheckedText {
    type Output = String;

    async fn validate(&self, candidate: Candidate<'_>) -> Result<String, Rejection> {
        self.refusal.judge(candidate)?;
        Ok(candidate.text().to_owned())
    }
}

/// The answer holds JSON that follows a schema. Unlike [`Typed`](crate::Typed) it makes no value of it and does not
/// put the schema into the request.
pub struct FollowsSchema {
    schema: Schema,
    reading: Reading,
}

impl FollowsSchema {
    /// With the tolerant repair policy and without conversion.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        let reading = Reading { coercion: crate::coerce::Mode::Off, ..Reading::default() };
        Self { schema, reading }
    }
}

impl fmt::Debug for FollowsSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FollowsSchema").field(&self.schema).finish()
    }
}

#[async_trait]
impl Check for FollowsSchema {
    fn name(&self) -> &str {
        "json_schema"
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.reading.read(candidate, &self.schema).map(drop)
    }
}
