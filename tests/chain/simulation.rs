//! Two hours and more of bad weather in a few seconds: three providers that fail independently of each other, and
//! 10,000 calls. Time is paused and chance is seeded, so that a run can be had again.

use std::{
    collections::BTreeMap,
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use backstop_core::{
    Attempt, Candidate, Chain, FailureKind, Provider, ProviderError, ProviderExt, Registry, Rejection,
    Report, Response, breaker::State, validator,
};
use backstop_tests::{millis, secs};
use fastrand::Rng;
use tokio::time::{Instant, sleep};

const CALLS: usize = 10_000;
const DEADLINE: Duration = secs(30);
const TIMEOUT: Duration = secs(10);
/// Failures in a row that open a breaker, by default.
const THRESHOLD: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weather {
    Fine,
    /// Every request fails at once.
    Dead,
    /// Answers take 4 to 20 s: some within the timeout, most not.
    Slow,
    /// Two of three requests are turned away with a 429.
    Storm,
    /// Answers that may not be used, or refusals.
    Junk,
}

/// From when on.
type Forecast = Vec<(Duration, Weather)>;

fn forecast(rng: &mut Rng, until: Duration) -> Forecast {
    let (mut all, mut at) = (Vec::new(), Duration::ZERO);
    while at < until {
        all.push((at, Weather::Fine));
        at += secs(rng.u64(100..500));
        let bad = [Weather::Dead, Weather::Dead, Weather::Slow, Weather::Storm, Weather::Junk];
        all.push((at, bad[rng.usize(..bad.len())]));
        at += secs(rng.u64(60..400));
    }
    all
}

fn at(forecast: &Forecast, time: Duration) -> Weather {
    forecast.iter().rev().find(|(from, _)| *from <= time).map_or(Weather::Fine, |(_, weather)| *weather)
}

fn fine_throughout(forecast: &Forecast, from: Duration, until: Duration) -> bool {
    let changes = forecast.iter().filter(|(at, _)| from < *at && *at <= until);
    at(forecast, from) == Weather::Fine && changes.into_iter().all(|(_, weather)| *weather == Weather::Fine)
}

struct Simulated {
    name: &'static str,
    began: Instant,
    forecast: Forecast,
    rng: Mutex<Rng>,
    /// When each request came.
    requests: Mutex<Vec<Duration>>,
}

impl Simulated {
    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.rng.lock().unwrap())
    }
}

#[async_trait]
impl Provider for Simulated {
    fn name(&self) -> &str {
        self.name
    }

    async fn complete(&self, _: &Attempt<'_>) -> Result<Response, ProviderError> {
        let now = self.began.elapsed();
        self.requests.lock().unwrap().push(now);
        let usual = millis(self.draw(|rng| rng.u64(300..2000)));
        match at(&self.forecast, now) {
            Weather::Fine => sleep(usual).await,
            Weather::Dead => {
                sleep(millis(20)).await;
                let kinds = [FailureKind::Server, FailureKind::Overloaded, FailureKind::Connect];
                let kind = kinds[self.draw(|rng| rng.usize(..kinds.len()))];
                return Err(ProviderError::new(kind, "dead"));
            }
            Weather::Slow => sleep(millis(self.draw(|rng| rng.u64(4_000..20_000)))).await,
            Weather::Storm => {
                sleep(millis(100)).await;
                let error = ProviderError::new(FailureKind::RateLimited, "too fast");
                match self.draw(|rng| rng.u8(..6)) {
                    0 | 1 => sleep(usual).await,
                    2 => return Err(error),
                    3 => return Err(error.with_retry_after(secs(1))),
                    _ => return Err(error.with_retry_after(secs(self.draw(|rng| rng.u64(5..30))))),
                }
            }
            Weather::Junk => {
                sleep(usual).await;
                let refuses = self.draw(Rng::bool);
                let junk = Response::new(if refuses { "" } else { "not a number" });
                return Ok(if refuses { junk.with_refusal("no") } else { junk });
            }
        }
        Ok(Response::new("42"))
    }
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    /// Whether a target was fit to answer it throughout.
    owed: bool,
    answered: bool,
    served_by: Option<String>,
    took: Duration,
    attempts: usize,
    skips: usize,
}

struct Run {
    calls: Vec<Call>,
    providers: Vec<Arc<Simulated>>,
    most_in_flight: Vec<usize>,
}

async fn run(seed: u64) -> Run {
    let mut rng = Rng::with_seed(seed);
    let began = Instant::now();
    let providers: Vec<_> = ["first", "second", "third"]
        .into_iter()
        .map(|name| {
            let (forecast, rng) = (forecast(&mut rng, secs(9_000)), Mutex::new(rng.fork()));
            Arc::new(Simulated { name, began, forecast, rng, requests: Mutex::default() })
        })
        .collect();
    let registry = Registry::builder().seed(seed).build();
    let targets = providers.iter().map(|provider| Arc::clone(provider).model("m").timeout(TIMEOUT));
    let chain = targets.fold(Chain::builder(), |chain, target| chain.target(target));
    let chain = chain.deadline(DEADLINE).breakers(&registry).seed(seed).build().unwrap();

    let mut running = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        sleep(millis(rng.u64(100..1300))).await;
        let owed = is_owed(&chain, &providers, began.elapsed());
        let number = validator::from_fn(|answer: Candidate<'_>| {
            answer.text().parse::<u32>().map_err(|_| Rejection::not_json("not a number"))
        });
        running.push((owed, tokio::spawn(chain.call("How many?", number).into_future())));
    }
    let mut calls = Vec::with_capacity(CALLS);
    for (owed, call) in running {
        let result = call.await.unwrap();
        let answered = result.is_ok();
        let line = |report: &Report| Call {
            owed,
            answered,
            served_by: report.served_by().map(str::to_owned),
            took: report.elapsed,
            attempts: report.attempts.len(),
            skips: report.skips.len(),
        };
        calls.push(match &result {
            Ok(answer) => line(&answer.report),
            Err(error) => line(error.report()),
        });
    }
    let most_in_flight = chain.snapshot().targets.iter().map(|target| target.most_in_flight).collect();
    Run { calls, providers, most_in_flight }
}

