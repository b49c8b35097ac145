//! The whole table: every kind of failure under both presets.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use backstop_core::{
    Candidate, Chain, ChainErrorKind, FailureKind, FailurePolicy, ProviderError, ProviderExt, Registry,
    Rejection, Request, Response, Skip,
    breaker::{BreakerKey, State},
    validator,
};
use backstop_mock::{MockProvider, Step};

/// What a kind of failure at the first of two targets leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    first_calls: usize,
    served: bool,
    breaker_failures: u32,
    gate: Keeps,
    alert: bool,
}

/// What keeps the next call away from the first target.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Keeps {
    Nothing,
    Gate,
    Latch,
}

use Keeps::{Gate, Latch, Nothing};

const fn row(first_calls: usize, served: bool, breaker_failures: u32, gate: Keeps, alert: bool) -> Row {
    Row { first_calls, served, breaker_failures, gate, alert }
}

/// By the book, for the default policy.
fn expected(kind: FailureKind) -> Row {
    use FailureKind as Kind;
    match kind {
        Kind::Timeout => row(1, true, 1, Nothing, false),
        Kind::Connect | Kind::Server | Kind::MalformedResponse | Kind::Overloaded => {
            row(2, true, 2, Nothing, false)
        }
        Kind::RateLimited => row(2, true, 0, Gate, false),
        Kind::QuotaExhausted => row(1, true, 0, Gate, true),
        Kind::Authentication | Kind::Permission => row(1, false, 0, Latch, true),
        Kind::ModelNotFound => row(1, false, 0, Nothing, true),
        Kind::InvalidRequest | Kind::ParamRejected | Kind::NeedsInput => row(1, false, 0, Nothing, false),
        Kind::StreamInterrupted => row(1, false, 1, Nothing, false),
        Kind::SchemaRejected => row(3, true, 0, Nothing, false),
        Kind::ContextTooLong | Kind::Filtered | Kind::Unsupported | Kind::Cancelled | Kind::Unknown => {
            row(1, true, 0, Nothing, false)
        }
        Kind::Empty | Kind::TooShort => row(2, true, 0, Nothing, false),
        Kind::NotJson | Kind::SchemaMismatch | Kind::ToolCallInvalid | Kind::Truncated => {
            row(2, true, 0, Nothing, false)
        }
        Kind::Refused | Kind::Ambiguous | Kind::Rejected => row(1, true, 0, Nothing, false),
        other => panic!("{other} has no row"),
    }
}

/// What `keep_serving` changes: it fails over where the default gives up on a vendor's word.
fn keeps_serving(kind: FailureKind) -> Row {
    use FailureKind::{Authentication, InvalidRequest, ModelNotFound, ParamRejected, Permission};
    let row = expected(kind);
    let served = [Authentication, Permission, ModelNotFound, InvalidRequest, ParamRejected].contains(&kind);
    Row { served: row.served || served, ..row }
}

/// Fails as `kind` for good: hard kinds at the provider, soft kinds at the validator.
async fn observe(kind: FailureKind, policy: FailurePolicy) -> Row {
    let step = if kind.is_soft() {
        Step::response(Response::new("bad"))
    } else {
        Step::error(move || ProviderError::new(kind, "scripted"))
    };
    let first = MockProvider::new("first", [step]);
    let second = MockProvider::new("second", [Step::text("good")]);
    let registry = Registry::new();
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(second.clone().model("m"))
        .policy(policy)
        .breakers(&registry)
        .build()
        .unwrap();
    let judged = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&judged);
    let judge = validator::from_fn(move |answer: Candidate<'_>| {
        count.fetch_add(1, Ordering::SeqCst);
        if answer.text() == "good" { Ok(()) } else { Err(Rejection::of(kind, "scripted")) }
    });
    let request = Request::new("x").max_tokens(10).json_schema("thing", serde_json::json!({}));
    let result = chain.call(request, judge).await;
    let report = match &result {
        Ok(answer) => (*answer.report).clone(),
        Err(error) => {
            assert_eq!(error.kind(), ChainErrorKind::GaveUp(kind), "{error:?}");
            error.report().clone()
        }
    };
    let hard = if kind.is_soft() { 0 } else { report.attempts.len() - second.calls() };
    assert_eq!(judged.load(Ordering::SeqCst), report.attempts.len() - hard, "{kind}");
    let breaker = registry.breaker(&BreakerKey::new("first", "m")).snapshot();
    assert_eq!(breaker.state, State::Closed);
    let next = chain.complete("x").await;
    let skips = match &next {
        Ok(answer) => answer.report.skips.clone(),
        Err(error) => error.report().skips.clone(),
    };
    let gate = match skips.first().map(|skip| &skip.reason) {
        Some(Skip::GateClosed { .. }) => Gate,
        Some(Skip::CredentialLatched) => Latch,
        _ => Nothing,
    };
    Row {
        first_calls: report.attempts.len() - usize::from(result.is_ok()),
        served: result.is_ok(),
        breaker_failures: breaker.consecutive,
        gate,
        alert: report.has_alert(),
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_leads_where_the_default_table_says() {
    for kind in FailureKind::ALL {
        assert_eq!(observe(kind, FailurePolicy::default()).await, expected(kind), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_leads_where_keep_serving_says() {
    for kind in FailureKind::ALL {
        assert_eq!(observe(kind, FailurePolicy::keep_serving()).await, keeps_serving(kind), "{kind}");
    }
}

#[test]
fn the_table_in_the_docs_is_the_one_in_the_code() {
    let docs = include_str!("../../docs/failure-policy.md");
    let table = FailurePolicy::default().to_string();
    assert!(docs.contains(&table), "docs/failure-policy.md must hold this table:\n{table}");
}
