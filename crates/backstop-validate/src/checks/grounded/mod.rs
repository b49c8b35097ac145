//! Whether what was extracted stands in the input.

mod dates;
mod leaves;
mod normal;
mod numbers;
mod runs;
mod source;

use std::{borrow::Cow, fmt, sync::Arc};

use async_trait::async_trait;
use backstop_core::{Candidate, Check, ConfigError, Output, Rejection, Request};
use serde_json::Value;

use self::{
    leaves::{Leaf, Pattern, labels, leaves},
    source::{Source, find},
};
use super::score::{Grade, Score, check_threshold};
use crate::{
    reading::Reading,
    schema::{Schema, Violation},
};

/// Most places that are named.
const MAX_LINES: usize = 5;

/// The strings and numbers of the extracted value occur in the input: what does not was made up, or worked out. The
/// score is the share that occurs.
///
/// Compared without regard to case, blanks and punctuation; numbers by value, whatever their separators (`1,234.50`,
/// `1.234,50`, `1 234,50`) or sign, and `12 %` also as 0.12; dates by day, in the common numeric forms and with month
/// names in English, German, French, Spanish, Italian, Portuguese and Dutch. Not judged: booleans, null, empty strings,
/// keys, values of an `enum` or `const` of the schema (labels are chosen, not copied), and the places that are
/// [ignored](Self::ignore). A value without anything to judge passes.
///
/// Default threshold 0.8; default source: the user's texts since the last answer of the model, so that examples do not
/// count. Without any text there (only a picture, say), nothing is judged. Costs one pass over the input and a search
/// for each string, for the first 2,000 strings and numbers and at most 256 MiB of searching.
///
/// On a validator the value is at hand; on a chain the check reads it from the answer once more, and answers that hold
/// none are left to the validator.
///
/// ```
/// use backstop_core::{Chain, ProviderExt};
/// use backstop_mock::{MockProvider, Step};
/// use backstop_validate::{ChainExt, Grounded};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # #[schemars(crate = "backstop_validate::schemars")]
/// struct Invoice {
///     vendor: String,
///     total: f64,
///     summary: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let answer = r#"{"vendor": "ACME", "total": 1234.5, "summary": "One anvil."}"#;
/// # let chain = Chain::builder().target(MockProvider::new("mock", [Step::text(answer)]).model("m")).build()?;
/// let invoice = chain
///     .extractor::<Invoice>()
///     .input("ACME bills you EUR 1.234,50 for an anvil.")
///     .check(Grounded::new().ignore("/summary"))
///     .await?;
/// assert_eq!(invoice.value.total, 1234.5);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Grounded {
    threshold: f64,
    against: Against,
    ignored: Vec<Pattern>,
}

/// Where extracted values have to occur.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Against {
    /// The user's texts since the last answer of the model (default). An example's answer counts as one.
    #[default]
    LastTurn,
    /// All texts of the user.
    Conversation,
    /// This text, for example what is known to stand in a picture.
    Text(Arc<str>),
}

impl fmt::Debug for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LastTurn => "LastTurn",
            Self::Conversation => "Conversation",
            Self::Text(_) => "Text",
        })
    }
}

impl Grounded {
    /// With a threshold of 0.8, against the last turn.
    #[must_use]
    pub fn new() -> Self {
        Self { threshold: 0.8, against: Against::default(), ignored: Vec::new() }
    }

    /// Passes from this share on, from 0.0 to 1.0.
    #[must_use]
    pub fn threshold(mut self, share: f64) -> Self {
        self.threshold = share;
        self
    }

    /// Leaves out a place and all below it, for what the model is meant to write itself. In the JSON pointer `*` stands
    /// for any key or index: `/lines/*/note`.
    #[must_use]
    pub fn ignore(mut self, pointer: &str) -> Self {
        self.ignored.push(Pattern::new(pointer));
        self
    }

