//! The reading of a stream in the hands of who polls it.

use std::task::{Context, Poll};

use tracing::Span;

use super::{
    event::StreamEvent,
    reading::{Read, Reading},
};
use crate::error::ProviderError;

/// What the call's future lends to the [`AnswerStream`](super::AnswerStream), so that a piece of the answer which is
/// there already reaches the consumer without it. It comes back when the provider is to be waited for, and with
/// whatever is no event.
pub(crate) struct Loan {
    pub(crate) reading: Box<Reading>,
    terms: Terms,
    /// Content was read.
    pub(crate) content: bool,
    /// What was read and is no event.
    pub(crate) read: Option<Result<Read, ProviderError>>,
    span: Span,
}

/// What the stream may do by itself.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    /// Read on once everything that was held is shown.
    pub(crate) reads: bool,
    /// Show the model's reasoning.
    pub(crate) reasoning: bool,
}

impl Loan {
    pub(crate) fn new(reading: Box<Reading>, terms: Terms, span: Span) -> Self {
        Self { reading, terms, content: false, read: None, span }
    }

    /// The next event that is there. Without one, the loan is over.
    pub(crate) fn event(&mut self, cx: &mut Context<'_>) -> Option<StreamEvent> {
        if let Some(event) = self.reading.held.pop_front() {
            return Some(event);
        }
        if !self.terms.reads {
            return None;
        }
        let _in_call = self.span.enter();
        loop {
            let event = match self.reading.poll_next(cx) {
                Poll::Pending => return None,
                Poll::Ready(read @ (Err(_) | Ok(Read::Refused | Read::Ended))) => {
                    self.read = Some(read);
                    return None;
                }
                Poll::Ready(Ok(read)) => {
                    self.content |= matches!(read, Read::Content(_));
                    read.event(self.terms.reasoning)
                }
            };
            if event.is_some() {
                return event;
            }
        }
    }
}
