//! What a circuit breaker does over a minute: threshold 2, cooldown 60 s, a primary that is down until second 61.
//! Runs on paused time, so the minute takes no time.

use std::{error::Error, time::Duration};

use backstop::{
    breaker::BreakerKey,
    mock::{MockProvider, Step},
    prelude::*,
};
use tokio::time::{Instant, sleep_until};

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let primary = MockProvider::answering("primary", |_| Response::new("primary here"))
        .when(move |_| start.elapsed() < Duration::from_secs(61), Step::fail(FailureKind::Overloaded));
    let backup = MockProvider::new("backup", [Step::text("backup here")]);

    let breakers = BreakerConfig::builder()
        .consecutive_failures(2)
        .cooldown(Duration::from_secs(60))
        .jitter(0.0)
        .build()?;
    let registry = Registry::builder().config(breakers).build();
    let chain = Chain::builder()
        .target(primary.clone().model("large").retries(0))
        .target(backup.model("small"))
        .breakers(&registry)
        .build()?;
    let breaker = registry.breaker(&BreakerKey::new("primary", "large"));

    for second in [0, 1, 2, 61, 62] {
        sleep_until(start + Duration::from_secs(second)).await;
        let calls = primary.calls();
        let answer = chain.complete("Who is there?").await?;
        println!(
            "t = {second:>2} s  served by {:<13}  primary {:<10}  breaker {}",
            answer.report.served_by().unwrap_or("nobody"),
            if primary.calls() > calls { "called" } else { "not called" },
            breaker.snapshot().state,
        );
    }
    Ok(())
}
