//! What becomes of the hints that a prompt is worth caching.

use backstop_core::{Attempt, CacheHint, Message};
use backstop_http::CacheControl;

use crate::{api::Api, models::ModelTraits, preset::Caching, server::Server};

/// OpenRouter passes marks on to vendors that take four.
const MOST_MARKS: usize = 4;

/// The hints in the form that the server takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cache {
    /// The longer life is asked for.
    pub(crate) retention: bool,
    /// The mark of the instructions.
    pub(crate) system: Option<CacheControl>,
    /// Marks of messages are sent, but for so many of the first ones.
    marks_from: Option<usize>,
}

impl Cache {
    /// What cannot be said to the server is noted.
    pub(crate) fn hints(
        attempt: &Attempt<'_>,
        traits: &ModelTraits,
        server: &Server,
        api: Api,
        notes: &mut Vec<String>,
    ) -> Self {
        let Some(hint) = attempt.request.longest_cache() else { return Self::default() };
        match (server.caching, hint) {
            (Caching::Marks, _) if api == Api::Chat => return Self::marks(attempt, notes),
            (Caching::Automatic | Caching::Retention, CacheHint::Short) => {}
            (Caching::Retention, _) if traits.long_cache => {
                return Self { retention: true, ..Self::default() };
            }
            (Caching::Automatic | Caching::Retention, _) => notes.push(format!(
                "the longer life in a cache was not asked for: {} has no word for it, and caches as it likes",
                attempt.model
            )),
            _ => notes.push(format!("cache hints were left out: {} has no known form for them", server.name)),
        }
        Self::default()
    }

    /// The instructions' mark comes first, then those of the latest messages.
    fn marks(attempt: &Attempt<'_>, notes: &mut Vec<String>) -> Self {
        let system = attempt.request.system_cache.filter(|_| attempt.request.system.is_some());
        let wanted = attempt.messages().filter(|message| message.cache.is_some()).count();
        let left_out = wanted.saturating_sub(MOST_MARKS - usize::from(system.is_some()));
        if left_out > 0 {
            notes.push(format!("cache hints were left out: {MOST_MARKS} are taken"));
        }
        Self { retention: false, system: system.map(CacheControl), marks_from: Some(left_out) }
    }

    /// The mark of the next message of the conversation.
    pub(crate) fn next(&mut self, message: &Message) -> Option<CacheControl> {
        let hint = message.cache?;
        let left_out = self.marks_from.as_mut()?;
        if *left_out > 0 {
            *left_out -= 1;
            return None;
        }
        Some(CacheControl(hint))
    }
}
