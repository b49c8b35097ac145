//! One row of the policy's table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Ask the same target again, while its counts allow it; then fail over.
    Retry,
    /// Go on with the next target.
    FailOver,
    /// Return the error: the request itself, or the caller's account, is wrong.
    GiveUp,
}

impl fmt::Display for Disposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Retry => "retry",
            Self::FailOver => "fail over",
            Self::GiveUp => "give up",
        })
    }
}

/// What a failure is to the outage breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakerEffect {
    /// Counts as nothing.
    Neutral,
    /// The provider is down.
    Failure,
    /// The provider is up.
    Success,
    /// A failure for a 5xx or an unreadable answer, else neutral.
    ByStatus,
}

/// What a failure does to the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GateEffect {
    /// Nothing.
    None,
    /// Closes the model for this credential, for the time the server names.
    Model,
    /// Closes the whole credential for a fixed time.
    Credential,
    /// Latches the credential until it changes or is reset.
    Latch,
}

/// How a retried request differs. Each at most once per target and call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Remedy {
    /// Not at all.
    Nothing,
    /// The model's own answer and the errors are added.
    Feedback,
    /// A larger token limit.
    MoreTokens,
    /// JSON without a schema.
    JsonMode,
    /// What is wanted stands in the prompt alone: the server takes no format for answers. Comes after
    /// [`JsonMode`](Self::JsonMode).
    PromptOnly,
    /// Without the parameter that the vendor names.
    DropParam,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "nothing",
            Self::Feedback => "feedback",
            Self::MoreTokens => "more tokens",
            Self::JsonMode => "JSON mode",
            Self::PromptOnly => "prompt only",
            Self::DropParam => "drop param",
        })
    }
}

/// What one kind of failure leads to.
///
/// ```
/// use backstop_core::policy::{BreakerEffect, Disposition, Rule};
///
/// const PATIENT: Rule = Rule::new(Disposition::Retry, BreakerEffect::Failure).at_most(3);
/// assert_eq!(PATIENT.at_most, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rule {
    /// Where it leads.
    pub disposition: Disposition,
    /// Where it leads when a [`Disposition::Retry`] is not to be had.
    pub otherwise: Disposition,
    /// Most retries of this kind per target and call, below the target's own count.
    pub at_most: u8,
    /// How a retried request differs, unless adapter or validator propose otherwise.
    pub remedy: Remedy,
    /// Fail over only to targets whose context window is larger or unknown.
    pub larger_context_only: bool,
    /// What it is to the outage breaker.
    pub breaker: BreakerEffect,
    /// What it does to the gates.
    pub gate: GateEffect,
    /// Whether somebody should be told.
    pub alert: bool,
}

impl Rule {
    /// A rule without limit, remedy, gate and alert.
    #[must_use]
    pub const fn new(disposition: Disposition, breaker: BreakerEffect) -> Self {
        Self {
            disposition,
            otherwise: Disposition::FailOver,
            at_most: u8::MAX,
            remedy: Remedy::Nothing,
            larger_context_only: false,
            breaker,
            gate: GateEffect::None,
            alert: false,
        }
    }

    /// Sets where it leads when a retry is not to be had.
    #[must_use]
    pub const fn otherwise(mut self, disposition: Disposition) -> Self {
        self.otherwise = disposition;
        self
    }

    /// Limits the retries of this kind.
    #[must_use]
    pub const fn at_most(mut self, retries: u8) -> Self {
        self.at_most = retries;
        self
    }

    /// Sets how a retried request differs.
    #[must_use]
    pub const fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = remedy;
        self
    }

    /// Fails over to larger context windows only.
    #[must_use]
    pub const fn larger_context_only(mut self) -> Self {
        self.larger_context_only = true;
        self
    }

    /// Sets what it does to the gates.
    #[must_use]
    pub const fn gate(mut self, gate: GateEffect) -> Self {
        self.gate = gate;
        self
    }

    /// Somebody should be told.
    #[must_use]
    pub const fn alert(mut self) -> Self {
        self.alert = true;
        self
    }
}
