//! Streams: silent before the first content, typed after it.

mod after;
mod before;
mod breaker;
mod dropped;
mod extraction;
mod faults;
mod flood;
mod growing_faults;
mod support;
mod timers;
mod validated;
