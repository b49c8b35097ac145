//! The detector: settings, and the order in which evidence is looked at.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::head::{Head, answer_start, fold_phrase};
use super::score::Score;
use super::weigh::weigh;
use super::wrapped::{Document, Leaf};
use super::{Evidence, Kind, Language, RefusalClassifier, Signals, Verdict};

/// Characters of an answer that are judged: declines stand at the start.
const WINDOW: usize = 300;
/// The points of a denied phrase: more than any preset's threshold, so that it decides.
const DENIED: i32 = 90;
/// Points from which an answer asks for input; they outweigh a decline ("I can't summarise it, nothing was attached").
const INPUT: i32 = 60;
/// What a JSON field named `refusal` is worth at least.
const REFUSAL_FIELD: i32 = 70;
/// Strings of a JSON answer that are judged.
const LEAVES: usize = 32;

/// Tells refusals from answers, by the rules described in the [module documentation](super).
///
/// A detector is cheap to clone and to share. Defaults: threshold 40 points, all languages, no phrases, partial
/// answers pass.
///
/// ```
/// use backstop_validate::refusal::{Detector, Kind};
///
/// let detector = Detector::balanced();
/// let verdict = detector.detect("I'm sorry, but I can't help with that request.");
/// assert!(verdict.refusal);
/// assert_eq!(verdict.kind, Kind::Refusal);
/// assert!(!detector.detect("The invoice total is 42 euros.").refusal);
/// ```
#[derive(Clone)]
pub struct Detector {
    threshold: i32,
    allowed: Vec<String>,
    denied: Vec<String>,
    languages: Option<Vec<Language>>,
    partial_counts: bool,
    classifiers: Vec<Arc<dyn RefusalClassifier>>,
}

impl Default for Detector {
    fn default() -> Self {
        Self::balanced()
    }
}

impl fmt::Debug for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detector")
            .field("threshold", &self.threshold)
            .field("allowed", &self.allowed.len())
            .field("denied", &self.denied.len())
            .field("languages", &self.languages)
            .field("partial_counts", &self.partial_counts)
            .field("classifiers", &self.classifiers.iter().map(|c| c.name()).collect::<Vec<_>>())
            .finish()
    }
}

impl Detector {
    /// Threshold 70: only plain declines. For chats and role-play, where a character may say "I can't".
    #[must_use]
    pub fn strict() -> Self {
        Self::with_threshold(70)
    }

    /// Threshold 40: for prose. The default.
    #[must_use]
    pub fn balanced() -> Self {
        Self::with_threshold(40)
    }

    /// Threshold 25: for structured answers, where a refusal that passes costs a broken record.
    #[must_use]
    pub fn sensitive() -> Self {
        Self::with_threshold(25)
    }

    fn with_threshold(threshold: i32) -> Self {
        Self {
            threshold,
            allowed: Vec::new(),
            denied: Vec::new(),
            languages: None,
            partial_counts: false,
            classifiers: Vec::new(),
        }
    }

    /// Sets the points from which an answer is a refusal. At least 1: with less, every answer would be one.
    #[must_use]
    pub fn threshold(mut self, points: i32) -> Self {
        self.threshold = points.max(1);
        self
    }

    /// A phrase that is no refusal, such as an assistant's own stock sentence. Where it occurs its words count for
    /// nothing; what stands around it is judged. Case, spacing and apostrophes do not matter.
    #[must_use]
    pub fn allow(mut self, phrase: &str) -> Self {
        push_phrase(&mut self.allowed, phrase);
        self
    }

    /// A phrase that is a refusal wherever it occurs in the part that is judged. Case, spacing and apostrophes do not
    /// matter; an allowed phrase that covers it wins.
    #[must_use]
    pub fn deny(mut self, phrase: &str) -> Self {
        push_phrase(&mut self.denied, phrase);
        self
    }

    /// Uses the rules of these languages only. Default: all.
    #[must_use]
    pub fn languages(mut self, languages: impl IntoIterator<Item = Language>) -> Self {
        self.languages = Some(languages.into_iter().collect());
        self
    }

    /// Whether [`Kind::Partial`] counts as a refusal. Default: no.
    #[must_use]
    pub fn partial_is_refusal(mut self, yes: bool) -> Self {
        self.partial_counts = yes;
        self
    }

    /// Adds a classifier of your own; several are asked in the order in which they were added.
    #[must_use]
    pub fn classifier(mut self, classifier: impl RefusalClassifier + 'static) -> Self {
        self.classifiers.push(Arc::new(classifier));
        self
    }

    /// The points from which an answer is a refusal.
    #[must_use]
    pub fn threshold_points(&self) -> i32 {
        self.threshold
    }

    /// Compiles the patterns of the detector's languages now, once per process. Without it the first answer with a
    /// cue of a language waits for that language's patterns: some 100 ms for English, up to 20 ms for another.
    #[must_use]
    pub fn prepared(self) -> Self {
        // A pattern that does not compile is a rule that never fires; a test sees to it that there is none.
        let _broken = super::weigh::prepare(self.languages.as_deref());
        self
    }

    /// Judges a text of which nothing else is known.
    #[must_use]
    pub fn detect(&self, text: &str) -> Verdict {
        self.detect_with(Signals::default(), text)
    }

