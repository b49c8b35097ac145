//! Tokens and times of one attempt. What was metered reaches the report however the attempt ends.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    attempt::{Attempt, Progress, Timing},
    message::characters,
    response::Usage,
};

/// Characters of a token, roughly, in English. Where the vendor did not get to say, an estimate is better than a
/// bill without an entry.
const CHARS_PER_TOKEN: u64 = 4;

pub(crate) struct Meter {
    progress: Progress,
    began: Instant,
    prompt_chars: u64,
    chars: u64,
    first: Option<Moment>,
    last: Option<Moment>,
    vendor: Option<Usage>,
    complete: bool,
}

/// When something came, and how long the consumer had been busy by then.
#[derive(Clone, Copy)]
struct Moment {
    at: Instant,
    busy: Duration,
}

impl Meter {
    pub(crate) fn new(attempt: &Attempt<'_>, began: Instant) -> Self {
        let system = attempt.request.system.as_deref().map_or(0, |text| text.chars().count());
        Self {
            progress: attempt.progress.clone(),
            began,
            prompt_chars: (characters(attempt.messages()) + system) as u64,
            chars: 0,
            first: None,
            last: None,
            vendor: None,
            complete: false,
        }
    }

    /// Text that the vendor will charge for.
    pub(crate) fn output(&mut self, text: &str) {
        self.chars += text.chars().count() as u64;
    }

    /// Content came.
    pub(crate) fn content(&mut self, at: Instant, busy: Duration) {
        let moment = Moment { at, busy };
        self.first.get_or_insert(moment);
        self.last = Some(moment);
    }

    pub(crate) fn vendor(&mut self, usage: Usage) {
        self.vendor = Some(usage);
    }

    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }

    pub(crate) fn request_id(&self, id: &str) {
        self.progress.request_id(id);
    }

    /// From the beginning of the attempt to its first content.
    pub(crate) fn first_content(&self) -> Option<Duration> {
        self.first.map(|first| first.at.duration_since(self.began))
    }

    /// The vendor's word on a complete answer; else an estimate, unless nothing came.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let vendor = self.vendor.or_else(|| self.progress.usage_so_far());
        if self.chars == 0 || (self.complete && vendor.is_some()) {
            return vendor;
        }
        let mut usage = vendor.unwrap_or_default().as_estimate();
        if usage.input_tokens == 0 {
            usage.input_tokens = self.prompt_chars.div_ceil(CHARS_PER_TOKEN);
        }
        usage.output_tokens = usage.output_tokens.max(self.chars.div_ceil(CHARS_PER_TOKEN));
        Some(usage)
    }

    /// Leaves what is known with the attempt's line of the report.
    pub(crate) fn note(&self) {
        let usage = self.usage();
        if let Some(usage) = usage {
            self.progress.usage(usage);
        }
        let per_output_token = match (self.first, self.last, usage) {
            (Some(first), Some(last), Some(usage)) if last.at > first.at && usage.output_tokens > 1 => {
                let busy = last.busy.saturating_sub(first.busy);
                let took = last.at.duration_since(first.at).saturating_sub(busy);
                Some(took.div_f64((usage.output_tokens - 1) as f64))
            }
            _ => None,
        };
        self.progress.timing(Timing { first_content: self.first_content(), per_output_token });
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.note();
    }
}
