//! Refusal detection: did the model decline instead of answering?
//!
//! A refusal comes with HTTP 200 and passes every transport check. The detector looks at evidence in the order of its
//! certainty: what the vendor marked ([`Signals`]), then the structure (a refusal inside JSON), then the text.
//!
//! 1. **Vendor signals** decide alone; the text is not read.
//! 2. **Structure.** Of an answer that is JSON each string is judged, and its place weighed: a sole string or a field
//!    named `error` speaks for the model, a field among others is content.
//! 3. **Text.** The first 300 characters are folded (case, apostrophes, markup), quotations are taken out, and rules
//!    for 18 languages give integer points: a plain decline 40–90 by position, an obstacle such as a policy 40–70, an
//!    apology 20 and so never enough. The form of the answer (letter, list, labelled field) takes points away.
//!
//! The sum is compared with a threshold: [`Detector::strict`] 70, [`Detector::balanced`] 40, [`Detector::sensitive`]
//! 25. Each [`Evidence`] names its rule, its points and the bytes it was found in. Points are a score, not a
//! probability.
//!
//! Asking for input that was not there ("no document attached") is [`Kind::NeedsInput`] and never a refusal; a decline
//! followed by a substantial answer is [`Kind::Partial`] and is one only on request.
//!
//! ```
//! use backstop_validate::refusal::{Detector, Kind, Signals};
//!
//! let detector = Detector::balanced().allow("I can't give legal advice").deny("call the front desk");
//!
//! let verdict = detector.detect("Es tut mir leid, aber dabei kann ich nicht helfen.");
//! assert!(verdict.refusal);
//! assert_eq!(verdict.language.map(|language| language.code()), Some("de"));
//!
//! let verdict = detector.detect("I can't give legal advice, but the notice period is 30 days.");
//! assert!(!verdict.refusal);
//!
//! let verdict = detector.detect_with(Signals::new().vendor_refusal(true), "");
//! assert_eq!(verdict.kind, Kind::Refusal);
//! ```

mod classifier;
mod detector;
mod head;
mod languages;
mod pattern;
mod rule;
mod score;
mod shape;
mod signals;
mod verdict;
mod weigh;
mod wrapped;

pub use self::classifier::RefusalClassifier;
pub use self::detector::Detector;
pub use self::signals::Signals;
pub use self::verdict::{Evidence, Kind, Language, Verdict};

#[cfg(test)]
mod tests;
