//! Streams that fail over.
//!
//! ```text
//! Chain::stream ─ StreamCall (options) ─ .await ─ the engine, as for a call, but an attempt is done when its
//!                                          │      beginning is accepted (open); before that, failing over is silent
//!                                          └─→ AnswerStream ─ Started, Delta, Delta, … Finished
//!                                                           └ or Err(Interrupted), or Restarted, Delta, …
//! ```
//!
//! One future ([`drive`](drive::drive)) runs the whole call. It belongs to the [`AnswerStream`], which polls it for
//! one event at a time through a [`Mailbox`](mailbox::Mailbox) of one place: nothing is spawned, nothing is read that
//! nobody asks for, and dropping the stream drops the request.

mod accepted;
mod answer;
mod call;
mod drive;
mod event;
mod head;
mod loan;
mod mailbox;
mod meter;
mod open;
mod pump;
mod reading;
mod settings;

pub use accepted::Accepted;
pub use answer::AnswerStream;
pub use call::StreamCall;
pub use event::{Interrupted, StreamEvent};
pub use settings::OnInterrupt;

pub(crate) use mailbox::Side;
pub(crate) use open::open;
pub(crate) use pump::Live;
pub(crate) use reading::Reading;
