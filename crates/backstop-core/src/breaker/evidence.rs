//! Whose word it is that a provider is down.

use serde::Serialize;

use super::transition::Reason;

/// Whose word it is that a circuit opened on. Between processes that share state, one with a broken network must
/// not talk the others into an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// The provider's: at least half of the failures were answers of its own.
    Provider,
    /// This process's alone: mostly [`NoAnswer`](super::Outcome::NoAnswer), or calls that it found slow.
    Local,
}

/// The latest 64 failures, the newest in the lowest bit: set if there was no answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failures(u64);

impl Failures {
    pub(super) fn note(&mut self, unanswered: bool) {
        self.0 = self.0 << 1 | u64::from(unanswered);
    }

    /// Judges by as many failures as the reason names.
    pub(super) fn evidence(self, reason: Reason) -> Evidence {
        let failures = match reason {
            Reason::Consecutive { failures } => failures,
            Reason::FailureRate { failed, .. } => failed,
            Reason::ProbeFailed => 1,
            _ => return Evidence::Local,
        };
        let latest = failures.clamp(1, u64::BITS);
        let unanswered = (self.0 << (u64::BITS - latest)).count_ones();
        if unanswered * 2 <= latest { Evidence::Provider } else { Evidence::Local }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `.` is an answer, `-` is none; the newest comes last.
    fn after(failures: &str) -> Failures {
        let mut noted = Failures::default();
        failures.chars().for_each(|failure| noted.note(failure == '-'));
        noted
    }

    #[test]
    fn half_of_the_failures_must_be_answers() {
        let row = |failures: &str| {
            let count = failures.len() as u32;
            after(&format!("----{failures}")).evidence(Reason::Consecutive { failures: count })
        };
        assert_eq!(row("....."), Evidence::Provider);
        assert_eq!(row("-.-.."), Evidence::Provider);
        assert_eq!(row("-.-."), Evidence::Provider);
        assert_eq!(row("-.-.-"), Evidence::Local);
        assert_eq!(row("-----"), Evidence::Local);
    }

    #[test]
    fn only_the_failures_that_the_reason_is_about_are_judged() {
        let failures = after("-----.");
        assert_eq!(failures.evidence(Reason::ProbeFailed), Evidence::Provider);
        assert_eq!(failures.evidence(Reason::Consecutive { failures: 2 }), Evidence::Provider);
        assert_eq!(failures.evidence(Reason::FailureRate { failed: 6, calls: 9 }), Evidence::Local);
        let many = after(&"-".repeat(100));
        assert_eq!(many.evidence(Reason::FailureRate { failed: 100, calls: 100 }), Evidence::Local);
    }

    #[test]
    fn slowness_is_a_local_finding() {
        assert_eq!(after("...").evidence(Reason::ProbeSlow), Evidence::Local);
        assert_eq!(after("...").evidence(Reason::SlowCalls { slow: 3, calls: 3 }), Evidence::Local);
    }
}