    /// Where the values have to occur. Default [`Against::LastTurn`].
    #[must_use]
    pub fn against(mut self, against: Against) -> Self {
        self.against = against;
        self
    }

    fn grade(&self, candidate: Candidate<'_>, value: &Value) -> Grade {
        let Some(texts) = self.texts(candidate.request) else { return Grade::nothing() };
        let labels = labels(candidate.request);
        let leaves = leaves(value, &self.ignored, &labels);
        let judged = find(&Source::new(&texts), &leaves);
        let (of, missing) = (judged.judged, judged.missing);
        if of == 0 {
            return Grade::nothing();
        }
        // Both are at most 2,000.
        let share = (of - missing.len()) as f64 / of as f64;
        let reason = format!("{} of {of} values do not occur in the input", missing.len());
        let grade = Grade::new(share, reason);
        let Some(first) = missing.first() else { return grade };
        let pointer = first.pointer.clone();
        grade.with_feedback(feedback(&missing)).with_pointer(pointer)
    }

    fn texts<'a>(&'a self, request: &'a Request) -> Option<Vec<Cow<'a, str>>> {
        match &self.against {
            Against::LastTurn => source::last_turn(request),
            Against::Conversation => source::conversation(request),
            Against::Text(text) => Some(vec![Cow::Borrowed(text)]),
        }
    }
}

impl Default for Grounded {
    fn default() -> Self {
        Self::new()
    }
}

fn feedback(missing: &[&Leaf<'_>]) -> String {
    let line = |leaf: &&Leaf<'_>| {
        let expected = "what the input says, as it stands there".to_owned();
        format!("- {}", Violation::of(&leaf.pointer, expected, leaf.value).feedback())
    };
    let mut lines: Vec<String> = missing.iter().take(MAX_LINES).map(line).collect();
    let more = missing.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n")
}

/// The value of an answer that no validator has read yet.
fn read(candidate: Candidate<'_>) -> Option<Value> {
    let reading = Reading::default();
    // Without the record of changes, which the validator will make.
    let unrecorded = Candidate::new(candidate.response, candidate.request);
    match &candidate.request.output {
        Output::Schema(wanted) => {
            let schema = Schema::cached(wanted.name.clone(), Arc::clone(&wanted.schema)).ok()?;
            reading.read(unrecorded, &schema).ok()
        }
        _ => reading.extractor.extract(candidate.text()).ok().map(|extracted| extracted.value),
    }
}

#[async_trait]
impl Score for Grounded {
    fn name(&self) -> &str {
        "grounded"
    }

    async fn score(&self, candidate: Candidate<'_>) -> Result<Grade, Rejection> {
        Ok(match candidate.value {
            Some(value) => self.grade(candidate, value),
            None => read(candidate).map_or_else(Grade::nothing, |value| self.grade(candidate, &value)),
        })
    }
}

#[async_trait]
impl Check for Grounded {
    fn name(&self) -> &str {
        "grounded"
    }

    fn ready(&self) -> Result<(), ConfigError> {
        check_threshold("grounded", self.threshold)
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.score(candidate).await?.hold_against(self.threshold)
    }
}

impl fmt::Debug for Grounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grounded")
            .field("threshold", &self.threshold)
            .field("against", &self.against)
            .field("ignored", &self.ignored.len())
            .finish()
    }
}

/// Whether a value that equals an example's answer can only have come from there: most of it does not occur in what was
/// asked. A value without anything to judge, such as a label, may well be right again.
pub(crate) fn repeats_what_was_not_asked(value: &Value, request: &Request) -> bool {
    let labels = labels(request);
    let leaves = leaves(value, &[], &labels);
    match source::last_turn(request) {
        Some(texts) => {
            let judged = find(&Source::new(&texts), &leaves);
            judged.missing.len() * 2 > judged.judged
        }
        // A picture says nothing here, but two values or more are hardly the same by chance.
        None => leaves.len() >= 2,
    }
}
