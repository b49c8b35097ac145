//! Many calls at once, for minutes, against servers that fault at random: `cargo run --release -p backstop-tests --bin
//! soak -- --minutes 10`.
//!
//! The servers run in a process of their own, on loopback, so that what is measured here is the client alone. It ends
//! with 1 and says why if a call returned a wrong answer, if a task panicked, or if memory, file descriptors, permits
//! or tasks grew.
#![allow(clippy::print_stdout, missing_docs)]

mod facts;
mod gauges;
mod load;
mod servers;
mod tally;

use std::{
    error::Error,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};

use self::{gauges::Gauges, load::Load, servers::Servers, tally::Tally};

const IN_FLIGHT: usize = 64;

/// What grows only while pools, caches and windows fill is not a leak: the first reading is taken after this share.
const WARM_UP: f64 = 0.3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--serve", seed] => seed.parse().map_err(Into::into).and_then(servers::serve),
        rest => Options::parse(rest).and_then(soak),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    time: Duration,
    seed: u64,
}

impl Options {
    fn parse(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { time: Duration::from_secs(60), seed: 1 };
        for pair in arguments.chunks(2) {
            match *pair {
                ["--minutes", minutes] => {
                    options.time = Duration::try_from_secs_f64(minutes.parse::<f64>()? * 60.0)?
                }
                ["--seconds", seconds] => options.time = Duration::try_from_secs_f64(seconds.parse()?)?,
                ["--seed", seed] => options.seed = seed.parse()?,
                _ => return Err("usage: soak [--minutes N | --seconds N] [--seed N]".into()),
            }
        }
        Ok(options)
    }
}

fn soak(options: Options) -> Result<(), Box<dyn Error>> {
    let panics = count_panics();
    let servers = Servers::start(options.seed)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let faults = runtime.block_on(run(&options, &servers))?;
    let panics = panics.load(Ordering::Relaxed);
    println!("panics           {panics}");
    let faults: Vec<_> =
        faults.into_iter().chain((panics > 0).then(|| "a task panicked".to_owned())).collect();
    if faults.is_empty() { Ok(()) } else { Err(format!("FAILED: {}", faults.join("; ")).into()) }
}

/// Runs the load, prints what was seen, and returns what must not be.
async fn run(options: &Options, servers: &Servers) -> Result<Vec<String>, Box<dyn Error>> {
    let tally = Arc::new(Tally::default());
    let before = Gauges::read(&Handle::current());
    let load = Load::new(servers.urls(), options.seed)?;

    let start = Instant::now();
    load.run(IN_FLIGHT, start + options.time.mul_f64(WARM_UP), &tally).await?;
    let warm = Gauges::read(&Handle::current());
    load.run(IN_FLIGHT, start + options.time, &tally).await?;
    let end = Gauges::read(&Handle::current());

    let permits = load.in_flight();
    drop(load);
    let closed = Gauges::settle(&Handle::current(), &before).await;

    println!("{tally}");
    println!(
        "at the start     {before}\nafter warm-up    {warm}\nat the end       {end}\nchain dropped    {closed}"
    );
    println!("permits held     {permits}");
    let mut faults = tally.faults();
    faults.extend(end.grown_since(&warm));
    faults.extend(closed.left_over(&before));
    faults.extend((permits > 0).then(|| format!("{permits} permits are held while no call is under way")));
    Ok(faults)
}

fn count_panics() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        counter.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    count
}
