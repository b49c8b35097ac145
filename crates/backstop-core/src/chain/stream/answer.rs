//! The stream in the consumer's hands.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::{Stream, future::BoxFuture};

use super::{
    event::{Interrupted, StreamEvent},
    loan::Loan,
    mailbox::{End, Given, Mailbox},
};
use crate::{error::ChainError, report::Report};

/// An answer as it comes. Read it with [`next`](Self::next), or as the [`Stream`] that it is, until it ends: with
/// [`StreamEvent::Finished`], or with an [`Interrupted`].
///
/// Nothing is read ahead: a slow consumer holds the provider up rather than filling memory. Dropping the stream
/// cancels the request; observers hear of the attempt as cancelled, with the tokens so far.
#[must_use = "a stream does nothing unless polled"]
pub struct AnswerStream {
    /// Goes before the driver, which closes the attempt's line: the tokens so far are in it by then.
    loan: Option<Box<Loan>>,
    /// Empty once the call has ended.
    driver: Option<BoxFuture<'static, ()>>,
    mailbox: Arc<Mailbox>,
    /// The first event is in the mailbox. The driver must not be polled before it was taken.
    first: bool,
    /// The report, once the end was given out with it.
    report: Option<Arc<Report>>,
}

impl AnswerStream {
    /// Runs a call until its first event.
    pub(crate) async fn begin(
        mut driver: BoxFuture<'static, ()>,
        mailbox: Arc<Mailbox>,
    ) -> Result<Self, ChainError> {
        let ended = std::future::poll_fn(|cx| match driver.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending if mailbox.is_given() => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        });
        let first = !ended.await;
        let driver = first.then_some(driver);
        match mailbox.take_end() {
            Some(End::NotServed(error)) => return Err(error),
            Some(end) => mailbox.close(end),
            None => {}
        }
        Ok(Self { loan: None, driver, mailbox, first, report: None })
    }

    /// The next event; `None` after the last one. The same as [`StreamExt::next`](futures_util::StreamExt::next),
    /// without an import. A future that is dropped loses nothing.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, Interrupted>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Cancels the request and gives what happened so far. The attempt under way is in it as cancelled, with the
    /// tokens so far. After the end it is the report of the whole call.
    #[must_use]
    pub fn cancel(mut self) -> Report {
        self.loan = None;
        self.driver = None;
        match &self.report {
            Some(report) => (**report).clone(),
            None => self.mailbox.report(),
        }
    }
}

impl Stream for AnswerStream {
    type Item = Result<StreamEvent, Interrupted>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = &mut *self;
        while let Some(driver) = &mut stream.driver {
            if let Some(event) = stream.loan.as_mut().and_then(|loan| loan.event(cx)) {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(loan) = stream.loan.take() {
                stream.mailbox.give_back(loan);
            }
            if !std::mem::take(&mut stream.first) && driver.as_mut().poll(cx).is_ready() {
                stream.driver = None;
                break;
            }
            match stream.mailbox.take() {
                Some(Given::Event(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Given::Loan(loan)) => stream.loan = Some(loan),
                None => return Poll::Pending,
            }
        }
        Poll::Ready(match self.mailbox.take_end() {
            Some(End::Finished(response, report)) => {
                self.report = Some(Arc::clone(&report));
                Some(Ok(StreamEvent::Finished { response, report }))
            }
            Some(End::Interrupted(interrupted)) => {
                self.report = Some(Arc::clone(&interrupted.report));
                Some(Err(interrupted))
            }
            // Before the first event only.
            Some(End::NotServed(_)) | None => None,
        })
    }
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerStream").field("ended", &self.driver.is_none()).finish_non_exhaustive()
    }
}
