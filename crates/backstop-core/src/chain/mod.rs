//! One call, step by step.
//!
//! ```text
//! Chain::call ─ Call (options) ─ .await ─ engine: for each target in order (hedge: two beside each other)
//!                                           serve:  switched on? capable? any good at the task?    no → skip, next
//!                                           plan:   how much of the time is this target's
//!                                           admit:  latch? gate? breaker? ─ queue ─ permit         no → skip, next
//!                                           send:   attempt ─ hard failure ─┐
//!                                                   checks, validator ─ soft failure ─┤
//!                                                   accepted → Answer                 │
//!                                           conclude, tries: decide ─────────────────┘
//!                                                   retry (wait) │ fail over (next) │ give up (error)
//! ```
//!
//! No task is spawned and no lock is held over an await: dropping the call's future drops the request. A provider
//! that panics takes the call with it, as a panic in the caller's own code would: permits count as nothing, places
//! and tokens are given back, and the line of the attempt reaches the observers as cancelled.

mod admit;
mod builder;
mod bulkhead;
mod call;
mod conclude;
mod engine;
mod hedge;
mod judge;
mod learnt;
mod member;
mod order;
mod plan;
mod requests;
mod send;
mod serve;
mod slot;
mod snapshot;
mod stream;
mod tries;

pub use builder::ChainBuilder;
pub use call::{Answer, Call, Chain};
pub use hedge::Hedge;
pub use snapshot::{ChainSnapshot, MemberSnapshot, TargetSnapshot};
pub use stream::{AnswerStream, Interrupted, OnInterrupt, StreamCall, StreamEvent};
