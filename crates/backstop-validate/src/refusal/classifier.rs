//! The seam for a user's own judgement.

use super::Verdict;

/// A second opinion on an answer, such as a small model or a domain's own list of phrases.
///
/// It is asked after the rules and before the threshold, on every answer that no vendor signal decided. It must not
/// block: the detector is called while a chain waits.
///
/// ```
/// use backstop_validate::refusal::{Detector, RefusalClassifier, Verdict};
///
/// struct HouseStyle;
///
/// impl RefusalClassifier for HouseStyle {
///     fn name(&self) -> &'static str {
///         "house style"
///     }
///     fn points(&self, text: &str, _so_far: &Verdict) -> i32 {
///         if text.starts_with("Computer says no") { 50 } else { 0 }
///     }
/// }
///
/// let detector = Detector::balanced().classifier(HouseStyle);
/// assert!(detector.detect("Computer says no, as so often.").refusal);
/// ```
pub trait RefusalClassifier: Send + Sync {
    /// The name under which its points appear in the evidence.
    fn name(&self) -> &'static str;

    /// Points to add (positive: more like a refusal; negative: less; 0: no opinion). `so_far` is what the rules found.
    fn points(&self, text: &str, so_far: &Verdict) -> i32;
}
