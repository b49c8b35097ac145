//! Providers that do anything, callers that go away at any point, and settings at the ends of their ranges: whatever
//! happens, nothing of it is left behind.

use std::{
    future::{Future, IntoFuture, poll_fn},
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, BreakerConfig, Chain, ChainBuilder, Chunk, ChunkStream, FailureKind, FinishKind, Hedge,
    OnInterrupt, Provider, ProviderError, ProviderExt, QualityWindows, Registry, Response, Target, Usage,
    breaker::State, budget::BudgetConfig, latency::AdaptiveTimeout, retry::RetryPolicy,
};
use backstop_tests::{Heard, millis, secs};
use fastrand::Rng;
use futures_util::{FutureExt, StreamExt, stream};
use proptest::prelude::*;
use tokio::time::{sleep, timeout};

/// Durations at which arithmetic goes wrong, if it does.
const TIMES: [Duration; 8] = [
    Duration::from_nanos(1),
    millis(1),
    millis(1500),
    secs(5),
    secs(60),
    secs(3_000_000_000),
    Duration::new(u64::MAX, 0),
    Duration::MAX,
];

fn time(rng: &mut Rng) -> Duration {
    TIMES[rng.usize(..TIMES.len())]
}

/// Does anything until it is told to be good.
struct Wild {
    name: String,
    good: Arc<AtomicBool>,
    rng: Mutex<Rng>,
}

impl Wild {
    fn draw(&self) -> Rng {
        self.rng.lock().unwrap().fork()
    }
}

fn error(rng: &mut Rng) -> ProviderError {
    let kinds: Vec<_> = FailureKind::ALL
        .into_iter()
        .filter(|kind| {
            !kind.is_soft() && !matches!(kind, FailureKind::Authentication | FailureKind::Permission)
        })
        .collect();
    let mut error = ProviderError::new(kinds[rng.usize(..kinds.len())], "wild");
    if rng.bool() {
        error = error.with_retry_after(if rng.bool() { Duration::ZERO } else { time(rng) });
    }
    if rng.bool() {
        error = error.with_usage(Usage::new(u64::MAX, u64::MAX - 1));
    }
    if rng.u8(..4) == 0 {
        error = error.as_stale();
    }
    error
}

