//! Writes the report while the call runs. A line is opened before its attempt and closed by RAII, so that a
//! dropped call keeps its line.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{AttemptOutcome, AttemptRecord, LimitedBy, Report, Skip, SkipRecord};
use crate::{
    attempt::Progress,
    error::Failure,
    observer::{Event, Observers},
    policy::{Decision, Remedy},
    response::{Response, Usage},
    target::TargetId,
};

/// The report of a running call, shared by its lines.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Inner>);

struct Inner {
    started: Instant,
    report: Mutex<Report>,
    observers: Observers,
}

impl Ledger {
    pub(crate) fn new(report: Report, observers: Observers) -> Self {
        Self(Arc::new(Inner { started: Instant::now(), report: Mutex::new(report), observers }))
    }

    pub(crate) fn started(&self) -> Instant {
        self.0.started
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.0.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn skip(&self, target: &TargetId, reason: Skip) {
        self.0.observers.emit(&Event::Skipped { target, reason: &reason });
        let at = self.0.started.elapsed();
        let mut report = self.report();
        let attempts_before = report.attempts.len();
        report.skips.push(SkipRecord { target: target.clone(), at, attempts_before, reason });
    }

    /// Adds tokens that judging an answer took.
    pub(crate) fn spent(&self, usage: Usage) {
        self.report().check_usage += usage;
    }

    /// Opens the line of an attempt.
    pub(crate) fn open(&self, opening: Opening<'_>) -> AttemptLine {
        let record = AttemptRecord {
            target: opening.target.clone(),
            member: opening.member,
            number: opening.number,
            hedge: opening.hedge,
            at: opening.from.duration_since(self.0.started),
            wait: opening.wait,
            allowed: opening.allowed,
            limited_by: opening.limited_by,
            latency: Duration::ZERO,
            outcome: AttemptOutcome::Cancelled,
            remedies: opening.remedies.to_vec(),
            status: None,
            code: None,
            stage: None,
            request_id: None,
            model: None,
            first_content: None,
            per_output_token: None,
            continued: opening.continued,
            usage: None,
            check: None,
            score: None,
            decision: None,
            alert: false,
            notes: Vec::new(),
        };
        let mut report = self.report();
        if report.attempts.capacity() == 0 {
            // Most calls need one line; a `Vec` would begin with room for four.
            report.attempts.reserve_exact(1);
        }
        report.attempts.push(record);
        let index = report.attempts.len() - 1;
        drop(report);
        let (started, progress) = (opening.from, opening.progress);
        AttemptLine { ledger: self.clone(), index, started, progress, closed: false }
    }

    /// Ends the call and takes the report out. `retry_in` is what breakers and gates say.
    pub(crate) fn finish(&self, served_by: Option<(bool, &TargetId)>, retry_in: Option<Duration>) -> Report {
        let report = std::mem::take(&mut *self.report());
        self.summed_up(report, served_by, retry_in)
    }

    /// What happened so far.
    pub(crate) fn so_far(&self) -> Report {
        let report = self.report().clone();
        self.summed_up(report, None, None)
    }

    fn summed_up(
        &self,
        mut report: Report,
        served_by: Option<(bool, &TargetId)>,
        retry_in: Option<Duration>,
    ) -> Report {
        report.elapsed = self.0.started.elapsed();
        match served_by {
            Some((fallback, target)) => {
                report.used_fallback = fallback;
                report.served_by = Some(target.clone());
            }
            None => {
                let limits = report.skips.iter().filter_map(|skip| skip.limit_ends_in(report.elapsed));
                report.retry_in = limits.chain(retry_in).min();
            }
        }
        let mut usage = Usage::default();
        for spent in report.attempts.iter().filter_map(|attempt| attempt.usage) {
            usage += spent;
        }
        report.usage = usage;
        report
    }
}

/// What is known of an attempt when it begins.
pub(crate) struct Opening<'a> {
    pub(crate) target: &'a TargetId,
    pub(crate) member: Option<u32>,
    pub(crate) number: u32,
    pub(crate) hedge: bool,
    /// It goes on with the text of another attempt.
    pub(crate) continued: bool,
    /// When it begins.
    pub(crate) from: Instant,
    pub(crate) wait: Duration,
    pub(crate) allowed: Duration,
    pub(crate) limited_by: LimitedBy,
    pub(crate) remedies: &'a [Remedy],
    pub(crate) progress: Progress,
}

/// The open line of one attempt. Dropped without being closed it says `Cancelled`, and observers hear of it.
pub(crate) struct AttemptLine {
    ledger: Ledger,
    index: usize,
    started: Instant,
    progress: Progress,
    closed: bool,
}

impl AttemptLine {
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn served(mut self, response: &Response) {
        self.write(|record| {
            record.outcome = AttemptOutcome::Served;
            note_response(record, response);
        });
    }

    pub(crate) fn failed(mut self, end: Ending<'_>) {
        self.write(|record| {
            let (failure, kind) = (end.failure, end.failure.kind());
            record.outcome = AttemptOutcome::Failed { kind, message: failure.to_string() };
            record.decision = Some(end.decision);
            record.alert = end.alert;
            if let Some(response) = end.response {
                note_response(record, response);
            }
            match failure {
                Failure::Hard(error) => {
                    record.status = error.status();
                    record.code = error.code().map(str::to_owned);
                    record.stage = error.stage();
                    record.usage = error.usage().or(record.usage);
                    if let Some(id) = error.request_id() {
                        record.request_id = Some(id.to_owned());
                    }
                }
                Failure::Soft(rejection) => {
                    record.check = rejection.check().map(str::to_owned);
                    record.score = rejection.score();
                }
            }
        });
    }

    fn write(&mut self, change: impl FnOnce(&mut AttemptRecord)) {
        self.closed = true;
        let learnt = self.progress.take_all();
        let observers = &self.ledger.0.observers;
        let copy = {
            let mut report = self.ledger.report();
            let Some(record) = report.attempts.get_mut(self.index) else { return };
            record.latency = self.started.elapsed();
            (record.request_id, record.usage) = (learnt.request_id, learnt.usage);
            record.first_content = learnt.timing.first_content;
            record.per_output_token = learnt.timing.per_output_token;
            change(record);
            (!observers.is_empty()).then(|| record.clone())
        };
        if let Some(record) = copy {
            // Outside the lock: an observer may start a call of its own.
            observers.emit(&Event::AttemptFinished { record: &record });
        }
    }
}

/// How an attempt failed and what that led to.
pub(crate) struct Ending<'a> {
    pub(crate) failure: &'a Failure,
    pub(crate) response: Option<&'a Response>,
    pub(crate) decision: Decision,
    pub(crate) alert: bool,
}

fn note_response(record: &mut AttemptRecord, response: &Response) {
    record.usage = response.usage.or(record.usage);
    record.model.clone_from(&response.model);
    if response.request_id.is_some() {
        record.request_id.clone_from(&response.request_id);
    }
    record.notes.clone_from(&response.notes);
}

impl Drop for AttemptLine {
    fn drop(&mut self) {
        if !self.closed {
            let stage = self.progress.stage();
            self.write(|record| record.stage = Some(stage));
        }
    }
}
