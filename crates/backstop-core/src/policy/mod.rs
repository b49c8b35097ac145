//! What a failure leads to: a table ([`FailurePolicy`], one [`Rule`] per kind) and one pure function over it
//! ([`decide`]). All retrying of the crate is decided there.

mod decide;
mod rule;
mod table;

pub use decide::{Closing, Decision, DecisionContext, Shown, Why, decide};
pub use rule::{BreakerEffect, Disposition, GateEffect, Remedy, Rule};
pub use table::FailurePolicy;
