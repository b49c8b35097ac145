//! What observers hear: each call has one end, and each finding one alert.

use std::future::IntoFuture;

use backstop_core::{
    AttemptOutcome, CallOutcome, Candidate, Chain, ChainErrorKind, ConfigError, FailureKind, ProviderExt,
    Rejection, Report, Request, Stage, Validator,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{Heard, secs};
use tokio::time::timeout;

fn watched(step: Step) -> (Chain, Heard) {
    let heard = Heard::default();
    let target = MockProvider::new("a", [step]).model("m").retries(0);
    (Chain::builder().target(target).observer(heard.clone()).build().unwrap(), heard)
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_once_whether_it_is_served_fails_or_is_dropped() {
    let (chain, heard) = watched(Step::text("hi"));
    let served = chain.complete("x").tag("k", "v").await.unwrap();
    let (outcome, report) = heard.ended().pop().unwrap();
    assert_eq!(
        (outcome, report.call_id, &report.tags),
        (CallOutcome::Served, served.report.call_id, &served.report.tags)
    );
    assert_eq!((heard.started(), heard.ended().len()), (1, 1));

    let (chain, heard) = watched(Step::fail(FailureKind::Server));
    chain.complete("x").await.unwrap_err();
    let outcomes: Vec<_> = heard.ended().into_iter().map(|(outcome, _)| outcome).collect();
    assert_eq!((heard.started(), outcomes), (1, vec![CallOutcome::Failed]));

    let (chain, heard) = watched(Step::hang(Stage::Body));
    drop(chain.complete("never polled"));
    assert_eq!(heard.started(), 0);
    assert!(timeout(secs(3), chain.complete("x").tag("k", "v")).await.is_err());
    let (outcome, report) = heard.ended().pop().unwrap();
    assert_eq!((heard.started(), heard.ended().len(), outcome), (1, 1, CallOutcome::Cancelled));
    assert_eq!((report.attempts[0].outcome.clone(), report.elapsed), (AttemptOutcome::Cancelled, secs(3)));
    assert_eq!(report.tags["k"], "v");
}

/// A validator that cannot work.
struct Broken;

impl Validator for Broken {
    type Output = ();

    fn prepare(&self, _: &mut Request) -> Result<(), ConfigError> {
        Err(ConfigError::setting("schema", "is wrong"))
    }

    async fn validate(&self, _: Candidate<'_>) -> Result<(), Rejection> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_made_has_the_report_of_any_other() {
    let (chain, heard) = watched(Step::text("hi"));
    let call = || chain.call("x", Broken).tenant("t").task("invoices").tag("k", "v");
    let (one, other) = (call().await.unwrap_err(), call().await.unwrap_err());
    assert_eq!(one.kind(), ChainErrorKind::Config);
    let report = one.report();
    assert_eq!((report.tenant.as_deref(), report.task.as_deref()), (Some("t"), Some("invoices")));
    assert_eq!((report.tags["k"].as_str(), report.version), ("v", 1));
    assert_ne!(report.call_id, other.report().call_id);
    assert_eq!((heard.started(), heard.ended().len()), (2, 2));
    assert_eq!(heard.ended()[0].0, CallOutcome::Failed);
    assert_eq!(heard.ended()[0].1.call_id, report.call_id);
}

#[tokio::test(start_paused = true)]
async fn of_many_calls_that_find_the_same_out_together_one_raises_the_alert() {
    for kind in [FailureKind::QuotaExhausted, FailureKind::Authentication, FailureKind::Permission] {
        let (chain, heard) = watched(Step::fail(kind).after(secs(1)));
        let calls: Vec<_> = (0..8).map(|_| tokio::spawn(chain.complete("x").into_future())).collect();
        let mut alerts = 0;
        for call in calls {
            let error = call.await.unwrap().unwrap_err();
            assert_eq!(error.report().attempts[0].failure(), Some(kind));
            alerts += usize::from(error.report().has_alert());
        }
        assert_eq!(alerts, 1, "{kind}");
        let alarmed = heard.ended().iter().filter(|(_, report)| Report::has_alert(report)).count();
        assert_eq!(alarmed, 1, "{kind}");
    }
}
