//! What the detector says, and why.

use std::ops::Range;

use serde::Serialize;

/// The detector's answer: what kind of text it saw, how sure it is, and the evidence for it.
///
/// `points` is the sum of the evidence's points. It is a score, not a probability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the answer should be treated as a refusal, by the detector's threshold and settings.
    pub refusal: bool,
    /// What kind of answer it is.
    pub kind: Kind,
    /// The sum of the evidence's points; compare with [`Detector::threshold_points`](super::Detector::threshold_points).
    pub points: i32,
    /// Every rule that fired, for and against, in the order in which they were applied.
    pub evidence: Vec<Evidence>,
    /// The language of the rule that weighed most; `None` if no rule of a language fired.
    pub language: Option<Language>,
}

impl Verdict {
    pub(crate) fn certain(kind: Kind, rule: &'static str) -> Self {
        let evidence = vec![Evidence { span: 0..0, rule, points: CERTAIN }];
        Self { refusal: true, kind, points: CERTAIN, evidence, language: None }
    }

    /// Whether a vendor's own signal decided, so that no text had to be judged.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.points >= CERTAIN
    }
}

/// The points of a vendor's own signal: more than any text can reach.
pub(crate) const CERTAIN: i32 = 1000;

/// What kind of answer a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// An answer, as far as the rules can tell.
    Comply,
    /// The model declines.
    Refusal,
    /// The model changes the topic or lectures instead of answering, without saying that it declines.
    Deflection,
    /// The vendor or a gateway stopped the answer.
    Filtered,
    /// The model declines a part and answers the rest. Not a refusal unless the detector was told to count it.
    Partial,
    /// The model asks for input it did not get: no document attached, a link it cannot open. Never a refusal: the
    /// next provider would have to ask the same.
    NeedsInput,
}

impl Kind {
    /// The kind as one lower-case word, as in logs and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comply => "comply",
            Self::Refusal => "refusal",
            Self::Deflection => "deflection",
            Self::Filtered => "filtered",
            Self::Partial => "partial",
            Self::NeedsInput => "needs_input",
        }
    }
}

/// One rule that fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Bytes of the original text that the rule matched. Empty for evidence about the whole answer, such as its
    /// length. Both ends are character boundaries of the text.
    pub span: Range<usize>,
    /// The rule's name, stable enough to count in metrics.
    pub rule: &'static str,
    /// What it added (or, if negative, took away).
    pub points: i32,
}

/// A language that has rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // The names say it all.
pub enum Language {
    #[serde(rename = "en")]
    English,
    #[serde(rename = "fr")]
    French,
    #[serde(rename = "de")]
    German,
    #[serde(rename = "it")]
    Italian,
    #[serde(rename = "es")]
    Spanish,
    #[serde(rename = "pt")]
    Portuguese,
    #[serde(rename = "nl")]
    Dutch,
    #[serde(rename = "sv")]
    Swedish,
    #[serde(rename = "pl")]
    Polish,
    #[serde(rename = "ru")]
    Russian,
    #[serde(rename = "zh")]
    Chinese,
    #[serde(rename = "ja")]
    Japanese,
    #[serde(rename = "ko")]
    Korean,
    #[serde(rename = "ar")]
    Arabic,
    #[serde(rename = "hi")]
    Hindi,
    #[serde(rename = "tr")]
    Turkish,
    #[serde(rename = "id")]
    Indonesian,
    #[serde(rename = "vi")]
    Vietnamese,
}

impl Language {
    /// The ISO 639-1 code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
            Self::German => "de",
            Self::Italian => "it",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Dutch => "nl",
            Self::Swedish => "sv",
            Self::Polish => "pl",
            Self::Russian => "ru",
            Self::Chinese => "zh",
            Self::Japanese => "ja",
            Self::Korean => "ko",
            Self::Arabic => "ar",
            Self::Hindi => "hi",
            Self::Turkish => "tr",
            Self::Indonesian => "id",
            Self::Vietnamese => "vi",
        }
    }
}
