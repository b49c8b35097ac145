//! Settings that cannot work are found before anything is sent.

use async_trait::async_trait;
use backstop_core::{
    BudgetConfig, Candidate, Chain, ChainErrorKind, Check, ConfigError, FailurePolicy, Message, ProviderExt,
    Registry, Rejection, Request, RetryPolicy, Target,
};
use backstop_mock::{MockProvider, Step};
use backstop_tests::{millis, secs};

fn provider() -> MockProvider {
    MockProvider::new("a", [Step::text("hi")])
}

fn refused(target: Target) -> String {
    Chain::builder().target(target).build().unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_message_is_not_sent() {
    let provider = provider();
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    for request in [Request::default(), Request::default().system("Be brief.")] {
        for error in [
            chain.complete(request.clone()).await.unwrap_err(),
            chain.stream(request.clone()).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ChainErrorKind::Config);
            assert!(error.to_string().contains("`request` has no message"), "{error}");
        }
    }
    assert_eq!(provider.calls(), 0);
    chain.complete(Request::default().message(Message::assistant("So"))).await.unwrap();
}

#[test]
fn a_name_must_not_be_empty() {
    for name in ["", " "] {
        let error = refused(provider().model("m").named(name));
        assert!(error.starts_with("`named` of target a/m is empty"), "{error}");
    }
}

#[test]
fn numbers_out_of_their_range_are_named() {
    for factor in [0.5, f32::NAN, f32::INFINITY] {
        let error = refused(provider().model("m").retry(RetryPolicy::default().factor(factor)));
        assert!(error.starts_with("`factor` of target a/m is "), "{error}");
    }
    let mended = RetryPolicy::default().factor(0.5).factor(1.5);
    assert!(Chain::builder().target(provider().model("m").retry(mended)).build().is_ok());
    let never = FailurePolicy::default().max_declines(0);
    let error = refused(provider().model("m").policy(never.clone()));
    assert!(error.starts_with("`max_declines` is 0"), "{error}");
    assert!(Chain::builder().target(provider().model("m")).policy(never).build().is_err());
    let default = BudgetConfig::default();
    let budgets = [
        ("share", default.share(f64::NAN)),
        ("share", default.share(-0.1)),
        ("floor", default.floor(1e9, 1)),
        ("concurrent", default.concurrent(20.0, 3)),
        ("lifetime", default.lifetime(millis(5))),
    ];
    for (setting, budget) in budgets {
        let registry = Registry::builder().retry_budget(budget).build();
        let built = Chain::builder().target(provider().model("m")).breakers(&registry).build();
        let error = built.unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{setting}` of the retry budget ")), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_one_call_is_looked_at_too() {
    let provider = provider();
    let chain = Chain::builder().target(provider.clone().model("m")).deadline(secs(9)).build().unwrap();
    let never = FailurePolicy::default().max_declines(0);
    assert_eq!(chain.complete("x").policy(never).await.unwrap_err().kind(), ChainErrorKind::Config);
    assert_eq!(provider.calls(), 0);
}

#[test]
fn a_check_that_cannot_work_keeps_the_chain_from_being_built() {
    struct Never;
    #[async_trait]
    impl Check for Never {
        fn name(&self) -> &str {
            "never"
        }
        fn ready(&self) -> Result<(), ConfigError> {
            Err(ConfigError::setting("never", "cannot work"))
        }
        async fn check(&self, _: Candidate<'_>) -> Result<(), Rejection> {
            Ok(())
        }
    }
    let built = Chain::builder().target(provider().model("m")).check(std::sync::Arc::new(Never)).build();
    assert_eq!(built.unwrap_err().to_string(), "`never` cannot work");
}
