//! Checks that measure: a score from 0 to 1, and a threshold.

use std::{borrow::Cow, cmp::Ordering, fmt};

use async_trait::async_trait;
use backstop_core::{Candidate, Check, ConfigError, Rejection, Remedy};

/// How good an answer is by one measure. Most scores are checks as well, with a threshold of their own; [`Weighted`]
/// adds several up.
#[async_trait]
pub trait Score: Send + Sync + 'static {
    /// A short name, for reports.
    fn name(&self) -> &str;

    /// Whether it can work as it is set; see [`Check::ready`]. Default: it can.
    ///
    /// # Errors
    /// A setting cannot work; the error names it.
    fn ready(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Measures an answer.
    ///
    /// # Errors
    /// The answer may not be used, whatever else is good about it.
    async fn score(&self, candidate: Candidate<'_>) -> Result<Grade, Rejection>;
}

/// What a score says about an answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Grade {
    /// From 0 to 1; `None` if there was nothing to measure, which passes.
    pub score: Option<f64>,
    /// Why, for people. Does not quote the answer.
    pub reason: Cow<'static, str>,
    /// Why, for the model.
    pub feedback: Option<String>,
    /// JSON pointer of what is worst.
    pub pointer: Option<String>,
}

impl Grade {
    /// A score, which is held between 0 and 1 (what is not a number counts as 0), and the reason for it.
    #[must_use]
    pub fn new(score: f64, reason: impl Into<Cow<'static, str>>) -> Self {
        let score = if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) };
        Self { score: Some(score), reason: reason.into(), ..Self::default() }
    }

    /// There was nothing to measure.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Sets what the model is told.
    #[must_use]
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    /// Sets the JSON pointer of what is worst.
    #[must_use]
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Passes from the threshold on. A rejection carries the score, and feedback for policies that ask again.
    pub(super) fn hold_against(self, threshold: f64) -> Result<(), Rejection> {
        // A threshold that is not a number passes nothing.
        let below = |score: &f64| score.partial_cmp(&threshold).is_none_or(Ordering::is_lt);
        let Some(score) = self.score.filter(below) else { return Ok(()) };
        let reason = format!("{} (at least {threshold:.2} is wanted)", self.reason);
        let rejection = Rejection::new(reason).with_score(score);
        let rejection = match self.pointer {
            Some(pointer) => rejection.with_pointer(pointer),
            None => rejection,
        };
        Err(match self.feedback {
            // Where a policy asks again after a rejection, it should say what is wrong.
            Some(feedback) => rejection.with_feedback(feedback).with_remedy(Remedy::Feedback),
            None => rejection,
        })
    }
}

/// Scores go from 0 to 1, and so do thresholds.
pub(super) fn check_threshold(check: &str, threshold: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&threshold) {
        return Ok(());
    }
    Err(ConfigError::setting(
        "threshold",
        format!("of the check `{check}` is {threshold}: give it 0.0 to 1.0"),
    ))
}

/// A check as a score: 1 if it passes, 0 if not.
#[derive(Clone, Debug)]
pub struct PassFail<C>(pub C);

#[async_trait]
impl<C: Check> Score for PassFail<C> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.0.ready()
    }

    async fn score(&self, candidate: Candidate<'_>) -> Result<Grade, Rejection> {
        Ok(match self.0.check(candidate).await {
            Ok(()) => Grade::new(1.0, "passed"),
            Err(rejection) => {
                let grade =
                    Grade::new(0.0, rejection.reason().to_owned()).with_feedback(rejection.feedback());
                Grade { pointer: rejection.pointer().map(str::to_owned), ..grade }
            }
        })
    }
}

/// Several scores as one: their mean, by weight. What has nothing to measure does not count.
///
/// ```
/// use backstop_validate::{Grounded, MinLength, PassFail, Weighted};
/// # fn add(builder: backstop_core::ChainBuilder) -> backstop_core::ChainBuilder {
///
/// let quality = Weighted::new(0.75).add(3.0, Grounded::new()).add(1.0, PassFail(MinLength(200)));
/// builder.check(quality)
/// # }
/// ```
pub struct Weighted {
    threshold: f64,
    parts: Vec<(f64, Box<dyn Score>)>,
}

impl Weighted {
    /// Passes from this mean on, from 0.0 to 1.0.
    #[must_use]
    pub fn new(threshold: f64) -> Self {
        Self { threshold, parts: Vec::new() }
    }

    /// Adds a score with its weight, which is not negative; one of 0 leaves it out.
    #[must_use]
    pub fn add(mut self, weight: f64, score: impl Score) -> Self {
        if weight != 0.0 {
            self.parts.push((weight, Box::new(score)));
        }
        self
    }

    fn check_settings(&self) -> Result<(), ConfigError> {
        check_threshold("weighted", self.threshold)?;
        for (weight, part) in &self.parts {
            if *weight < 0.0 || !weight.is_finite() {
                let why = format!("of the score `{}` is {weight}: give it a number above 0", part.name());
                return Err(ConfigError::setting("weight", why));
            }
            part.ready()?;
        }
        Ok(())
    }
}

#[async_trait]
impl Score for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.check_settings()
    }

    async fn score(&self, candidate: Candidate<'_>) -> Result<Grade, Rejection> {
        let (mut sum, mut weights) = (0.0, 0.0);
        let (mut reasons, mut feedback, mut pointer) = (Vec::new(), Vec::new(), None);
        for (weight, part) in &self.parts {
            let grade = part.score(candidate).await?;
            let Some(score) = grade.score else { continue };
            sum += weight * score;
            weights += weight;
            reasons.push(format!("{} {score:.2}", part.name()));
            if score < 1.0 {
                feedback.extend(grade.feedback);
                pointer = pointer.or(grade.pointer);
            }
        }
        if weights == 0.0 {
            return Ok(Grade::nothing());
        }
        let grade = Grade::new(sum / weights, reasons.join(", "));
        let feedback = (!feedback.is_empty()).then(|| feedback.join("\n"));
        Ok(Grade { feedback, pointer, ..grade })
    }
}

#[async_trait]
impl Check for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.check_settings()
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.score(candidate).await?.hold_against(self.threshold)
    }
}

impl fmt::Debug for Weighted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts.iter().map(|(weight, part)| (part.name(), weight));
        f.debug_struct("Weighted")
            .field("threshold", &self.threshold)
            .field("parts", &parts.collect::<Vec<_>>())
            .finish()
    }
}
