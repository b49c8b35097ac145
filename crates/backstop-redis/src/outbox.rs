//! What this process has to say, kept until the sync says it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use backstop_core::breaker::BreakerKey;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::names::Names;

/// A message about one breaker.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) key: BreakerKey,
    pub(crate) names: Arc<Names>,
    /// When the cooldown it is about ends, or nobody wants to hear it any more.
    pub(crate) until: Instant,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An outage, found while the state of this epoch was known.
    Trip {
        seen: u64,
    },
    Recovered {
        token: String,
    },
    Failed {
        token: String,
    },
    Released {
        token: String,
    },
}

/// Holds no more than [`MOST`](Self::MOST): while Redis is away nobody takes anything out.
#[derive(Default)]
pub(crate) struct Outbox {
    messages: Mutex<VecDeque<Message>>,
    filled: Notify,
    lost: AtomicU64,
}

impl Outbox {
    const MOST: usize = 1024;

    pub(crate) fn put(&self, message: Message) {
        let mut messages = self.lock();
        if messages.len() >= Self::MOST {
            messages.pop_front();
            self.lose();
        }
        messages.push_back(message);
        drop(messages);
        self.filled.notify_one();
    }

    /// Puts back what could not be sent.
    pub(crate) fn put_back(&self, message: Message) {
        self.lock().push_front(message);
    }

    /// The next message that is not too old.
    pub(crate) fn take(&self, now: Instant) -> Option<Message> {
        let mut messages = self.lock();
        loop {
            let message = messages.pop_front()?;
            if message.until > now {
                return Some(message);
            }
            self.lose();
        }
    }

    /// Returns when something was put in since the last time.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    pub(crate) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn message(seen: u64, until: Instant) -> Message {
        let key = BreakerKey::new("p", "m");
        Message { names: Arc::new(Names::new("x", &key)), key, until, what: What::Trip { seen } }
    }

    fn seen(message: Option<Message>) -> Option<u64> {
        message.map(|message| match message.what {
            What::Trip { seen } => seen,
            other => panic!("{other:?}"),
        })
    }

    #[tokio::test]
    async fn messages_leave_in_order_and_old_ones_not_at_all() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        let later = now + Duration::from_secs(1);
        outbox.put(message(1, now));
        outbox.put(message(2, later));
        outbox.put(message(3, later));
        outbox.filled().await;
        let second = outbox.take(now).unwrap();
        outbox.put_back(second);
        assert_eq!(seen(outbox.take(now)), Some(2));
        assert_eq!(seen(outbox.take(now)), Some(3));
        assert_eq!(seen(outbox.take(now)), None);
        assert_eq!(outbox.lost(), 1);
    }

    #[tokio::test]
    async fn a_full_outbox_loses_the_oldest() {
        let outbox = Outbox::default();
        let later = Instant::now() + Duration::from_secs(1);
        for number in 0..Outbox::MOST as u64 + 2 {
            outbox.put(message(number, later));
        }
        assert_eq!(seen(outbox.take(Instant::now())), Some(2));
        assert_eq!(outbox.lost(), 2);
    }
}
