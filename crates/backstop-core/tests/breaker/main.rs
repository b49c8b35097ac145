//! The breaker on its own, on a manual clock.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod pitfalls;
mod registry;
mod shared;
mod states;
mod support;
