//! How events, and the reading of them, get from the call's future to the stream that polls it.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use tokio::time::Instant;
use tracing::Span;

use super::{
    event::{Interrupted, StreamEvent},
    loan::Loan,
    settings::Settings,
};
use crate::{
    chain::judge::Judge,
    error::ChainError,
    report::{Ledger, Report},
    response::Response,
    target::TargetId,
};

/// How a streamed call ended.
pub(crate) enum End {
    /// Nothing was shown.
    NotServed(ChainError),
    Interrupted(Interrupted),
    Finished(Box<Response>, Arc<Report>),
}

/// What the stream is given.
pub(crate) enum Given {
    Event(StreamEvent),
    Loan(Box<Loan>),
}

/// One place for each direction. Both ends are polled by the same task, one inside the other, so nobody has to be woken.
#[derive(Default)]
pub(crate) struct Mailbox(Mutex<Mail>);

#[derive(Default)]
struct Mail {
    given: Option<Given>,
    returned: Option<Box<Loan>>,
    end: Option<End>,
    ledger: Option<Ledger>,
}

impl Mailbox {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an event over, and comes back when the consumer asks for the next one: it polls again only after it has
    /// taken what was there.
    async fn send(&self, event: StreamEvent) {
        self.mail().given = Some(Given::Event(event));
        let mut handed_over = false;
        poll_fn(|_| if std::mem::replace(&mut handed_over, true) { Poll::Ready(()) } else { Poll::Pending })
            .await;
    }

    /// Comes back with the loan.
    async fn lend(&self, loan: Box<Loan>) -> Box<Loan> {
        self.mail().given = Some(Given::Loan(loan));
        poll_fn(|_| self.mail().returned.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    pub(crate) fn give_back(&self, loan: Box<Loan>) {
        self.mail().returned = Some(loan);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.mail().given.is_some()
    }

    pub(crate) fn take(&self) -> Option<Given> {
        self.mail().given.take()
    }

    pub(crate) fn close(&self, end: End) {
        self.mail().end = Some(end);
    }

    pub(crate) fn take_end(&self) -> Option<End> {
        self.mail().end.take()
    }

    /// What happened so far.
    pub(crate) fn report(&self) -> Report {
        let ledger = self.mail().ledger.clone();
        ledger.map_or_else(Report::default, |ledger| ledger.finish(None, None))
    }
}

/// What the consumer has seen.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// Whose answer it was last.
    pub(crate) target: Option<TargetId>,
    /// Of how many attempts.
    pub(crate) attempts: u32,
}

/// The engine's side of a streamed call.
pub(crate) struct Side {
    pub(crate) settings: Settings,
    /// Judges the whole answer at its end.
    pub(crate) judge: Option<Arc<dyn Judge>>,
    /// The call's.
    pub(crate) span: Span,
    mailbox: Arc<Mailbox>,
    started: Instant,
    shown: Mutex<Seen>,
    /// Nanoseconds during which the consumer did not ask for more.
    busy: AtomicU64,
}

impl Side {
    pub(crate) fn new(settings: Settings, judge: Option<Arc<dyn Judge>>, mailbox: Arc<Mailbox>) -> Self {
        Self {
            settings,
            judge,
            span: Span::none(),
            mailbox,
            started: Instant::now(),
            shown: Mutex::default(),
            busy: AtomicU64::new(0),
        }
    }

    /// Leaves the report where the stream finds it.
    pub(crate) fn keep(&self, ledger: Ledger) {
        self.mailbox.mail().ledger = Some(ledger);
    }

    pub(crate) fn close(&self, end: End) {
        self.mailbox.close(end);
    }

    /// Hands an event over that was there at `since`. Comes back when the consumer asks for more, and says when
    /// that was: the provider's timers go on from there.
    pub(crate) async fn emit(&self, event: StreamEvent, since: Instant) -> Instant {
        self.mailbox.send(event).await;
        self.asked(since)
    }

    /// Lends the reading, and has it back when the provider is to be waited for, and says when that was. Whatever was
    /// shown in between was there: all of that time is the consumer's.
    pub(crate) async fn lend(&self, loan: Box<Loan>, since: Instant) -> (Box<Loan>, Instant) {
        let loan = self.mailbox.lend(loan).await;
        (loan, self.asked(since))
    }

    fn asked(&self, since: Instant) -> Instant {
        let now = Instant::now();
        let nanos = u64::try_from(now.duration_since(since).as_nanos()).unwrap_or(u64::MAX);
        // Nobody else writes it.
        self.busy.store(self.busy.load(Ordering::Relaxed).saturating_add(nanos), Ordering::Relaxed);
        now
    }

    pub(crate) fn shown(&self) -> Seen {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The event before the first one of an attempt.
    pub(crate) fn announcement(&self, target: TargetId, continues: bool) -> StreamEvent {
        let mut seen = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        seen.attempts += 1;
        let before = seen.target.replace(target.clone());
        match (before, continues) {
            (None, _) => StreamEvent::Started { target },
            (Some(_), false) => StreamEvent::Restarted { target },
            (Some(_), true) => StreamEvent::Continued { target },
        }
    }

    /// For how long the consumer did not ask for more.
    pub(crate) fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
    }

    /// When the whole stream has taken too long, as of now: the consumer's own time is not counted.
    pub(crate) fn total_until(&self) -> Instant {
        self.started + self.settings.total + self.busy()
    }
}
