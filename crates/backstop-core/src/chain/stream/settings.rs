//! How a stream is read, and what happens when it breaks.

use std::{fmt, sync::Arc, time::Duration};

use super::{event::StreamEvent, head::Head};
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

/// How much is held back, apart from the head.
#[derive(Clone, Default)]
pub(crate) enum Hold {
    #[default]
    Nothing,
    /// Up to a piece of text that this accepts.
    Until(Arc<dyn Fn(&str) -> bool + Send + Sync>),
    /// Up to the end, until the whole answer was accepted.
    All,
}

impl Hold {
    /// Whether what is held back may be shown from this piece of content on.
    pub(crate) fn ends_with(&self, event: &StreamEvent) -> bool {
        match (self, event) {
            (Self::Nothing, _) => true,
            (Self::Until(begins), StreamEvent::Delta(text)) => begins(text),
            (Self::Until(_), _) => true,
            (Self::All, _) => false,
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Until(_) => "until",
            Self::All => "all",
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) first_content: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Duration,
    pub(crate) head: Head,
    pub(crate) hold: Hold,
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
            hold: Hold::Nothing,
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

    /// Whether more than the head may be held back.
    pub(crate) fn holds(&self) -> bool {
        !matches!(self.hold, Hold::Nothing)
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
