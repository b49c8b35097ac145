//! One call, step by step.
//!
//! ```text
//! Chain::call ─ Call (options) ─ .await ─ engine: in_order, one target after the other, or lanes, two beside each other
//!                                           walk:   asked for? switched on? capable?               no → skip, next
//!                                           serve:  any good at the task?                          no → skip, next
//!                                           visit:  how much of the time is this target's (plan)
//!                                           admit:  latch? gate? breaker? ─ queue ─ permit         no → skip, next
//!                                           send:   attempt ─ hard failure ─┐
//!                                                   checks, validator ─ soft failure ─┤
//!                                                   accepted → Answer                 │
//!                                           conclude, tries: decide ─────────────────┘
//!                                                   retry (wait) │ fail over (next) │ give up (error)
//! ```
//!
//! Each file looks down only: the builder makes an `Inner` of `Slot`s, a call begins a `Cx` over it, pays each target
//! that it comes to a `Visit`, and each request of a visit has to be `Admitted`.
//!
//! No task is spawned and no lock is held over an await: dropping the call's future drops the request. A provider
//! that panics takes the call with it, as a panic in the caller's own code would: permits count as nothing, places
//! and tokens are given back, and the line of the attempt reaches the observers as cancelled.

mod admit;
mod builder;
mod bulkhead;
mod call;
mod conclude;
mod context;
mod engine;
mod hedge;
mod in_order;
mod inner;
mod judge;
mod lanes;
mod learnt;
mod member;
mod options;
mod order;
mod plan;
mod requests;
mod send;
mod serve;
mod slot;
mod snapshot;
mod stream;
mod tries;
mod visit;
mod walk;

pub use builder::ChainBuilder;
pub use call::{Answer, Call, Chain};
pub use hedge::Hedge;
pub use snapshot::{ChainSnapshot, MemberSnapshot, TargetSnapshot};
pub use stream::{Accepted, AnswerStream, Interrupted, OnInterrupt, StreamCall, StreamEvent};
