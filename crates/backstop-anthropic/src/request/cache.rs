//! Where the prompt is marked for the vendor's cache.

use backstop_core::{Attempt, CacheHint};

use crate::{models::ModelTraits, options::AnthropicOptions};

/// The marks that are sent: the vendor takes only so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    system: Option<CacheHint>,
    automatic: Option<CacheHint>,
    /// Messages from this one on keep their marks.
    first_message: usize,
}

impl Marks {
    /// The instructions' mark comes first, then the vendor's own, then those of the latest messages: a later mark
    /// caches all that stands before it.
    pub(super) fn place(
        attempt: &Attempt<'_>,
        traits: &ModelTraits,
        options: &AnthropicOptions,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut left = usize::from(traits.cache_breakpoints);
        let mut take = |hint: Option<CacheHint>| {
            let taken = hint.filter(|_| left > 0);
            left -= usize::from(taken.is_some());
            taken
        };
        let has_system = attempt.request.system.as_deref().is_some_and(|text| !text.trim().is_empty());
        let wanted = attempt.request.system_cache.filter(|_| has_system);
        let system = take(wanted);
        let automatic = take(options.cache);
        let marked = |(at, message): (usize, &backstop_core::Message)| message.cache.map(|_| at);
        let places: Vec<usize> = attempt.messages().enumerate().filter_map(marked).collect();
        let dropped = places.len().saturating_sub(left);
        let first_message = if left == 0 { usize::MAX } else { places.get(dropped).copied().unwrap_or(0) };
        if dropped > 0 || system != wanted || automatic != options.cache {
            notes.push(format!("cache hints were left out: the vendor takes {}", traits.cache_breakpoints));
        }
        Self { system, automatic, first_message }
    }

    pub(super) fn system(&self) -> Option<CacheHint> {
        self.system
    }

    /// The mark that the vendor places itself.
    pub(super) fn automatic(&self) -> Option<CacheHint> {
        self.automatic
    }

    /// Whether the message at this place keeps its mark.
    pub(super) fn keeps(&self, message: usize) -> bool {
        message >= self.first_message
    }
}
