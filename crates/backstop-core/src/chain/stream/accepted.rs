//! The value of a streamed answer.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;

use super::{call::StreamCall, event::Interrupted};
use crate::{
    chain::{call::Answer, judge::Judge},
    error::{FailureKind, ProviderError, Rejection},
    report::Report,
    response::Response,
    target::TargetId,
    validator::{BoxValidator, Candidate, Change, Sink, Validator},
};

/// Where the value of a streamed answer is once the stream has finished; see [`StreamCall::validated`].
pub struct Accepted<T>(Arc<Kept<T>>);

/// A validator, and the first value that it accepted with what was changed about that.
struct Kept<T> {
    validator: BoxValidator<'static, T>,
    value: Mutex<(Option<T>, Option<Vec<Change>>)>,
}

impl StreamCall {
    /// Has the whole answer judged at its end, as a call would: the stream finishes only if the validator accepts it.
    /// The value is then in what comes back beside the call. A validator that cannot work makes the call fail as
    /// [`ChainErrorKind::Config`](crate::ChainErrorKind::Config) before anything is sent.
    ///
    /// What it rejects is a soft failure: the stream ends with it as an [`Interrupted`], or another target
    /// [takes over](Self::on_interrupt). While nothing was shown the [policy](crate::FailurePolicy) decides; to have it
    /// decide in any case, [hold](Self::hold) the answer back.
    pub fn validated<V: Validator + 'static>(mut self, validator: V) -> (Self, Accepted<V::Output>) {
        if self.prepared.is_ok() {
            self.prepared = validator.prepare(&mut self.request);
        }
        let kept = Arc::new(Kept { validator: BoxValidator::new(validator), value: Mutex::default() });
        self.judge = Some(Arc::clone(&kept) as Arc<dyn Judge>);
        (self, Accepted(kept))
    }
}

impl<T> Accepted<T> {
    /// The answer, from what [`StreamEvent::Finished`](crate::StreamEvent::Finished) brought.
    ///
    /// # Errors
    /// The stream was not the one of this validator.
    pub fn into_answer(self, response: Box<Response>, report: Arc<Report>) -> Result<Answer<T>, Interrupted> {
        let mut kept = self.0.value.lock().unwrap_or_else(PoisonError::into_inner);
        let (value, changes) = std::mem::take(&mut *kept);
        match value {
            Some(value) => Ok(Answer::new(value, response.into(), report, changes.unwrap_or_default())),
            None => Err(Interrupted {
                text: response.text,
                target: report.served_by.clone().unwrap_or_else(|| TargetId("nobody".into())),
                cause: Arc::new(
                    ProviderError::new(FailureKind::Unknown, "the stream was not judged by this validator")
                        .into(),
                ),
                usage: response.usage,
                report,
            }),
        }
    }
}

impl<T> fmt::Debug for Accepted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accepted")
    }
}

impl<T: Send> Sink<T> for Kept<T> {
    fn put(&self, value: T) {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).0.get_or_insert(value);
    }
}

impl<T: Send> Judge for Kept<T> {
    fn judge<'a>(&'a self, candidate: Candidate<'a>) -> BoxFuture<'a, Result<(), Rejection>> {
        Box::pin(async move {
            self.validator.judge(candidate, self).await?;
            let mut kept = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            // The chain's checks have recorded theirs by now.
            kept.1.get_or_insert_with(|| candidate.recorded());
            Ok(())
        })
    }
}
