//! What is known about an answer besides its text.

/// Facts from the wire and from the request, for [`Detector::detect_with`](super::Detector::detect_with).
///
/// ```
/// use backstop_validate::refusal::Signals;
///
/// let signals = Signals::new().vendor_refusal(true);
/// assert!(signals.vendor_refusal);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signals {
    /// The vendor marked the answer as a refusal: a refusal field, a stop reason that says so. Decides alone.
    pub vendor_refusal: bool,
    /// The vendor's finish reason says that a filter stopped the answer. Decides alone.
    pub filtered: bool,
    /// The answer ended at the token limit, so that its shortness says nothing.
    pub truncated: bool,
    /// JSON was asked for: prose that looks like declining is then worth 25 points more.
    pub json_expected: bool,
}

impl Signals {
    /// Nothing known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`vendor_refusal`](Self::vendor_refusal).
    #[must_use]
    pub fn vendor_refusal(mut self, yes: bool) -> Self {
        self.vendor_refusal = yes;
        self
    }

    /// Sets [`filtered`](Self::filtered).
    #[must_use]
    pub fn filtered(mut self, yes: bool) -> Self {
        self.filtered = yes;
        self
    }

    /// Sets [`truncated`](Self::truncated).
    #[must_use]
    pub fn truncated(mut self, yes: bool) -> Self {
        self.truncated = yes;
        self
    }

    /// Sets [`json_expected`](Self::json_expected).
    #[must_use]
    pub fn json_expected(mut self, yes: bool) -> Self {
        self.json_expected = yes;
        self
    }
}