    /// Judges a text together with what the wire said: vendor signals first, then structure, then text.
    #[must_use]
    pub fn detect_with(&self, signals: Signals, text: &str) -> Verdict {
        if signals.vendor_refusal {
            return Verdict::certain(Kind::Refusal, "vendor: refusal");
        }
        if signals.filtered {
            return Verdict::certain(Kind::Filtered, "vendor: filter");
        }
        let start = answer_start(text);
        let found = match Document::read(text.get(start..).unwrap_or_default(), start) {
            Some(document) => self.judge_document(&document),
            None => self.judge_text(text, signals),
        };
        self.conclude(found, text)
    }

    fn judge_text(&self, text: &str, signals: Signals) -> Score {
        let mut found = self.judge_prose(text, signals.truncated);
        if signals.json_expected && found.points() > 0 {
            found.note("json was asked for", 25);
        }
        found
    }

    fn judge_prose(&self, text: &str, cut_off: bool) -> Score {
        let mut head = Head::new(text, WINDOW);
        let allowed = occurrences(&head, &self.allowed);
        let spans: Vec<_> = allowed.iter().map(|part| head.origin(part)).collect();
        head.blank(&allowed);
        let denied: Vec<_> = occurrences(&head, &self.denied).iter().map(|part| head.origin(part)).collect();
        let mut found = weigh(text, head, self.languages.as_deref(), cut_off);
        if let Some(span) = denied.into_iter().next() {
            // A caller's phrase decides; what the form of the answer took away does not count.
            let lost = found.points().min(0);
            found.declined += DENIED;
            found.obstacle = true;
            found.evidence.push(Evidence { span, rule: "denied phrase", points: DENIED - lost });
        }
        found.evidence.extend(spans.into_iter().map(|span| Evidence {
            span,
            rule: "allowed phrase",
            points: 0,
        }));
        found
    }

    /// The most suspicious string of a JSON answer speaks for it.
    fn judge_document(&self, document: &Document) -> Score {
        let judged: Vec<_> = document
            .leaves
            .iter()
            .take(LEAVES)
            .map(|leaf| (leaf, self.judge_prose(&leaf.text, document.values > 1)))
            .collect();
        let declining = judged.iter().filter(|(_, found)| found.points() >= self.threshold).count();
        // Fields that decline one and all are a refusal in the shape of a record.
        let all_decline = declining >= 2 && declining * 2 > judged.len();
        judged
            .into_iter()
            .map(|(leaf, found)| placed(found, leaf, if all_decline { 0 } else { document.place(leaf) }))
            .max_by_key(|found| (found.points(), found.input))
            .filter(|found| found.points() > 0 || found.input > 0)
            .unwrap_or_default()
    }

    fn conclude(&self, mut found: Score, text: &str) -> Verdict {
        if !self.classifiers.is_empty() {
            self.ask_classifiers(&mut found, text);
        }
        self.verdict(&found)
    }

    fn ask_classifiers(&self, found: &mut Score, text: &str) {
        for classifier in &self.classifiers {
            let points = classifier.points(text, &self.verdict(found));
            if points != 0 {
                found.declined = found.declined.saturating_add(points.max(0));
                found.note(classifier.name(), points);
            }
        }
    }

    fn verdict(&self, found: &Score) -> Verdict {
        let points = found.points();
        let kind = self.kind(found, points);
        let refusal = match kind {
            Kind::Refusal | Kind::Deflection | Kind::Filtered => true,
            Kind::Partial => self.partial_counts,
            Kind::Comply | Kind::NeedsInput => false,
        };
        Verdict { refusal, kind, points, evidence: found.evidence.clone(), language: found.language }
    }

    fn kind(&self, found: &Score, points: i32) -> Kind {
        // Words that only stand beside refusals add up to none.
        let refused = points >= self.threshold && found.declined + found.deflected > 0;
        if found.input >= INPUT && !found.obstacle {
            return Kind::NeedsInput;
        }
        if refused {
            return if found.filtered > 0 {
                Kind::Filtered
            } else if found.declined == 0 {
                Kind::Deflection
            } else {
                Kind::Refusal
            };
        }
        // Without what the answer holds besides it, the decline would have been enough.
        if found.declined > 0 && points - found.substance >= self.threshold {
            return Kind::Partial;
        }
        Kind::Comply
    }
}

/// Points the evidence of a JSON string into the answer, and weighs the place it stands in.
fn placed(mut found: Score, leaf: &Leaf, place: i32) -> Score {
    // Escapes shift positions, so that only the string as a whole can be pointed at.
    let verbatim = leaf.span.len() == leaf.text.len();
    for evidence in &mut found.evidence {
        evidence.span = if evidence.span.is_empty() || !verbatim {
            leaf.span.clone()
        } else {
            leaf.span.start + evidence.span.start..leaf.span.start + evidence.span.end
        };
    }
    if leaf.key == "refusal" && place == 0 {
        let missing = (REFUSAL_FIELD - found.points()).max(0);
        found.declined += missing;
        found.evidence.push(Evidence {
            span: leaf.span.clone(),
            rule: "json: refusal field",
            points: missing,
        });
    }
    if place != 0 && !found.evidence.is_empty() {
        found.input = 0;
        found.evidence.push(Evidence {
            span: leaf.span.clone(),
            rule: "json: a field among others",
            points: place,
        });
    }
    found
}

/// Where the phrases occur in the head.
fn occurrences(head: &Head, phrases: &[String]) -> Vec<Range<usize>> {
    let text = head.text();
    phrases
        .iter()
        .flat_map(|phrase| text.match_indices(phrase.as_str()).map(|(at, found)| at..at + found.len()))
        .collect()
}

fn push_phrase(phrases: &mut Vec<String>, phrase: &str) {
    let folded = fold_phrase(phrase);
    if !folded.is_empty() {
        phrases.push(folded);
    }
}
