//! What most calls need to know, readable without the lock: the state, and until when.

use super::config::Limits;
use super::machine::{Kind, Ticket, View};
use super::outcome::{RejectReason, Rejected};
use super::sync::{AtomicU64, Ordering};
use super::transition::State;

/// A copy of the machine's state, written under its lock and read without. On a cache line of its own, because the
/// lock beside it is written by every call.
///
/// A reader may see a deadline that is newer than the state word it read before: then the state is just about to
/// change or has just changed, and the answer is one that was right a moment ago or will be in a moment.
#[repr(align(64))]
pub(super) struct Mirror {
    /// Epoch and state in one word, so that a permit's epoch always belongs to the state that admitted it.
    word: AtomicU64,
    until: AtomicU64,
    not_before: AtomicU64,
}

/// An answer without the lock.
pub(super) enum Glance {
    Admit(Ticket),
    Reject(Rejected),
    /// Only the machine can tell.
    Unsure,
}

const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

impl Mirror {
    pub(super) fn new(epoch: u64) -> Self {
        Self {
            word: AtomicU64::new(word(epoch, State::Closed)),
            until: AtomicU64::new(0),
            not_before: AtomicU64::new(0),
        }
    }

    /// Called with the machine's lock held.
    pub(super) fn publish(&self, view: &View) {
        self.until.store(view.until, Ordering::Relaxed);
        self.not_before.store(view.not_before, Ordering::Relaxed);
        // Last, and releasing: whoever sees the state sees deadlines at least as new.
        self.word.store(word(view.epoch, view.state), Ordering::Release);
    }

    /// `now` is asked for only if the answer depends on it: a closed circuit costs no clock.
    #[inline]
    pub(super) fn glance(&self, now: impl FnOnce() -> u64, limits: &Limits) -> Glance {
        let word = self.word.load(Ordering::Acquire);
        let state = state_of(word);
        let admit = |kind| Glance::Admit(Ticket { epoch: word >> STATE_BITS, kind });
        match state {
            State::ForcedOpen => Glance::Reject(Rejected::forced()),
            State::ForcedClosed => admit(Kind::Bypass),
            State::HalfOpen => Glance::Unsure,
            State::Closed | State::Open => {
                let not_before = self.not_before.load(Ordering::Relaxed);
                if state == State::Closed && not_before == 0 {
                    return admit(Kind::Normal);
                }
                let now = now();
                match not_before.saturating_sub(now) {
                    0 if state == State::Closed => admit(Kind::Normal),
                    0 => {
                        let left = self.until.load(Ordering::Relaxed).saturating_sub(now);
                        reject(RejectReason::Open, left, limits.longest_open)
                    }
                    left => reject(RejectReason::Throttled, left, limits.throttle_cap),
                }
            }
        }
    }
}

/// Time that is over, or that cannot be left, is the machine's matter.
#[inline]
fn reject(reason: RejectReason, left: u64, longest: u64) -> Glance {
    if left == 0 || left > longest {
        return Glance::Unsure;
    }
    Glance::Reject(Rejected::for_nanos(reason, left))
}

fn word(epoch: u64, state: State) -> u64 {
    let code = match state {
        State::Closed => 0,
        State::Open => 1,
        State::HalfOpen => 2,
        State::ForcedOpen => 3,
        State::ForcedClosed => 4,
    };
    epoch << STATE_BITS | code
}

fn state_of(word: u64) -> State {
    match word & STATE_MASK {
        0 => State::Closed,
        1 => State::Open,
        2 => State::HalfOpen,
        3 => State::ForcedOpen,
        _ => State::ForcedClosed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_gives_back_what_went_in() {
        let states = [State::Closed, State::Open, State::HalfOpen, State::ForcedOpen, State::ForcedClosed];
        for (epoch, state) in (1..).map(|n| n * 1_000_003).zip(states) {
            let word = word(epoch, state);
            assert_eq!((word >> STATE_BITS, state_of(word)), (epoch, state));
        }
    }
}
