//! How a stream is read, and what happens when it breaks.

use std::time::Duration;

use super::head::Head;
use crate::{
    error::{Failure, ProviderError, Stage},
    policy::Shown,
    target::Target,
};

/// What happens when a stream breaks after something of it was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnInterrupt {
    /// The stream ends with [`Interrupted`](crate::Interrupted) (default). Only the caller knows whether what was
    /// shown can be taken back.
    #[default]
    Error,
    /// The targets that follow answer anew, after a [`StreamEvent::Restarted`](crate::StreamEvent::Restarted) at which
    /// the consumer clears what it has shown.
    Restart,
    /// A target that follows goes on with the text so far, after a
    /// [`StreamEvent::Continued`](crate::StreamEvent::Continued). Only targets whose
    /// [`Capabilities::prefill`](crate::Capabilities::prefill) is known to be true are asked, and only where the text
    /// was cut: not after a refusal, a filter, a tool call or an end. The report marks the attempt as continued.
    Continue,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) first_content: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Duration,
    pub(crate) head: Head,
    /// Nothing is shown before the whole answer was accepted.
    pub(crate) hold: bool,
    pub(crate) reasoning: bool,
    pub(crate) on_interrupt: OnInterrupt,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first_content: None,
            idle: None,
            total: Duration::from_secs(600),
            head: Head { chars: 120, wait: Duration::from_millis(500) },
            hold: false,
            reasoning: false,
            on_interrupt: OnInterrupt::Error,
        }
    }
}

impl Settings {
    /// Most time between one piece of content and the next.
    pub(crate) fn idle(&self, target: &Target) -> Duration {
        self.idle.unwrap_or(target.idle)
    }

    /// Whether a stream was only too slow for its caller: the time for the whole of it is always the caller's.
    pub(crate) fn is_hasty(&self, failure: &Failure, target: &Target) -> bool {
        match failure.as_hard().and_then(ProviderError::stage) {
            Some(Stage::Total) => true,
            Some(Stage::Idle) => self.idle(target) < target.idle,
            _ => false,
        }
    }

    /// What the policy is told of a stream that breaks after something of it was shown.
    pub(crate) fn shown(&self) -> Shown {
        if self.on_interrupt == OnInterrupt::Error { Shown::Kept } else { Shown::Replaceable }
    }
}
