//! How the calls ended.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// An outcome of a call, as the load sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Answered, and the answer is right.
    Answered,
    /// An error, as the interface promises it.
    Failed,
    /// Broken off after a part was shown, and that part is right.
    Interrupted,
    /// The caller went away.
    Dropped,
    /// Something came back that is not what the server said.
    Wrong,
}

#[derive(Default)]
pub(crate) struct Tally([[AtomicU64; 5]; 2]);

const KINDS: [&str; 2] = ["plain", "streamed"];

impl Tally {
    pub(crate) fn count(&self, streamed: bool, outcome: Outcome) {
        if let Some(count) = self.0.get(usize::from(streamed)).and_then(|counts| counts.get(outcome as usize))
        {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn read(&self, streamed: usize, outcome: Outcome) -> u64 {
        self.0
            .get(streamed)
            .and_then(|counts| counts.get(outcome as usize))
            .map_or(0, |n| n.load(Ordering::Relaxed))
    }

    /// What must not be: wrong answers, or a run that shows nothing because hardly a call was answered.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (streamed, kind) in KINDS.into_iter().enumerate() {
            let wrong = self.read(streamed, Outcome::Wrong);
            let answered = self.read(streamed, Outcome::Answered);
            let failed = self.read(streamed, Outcome::Failed) + self.read(streamed, Outcome::Interrupted);
            faults.extend((wrong > 0).then(|| format!("{wrong} wrong {kind} answers")));
            faults.extend(
                (answered <= failed).then(|| format!("fewer {kind} calls were answered than failed")),
            );
        }
        faults
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls            answered     failed  interrupted  dropped  wrong")?;
        for (streamed, kind) in KINDS.into_iter().enumerate() {
            let [answered, failed, interrupted, dropped, wrong] =
                [Outcome::Answered, Outcome::Failed, Outcome::Interrupted, Outcome::Dropped, Outcome::Wrong]
                    .map(|outcome| self.read(streamed, outcome));
            write!(f, "\n{kind:16} {answered:>8} {failed:>10} {interrupted:>12} {dropped:>8} {wrong:>6}")?;
        }
        Ok(())
    }
}