/// Whether a target could answer a call that begins now, whatever the others do: its weather is fine from one timeout
/// ago (so that nothing of a bad time is still under way) to the call's deadline, its breaker is closed and no gate
/// keeps it away. It needs 2 s; the least that the plan keeps for the last of three targets is a quarter of the half
/// that is left after the first, 3.75 s.
fn is_owed(chain: &Chain, providers: &[Arc<Simulated>], now: Duration) -> bool {
    let targets = chain.snapshot().targets;
    providers.iter().zip(&targets).any(|(provider, target)| {
        let from = now.saturating_sub(TIMEOUT + secs(1));
        target.available
            && target.members[0].breaker.state == State::Closed
            && fine_throughout(&provider.forecast, from, now + DEADLINE)
    })
}

/// Probes that fit into an outage of this length, with the default cooldowns, which jitter only lengthens.
fn probes_within(outage: Duration) -> usize {
    let cooldowns = [45, 90, 180].into_iter().chain(std::iter::repeat(300)).map(secs);
    let ends = cooldowns.scan(Duration::ZERO, |end, cooldown| {
        *end += cooldown;
        Some(*end)
    });
    ends.take_while(|end| *end <= outage).count()
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_calls_in_bad_weather_are_answered_wherever_somebody_can() {
    let run = run(7).await;
    let count = |holds: &dyn Fn(&Call) -> bool| run.calls.iter().filter(|call| holds(call)).count();
    let (owed, answered) = (count(&|call| call.owed), count(&|call| call.answered));
    let lost: Vec<_> = run.calls.iter().filter(|call| call.owed && !call.answered).collect();
    assert!(lost.is_empty(), "{} calls that could have been answered were not: {:?}", lost.len(), lost[0]);
    assert!(run.calls.iter().all(|call| call.took <= DEADLINE), "a call outlived its deadline");
    assert!(owed > CALLS / 2 && owed < CALLS, "{owed}: the weather tests nothing");

    let mut by_target = BTreeMap::new();
    for call in run.calls.iter().filter_map(|call| call.served_by.as_deref()) {
        *by_target.entry(call).or_insert(0) += 1;
    }
    let mut took: Vec<_> = run.calls.iter().filter(|call| call.answered).map(|call| call.took).collect();
    took.sort();
    let attempts: usize = run.calls.iter().map(|call| call.attempts).sum();
    println!("{CALLS} calls: {owed} could be answered for certain, {answered} were, by {by_target:?}");
    println!(
        "answered within {:?} (median), {:?} (99 %); {attempts} requests, {} targets skipped",
        took[took.len() / 2],
        took[took.len() * 99 / 100],
        run.calls.iter().map(|call| call.skips).sum::<usize>(),
    );
    assert!(by_target.len() == 3, "every target was needed: {by_target:?}");
    dead_providers_were_spared(&run);
}

/// Until a breaker opens, five requests fail in a row. As many more may come as ever were under way at once: answers
/// from before the outage may interrupt the row, and others may be under way when it opens. After that there are only
/// probes.
fn dead_providers_were_spared(run: &Run) {
    let (mut outages, mut sent, mut allowed, mut unspared) = (0, 0, 0, 0);
    for (provider, most_in_flight) in run.providers.iter().zip(&run.most_in_flight) {
        let requests = provider.requests.lock().unwrap();
        let end = requests.iter().max().copied().unwrap_or_default();
        for pair in provider.forecast.windows(2) {
            let ((from, weather), (until, _)) = (pair[0], pair[1]);
            if weather != Weather::Dead || until > end {
                continue;
            }
            let came = requests.iter().filter(|request| (from..until).contains(*request)).count();
            let bound = THRESHOLD + most_in_flight + probes_within(until - from);
            assert!(came <= bound, "{}: {came} requests in {:?} of outage", provider.name, until - from);
            outages += 1;
            sent += came;
            allowed += bound;
            unspared += usize::try_from((until - from).as_millis() / 700).unwrap();
        }
    }
    println!(
        "{outages} outages: {sent} requests sent to dead providers, {allowed} allowed, of {unspared} calls"
    );
    assert!(outages >= 10 && sent > 0 && sent * 10 < unspared, "the breakers spared nothing");
}

#[tokio::test(start_paused = true)]
async fn a_run_follows_from_its_seed() {
    let (one, again, other) = (run(11).await, run(11).await, run(12).await);
    assert_eq!(one.calls, again.calls);
    assert_ne!(one.calls, other.calls);
}