/// Gives way to other tasks so often.
async fn wake(mut times: u32) {
    poll_fn(|cx| match times {
        0 => Poll::Ready(()),
        _ => {
            times -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[async_trait]
impl Provider for Wild {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        if self.good.load(Ordering::SeqCst) {
            return Ok(Response::new("fine"));
        }
        let mut rng = self.draw();
        wake(rng.u32(..4)).await;
        match rng.u8(..9) {
            0 => Ok(Response::new("fine").with_usage(Usage::new(u64::MAX, 7))),
            1 => Ok(Response::new("").with_finish(FinishKind::Length)),
            2 => Ok(Response::new("").with_refusal("no")),
            3 => std::future::pending().await,
            4 => panic!("wild"),
            5 => {
                sleep(millis(rng.u64(..20_000))).await;
                Ok(Response::new("late"))
            }
            _ => Err(error(&mut rng)),
        }
    }

    async fn stream(&self, attempt: &Attempt<'_>) -> Result<ChunkStream, ProviderError> {
        if self.good.load(Ordering::SeqCst) || self.draw().u8(..3) == 0 {
            return Ok(backstop_core::chunk::whole(self.complete(attempt).await?));
        }
        let rng = self.draw();
        let chunks = stream::unfold(rng, |mut rng| async move {
            wake(rng.u32(..3)).await;
            let chunk = match rng.u8(..12) {
                0 => return None,
                1 => Err(error(&mut rng)),
                2 => std::future::pending().await,
                3 => panic!("wild"),
                4 => Ok(Chunk::Ping),
                5 => Ok(Chunk::Usage(Usage::new(u64::MAX, u64::MAX))),
                6 => Ok(Chunk::Reasoning("hm".into())),
                7 => Ok(Chunk::End(FinishKind::Stop.into())),
                8 => {
                    sleep(millis(rng.u64(..20_000))).await;
                    Ok(Chunk::Text("slow ".into()))
                }
                _ => Ok(Chunk::Text("text ".into())),
            };
            Some((chunk, rng))
        });
        Ok(chunks.boxed())
    }
}

fn target(name: String, good: &Arc<AtomicBool>, rng: &mut Rng) -> Target {
    let member = |rng: &mut Rng, name: &str| Wild {
        name: name.to_owned(),
        good: Arc::clone(good),
        rng: Mutex::new(rng.fork()),
    };
    let mut target = if rng.u8(..3) == 0 {
        Target::pool([member(rng, &format!("{name}-1")), member(rng, &format!("{name}-2"))], "m").named(name)
    } else {
        member(rng, &name).model("m")
    };
    let retry =
        RetryPolicy::default().base(time(rng)).cap(time(rng)).factor([1.0, 1.5, f32::MAX][rng.usize(..3)]);
    target = target.retry(
        if rng.bool() { retry } else { retry.without_jitter() }.retries([0, 1, 3, 255][rng.usize(..4)]),
    );
    if rng.bool() {
        target = target.timeout(time(rng)).idle(time(rng)).first_content(time(rng));
    }
    if rng.bool() {
        target = target.max_in_flight([1, 2, usize::MAX][rng.usize(..3)]).queue_wait(time(rng));
    }
    if rng.bool() {
        target = target.requests_per_minute([1, 7, u32::MAX][rng.usize(..3)]);
    }
    if rng.bool() {
        target = target.tokens_per_minute([1, 100, u32::MAX][rng.usize(..3)]);
    }
    if rng.bool() {
        target = target.adaptive_timeout(
            AdaptiveTimeout::default()
                .least_samples(0)
                .floor(Duration::ZERO)
                .ceiling(Duration::MAX)
                .factor(1000.0),
        );
    }
    target
}

fn registry(rng: &mut Rng) -> Registry {
    let most = secs(365 * 86_400);
    let mut some = || time(rng).min(most);
    let config = BreakerConfig::builder()
        .consecutive_failures(1)
        .cooldown_cap(most)
        .cooldown(some())
        .cooldown_growth(1e300)
        .jitter(1.0)
        .probe_lease(some())
        .throttle(some())
        .window(some())
        .consecutive_gap(some())
        .build()
        .unwrap();
    let budget = match rng.u8(..3) {
        0 => BudgetConfig::default(),
        1 => BudgetConfig::unlimited(),
        _ => BudgetConfig::default()
            .share([0.0, 10.0][rng.usize(..2)])
            .floor([0.0, 1000.0][rng.usize(..2)], u32::MAX)
            .lifetime(time(rng).max(secs(1)))
            .concurrent([0.0, 1.0][rng.usize(..2)], u32::MAX),
    };
    Registry::builder().config(config).gate_cap(time(rng)).retry_budget(budget).seed(rng.u64(..)).build()
}

fn settle_on(mut chain: ChainBuilder, rng: &mut Rng) -> ChainBuilder {
    if rng.bool() {
        chain = chain.deadline(time(rng));
    }
    if rng.bool() {
        chain = chain.max_retry_after(time(rng));
    }
    if rng.bool() {
        chain = chain.keep_time([0.0, 0.5, 1.0][rng.usize(..3)]);
    }
    match rng.u8(..3) {
        0 => chain = chain.hedge(Hedge::after(if rng.bool() { Duration::ZERO } else { time(rng) })),
        1 => chain = chain.hedge(Hedge::at_quantile(0.5, time(rng))),
        _ => {}
    }
    if rng.u8(..4) == 0 {
        let config = QualityWindows::settings().min_calls(1).build().unwrap();
        chain = chain.quality(QualityWindows::on(config));
    }
    chain
}

/// Polls a future as often as said, then drops it.
async fn at_most<F: Future>(future: F, polls: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut polled = 0;
    poll_fn(|cx| {
        polled += 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if polled >= polls => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn stream_it(chain: &Chain, rng: &mut Rng) {
    let ways = [OnInterrupt::Error, OnInterrupt::Restart, OnInterrupt::Continue];
    let call = chain
        .stream("hi")
        .on_interrupt(ways[rng.usize(..3)])
        .hold(rng.bool())
        .reasoning(rng.bool())
        .head([0, 5, 120][rng.usize(..3)], time(rng))
        .total(time(rng))
        .first_content(time(rng))
        .idle(time(rng));
    let Ok(mut stream) = call.await else { return };
    for _ in 0..rng.u32(..30) {
        match stream.next().await {
            Some(Ok(_)) if rng.u8(..4) == 0 => sleep(millis(rng.u64(..9_000))).await,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break,
        }
    }
    if rng.bool() {
        let _ = stream.cancel();
    }
}

/// One caller, who may lose patience.
async fn caller(chain: Chain, mut rng: Rng) {
    sleep(millis(rng.u64(..2_000))).await;
    let (patience, polls) = (millis(rng.u64(..30_000)), rng.u32(1..12));
    let leaves = rng.u8(..3);
    let call: Pin<Box<dyn Future<Output = ()> + Send + '_>> = if rng.bool() {
        let mut rng = rng.fork();
        let chain = &chain;
        Box::pin(async move { stream_it(chain, &mut rng).await })
    } else {
        Box::pin(chain.complete("hi").into_future().map(drop))
    };
    match leaves {
        0 => drop(timeout(patience, call).await),
        1 => drop(at_most(call, polls).await),
        _ => drop(timeout(secs(1_000_000), call).await),
    }
}

async fn storm(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let good = Arc::new(AtomicBool::new(false));
    let heard = Heard::default();
    let mut chain = Chain::builder().breakers(&registry(&mut rng)).observer(heard.clone()).seed(seed);
    for name in ["a", "b", "c"] {
        chain = chain.target(target(name.to_owned(), &good, &mut rng));
    }
    let chain = settle_on(chain, &mut rng).build().unwrap();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let call = caller(chain.clone(), rng.fork());
            tokio::spawn(AssertUnwindSafe(call).catch_unwind())
        })
        .collect();
    for caller in callers {
        if let Err(panic) = caller.await.unwrap() {
            let said = panic.downcast_ref::<&str>().copied().unwrap_or("a formatted text");
            assert_eq!(said, "wild", "panics come from the providers only");
        }
    }
    nothing_is_left(&chain);
    assert_eq!(heard.started(), heard.ended().len(), "each call ends once");

    good.store(true, Ordering::SeqCst);
    sleep(secs(3 * 365 * 86_400)).await;
    let answer = chain.complete("hi").deadline(secs(3600)).await;
    if let Err(error) = answer {
        panic!("the good days are back: {error}\n{}\n{:?}", error.report(), chain.snapshot());
    }
}

fn nothing_is_left(chain: &Chain) {
    for target in chain.snapshot().targets {
        assert_eq!((target.in_flight, target.queued), (0, 0), "{target:?}");
        for member in target.members {
            assert_eq!(member.in_flight, 0);
            assert_eq!((member.budget.in_flight, member.budget.retries_in_flight), (0, 0));
            assert_eq!(member.breaker.probes_in_flight, 0);
            assert_ne!(member.breaker.state, State::ForcedOpen);
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_nothing_is_left_behind(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(storm(seed));
    }
}
