//! One call, step by step.
//!
//! ```text
//! Chain::call ─ Call (options) ─ .await ─ engine: for each target in order
//!                                           slot:  latch? gate? capability? breaker?   no → skip, next
//!                                           serve: attempt ─ hard failure ─┐
//!                                                  checks, validator ─ soft failure ─┤
//!                                                  accepted → Answer                 │
//!                                           tries: decide ──────────────────────────┘
//!                                                  retry (wait) │ fail over (next) │ give up (error)
//! ```
//!
//! No task is spawned and no lock is held over an await: dropping the call's future drops the request.

mod builder;
mod call;
mod engine;
mod judge;
mod serve;
mod slot;
mod tries;

pub use builder::ChainBuilder;
pub use call::{Answer, Call, Chain};
