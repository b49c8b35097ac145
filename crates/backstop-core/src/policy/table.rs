//! The table: one rule per kind of failure.

use std::fmt;

use super::rule::{BreakerEffect, Disposition, GateEffect, Remedy, Rule};
use crate::error::{ConfigError, FailureKind};

/// What each kind of failure leads to. `Display` prints the table.
///
/// ```
/// use backstop_core::{Disposition, FailureKind, FailurePolicy};
///
/// let policy = FailurePolicy::default().on(FailureKind::Filtered, Disposition::GiveUp);
/// assert_eq!(policy.rule(FailureKind::Filtered).disposition, Disposition::GiveUp);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailurePolicy {
    rules: [Rule; FailureKind::ALL.len()],
    max_declines: Option<u32>,
}

/// Where a kind of a later version would lead.
const FALLBACK: Rule = Rule::new(Disposition::FailOver, BreakerEffect::Neutral);

const fn default_rule(kind: FailureKind) -> Rule {
    use BreakerEffect::{ByStatus, Failure, Neutral, Success};
    use Disposition::{FailOver, GiveUp, Retry};
    use FailureKind as Kind;
    match kind {
        // Asking a hanging server again costs a second timeout, and its work may still be billed.
        Kind::Timeout => Rule::new(FailOver, Failure),
        Kind::Connect | Kind::Server | Kind::MalformedResponse => Rule::new(Retry, Failure),
        // A 429 says that the caller is too fast, not that the provider is down.
        Kind::RateLimited => Rule::new(Retry, Neutral).at_most(1).gate(GateEffect::Model),
        Kind::Overloaded => Rule::new(Retry, Failure).at_most(1),
        Kind::QuotaExhausted => Rule::new(FailOver, Neutral).gate(GateEffect::Credential).alert(),
        // Serving on from another vendor would hide a revoked key until the bill comes.
        Kind::Authentication | Kind::Permission => Rule::new(GiveUp, Neutral).gate(GateEffect::Latch).alert(),
        Kind::ModelNotFound => Rule::new(GiveUp, Neutral).alert(),
        Kind::InvalidRequest => Rule::new(GiveUp, Neutral),
        Kind::ContextTooLong => Rule::new(FailOver, Neutral).larger_context_only(),
        // In JSON mode first, then by the prompt alone: a server that knows no schemas may know no formats at all.
        Kind::SchemaRejected => Rule::new(Retry, Neutral).at_most(2).remedy(Remedy::JsonMode),
        Kind::ParamRejected => {
            Rule::new(Retry, Neutral).at_most(1).remedy(Remedy::DropParam).otherwise(GiveUp)
        }
        Kind::Filtered | Kind::Unsupported | Kind::Cancelled => Rule::new(FailOver, Neutral),
        Kind::StreamInterrupted => Rule::new(GiveUp, Failure),
        Kind::Unknown => Rule::new(FailOver, ByStatus),
        // The provider answered, so it is up: soft kinds are successes to the outage breaker.
        Kind::Empty | Kind::TooShort => Rule::new(Retry, Success).at_most(1),
        Kind::Truncated => Rule::new(Retry, Success).at_most(1).remedy(Remedy::MoreTokens),
        Kind::NotJson | Kind::SchemaMismatch | Kind::ToolCallInvalid => {
            Rule::new(Retry, Success).remedy(Remedy::Feedback)
        }
        // Every model lacks the same input.
        Kind::NeedsInput => Rule::new(GiveUp, Success),
        Kind::Refused | Kind::Ambiguous | Kind::Rejected => Rule::new(FailOver, Success),
    }
}

impl Default for FailurePolicy {
    fn default() -> Self {
        Self { rules: FailureKind::ALL.map(default_rule), max_declines: None }
    }
}

