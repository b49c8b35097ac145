//! Ready checks.

mod combine;
mod grounded;
mod input_seen;
mod judge;
mod score;
mod script;
mod text;

pub use combine::{And, CheckExt, Inverted, Or};
pub use grounded::{Against, Grounded};
pub use input_seen::InputSeen;
pub use judge::{Judge, JudgeStats, Unjudged};
pub use score::{Grade, PassFail, Score, Weighted};
pub use text::{CheckedText, FollowsSchema, MinLength, NonEmpty, Refusal};

pub(crate) use grounded::repeats_what_was_not_asked;