impl FailurePolicy {
    /// Fails over on everything that another provider might serve: bad credentials, unknown models and
    /// requests that one vendor takes for wrong. Alerts and latches stay.
    #[must_use]
    pub fn keep_serving() -> Self {
        use FailureKind::{Authentication, InvalidRequest, ModelNotFound, ParamRejected, Permission};
        [Authentication, Permission, ModelNotFound, InvalidRequest]
            .into_iter()
            .fold(Self::default(), |policy, kind| policy.on(kind, Disposition::FailOver))
            .change(ParamRejected, |rule| rule.otherwise = Disposition::FailOver)
    }

    /// Changes where a kind leads; breaker, gate and alert stay.
    #[must_use]
    pub fn on(self, kind: FailureKind, disposition: Disposition) -> Self {
        self.change(kind, |rule| rule.disposition = disposition)
    }

    /// Changes what a kind is to the outage breaker.
    #[must_use]
    pub fn breaker(self, kind: FailureKind, effect: BreakerEffect) -> Self {
        self.change(kind, |rule| rule.breaker = effect)
    }

    /// Changes whether somebody should be told of a kind.
    #[must_use]
    pub fn alert(self, kind: FailureKind, alert: bool) -> Self {
        self.change(kind, |rule| rule.alert = alert)
    }

    /// Replaces the whole rule of a kind.
    #[must_use]
    pub fn with_rule(self, kind: FailureKind, rule: Rule) -> Self {
        self.change(kind, |old| *old = rule)
    }

    /// Whether it can work.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self.max_declines {
            Some(0) => Err(ConfigError::setting("max_declines", "is 0: give it 1 or more, or leave it out")),
            _ => Ok(()),
        }
    }

    /// Gives up once this many targets, at least 1, have refused or filtered the same request. Default: never.
    #[must_use]
    pub fn max_declines(mut self, declines: u32) -> Self {
        self.max_declines = Some(declines);
        self
    }

    /// After how many refusals and filters a call gives up.
    #[must_use]
    pub fn get_max_declines(&self) -> Option<u32> {
        self.max_declines
    }

    /// The rule of a kind.
    #[must_use]
    pub fn rule(&self, kind: FailureKind) -> Rule {
        self.rules.get(kind as usize).copied().unwrap_or(FALLBACK)
    }

    /// The whole table, in the order of the taxonomy.
    pub fn rows(&self) -> impl Iterator<Item = (FailureKind, Rule)> + '_ {
        FailureKind::ALL.into_iter().zip(self.rules)
    }

    fn change(mut self, kind: FailureKind, change: impl FnOnce(&mut Rule)) -> Self {
        if let Some(rule) = self.rules.get_mut(kind as usize) {
            change(rule);
        }
        self
    }
}

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| kind | leads to | at most | remedy | breaker | gate | alert |")?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- |")?;
        for (kind, rule) in self.rows() {
            let retries = match (rule.disposition, rule.at_most) {
                (Disposition::Retry, u8::MAX) if rule.remedy == Remedy::Feedback => "re-asks".to_owned(),
                (Disposition::Retry, u8::MAX) => "retries".to_owned(),
                (Disposition::Retry, most) => most.to_string(),
                _ => String::new(),
            };
            let remedy = if rule.remedy == Remedy::Nothing { String::new() } else { rule.remedy.to_string() };
            let breaker = match rule.breaker {
                BreakerEffect::Neutral => "neutral",
                BreakerEffect::Failure => "failure",
                BreakerEffect::Success => "success",
                BreakerEffect::ByStatus => "failure for 5xx",
            };
            let gate = match rule.gate {
                GateEffect::None => "",
                GateEffect::Model => "model",
                GateEffect::Credential => "credential",
                GateEffect::Latch => "latch",
            };
            let alert = if rule.alert { "yes" } else { "" };
            let to = match (rule.disposition, rule.otherwise) {
                (Disposition::Retry, otherwise) => format!("retry, then {otherwise}"),
                (disposition, _) => disposition.to_string(),
            };
            writeln!(f, "| {kind} | {to} | {retries} | {remedy} | {breaker} | {gate} | {alert} |")?;
        }
        Ok(())
    }
}
