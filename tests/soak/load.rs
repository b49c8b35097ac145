//! The calls, plain and streamed, and what is right about them.

use std::{error::Error, sync::Arc, time::Duration};

use backstop::{Hedge, prelude::*, validate::Refusal};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::{
    facts::{Ticket, question, story},
    servers::SERVERS,
    tally::{Outcome, Tally},
};

/// The longest time that a caller waits after a call that failed.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

pub(crate) struct Load {
    chain: Chain,
    seed: u64,
}

fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Load {
    /// A chain over one adapter of each vendor, with everything that can leak: breakers, places, hedges, queues.
    pub(crate) fn new(urls: &[String], seed: u64) -> Result<Self, Box<dyn Error>> {
        let [ada, bob, cleo, dan] = urls else { return Err("four servers are needed".into()) };
        let models = [
            OpenAi::builder().base_url(ada.clone()).api_key("none").build()?.model("m"),
            Anthropic::builder().base_url(bob.clone()).api_key("none").build()?.model("m"),
            Gemini::builder().base_url(cleo.clone()).api_key("none").build()?.model("m"),
            Ollama::builder().base_url(dan.clone()).build()?.model("m"),
        ];
        let breaker = BreakerConfig::builder().cooldown(millis(700)).cooldown_cap(millis(2_000)).build()?;
        let registry = Registry::builder().config(breaker).build();
        let mut chain =
            Chain::builder().deadline(millis(3_000)).check(Refusal::default()).breakers(&registry);
        for (target, (name, _)) in models.into_iter().zip(SERVERS) {
            let retry = RetryPolicy::default().base(millis(5)).cap(millis(50));
            chain = chain.target(target.named(name).timeout(millis(500)).retry(retry).max_in_flight(24));
        }
        Ok(Self { chain: chain.hedge(Hedge::after(millis(150))).build()?, seed })
    }

    /// Keeps so many calls in flight until then, and waits for the last ones.
    pub(crate) async fn run(
        &self,
        calls: usize,
        until: Instant,
        tally: &Arc<Tally>,
    ) -> Result<(), Box<dyn Error>> {
        let mut callers = JoinSet::new();
        for caller in 0..calls as u64 {
            let caller = Caller {
                chain: self.chain.clone(),
                dice: fastrand::Rng::with_seed(self.seed.wrapping_mul(1_000) + caller),
            };
            callers.spawn(caller.run(until, Arc::clone(tally)));
        }
        while let Some(done) = callers.join_next().await {
            done?;
        }
        Ok(())
    }

    /// Attempts that count as under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.chain.snapshot().targets.iter().map(|target| target.in_flight + target.queued).sum()
    }
}

struct Caller {
    chain: Chain,
    dice: fastrand::Rng,
}

impl Caller {
    async fn run(mut self, until: Instant, tally: Arc<Tally>) {
        while Instant::now() < until {
            let number = self.dice.u64(..1_000_000_000);
            let streamed = self.dice.bool();
            let patience =
                if self.dice.u8(..10) == 0 { millis(self.dice.u64(..300)) } else { millis(60_000) };
            let outcome = match streamed {
                true => timeout(patience, self.stream(number)).await,
                false => timeout(patience, self.extract(number)).await,
            };
            tally.count(streamed, outcome.unwrap_or(Outcome::Dropped));
        }
    }

    async fn extract(&self, number: u64) -> Outcome {
        match self.chain.extract::<Ticket>(question(number)).await {
            Ok(answer) if answer.value == Ticket::of(number) => Outcome::Answered,
            Ok(answer) => {
                println!("wrong answer about {number}: {:?}\n{}", answer.value, answer.report);
                Outcome::Wrong
            }
            Err(error) => failed(&error).await,
        }
    }

    async fn stream(&mut self, number: u64) -> Outcome {
        let slow = self.dice.u8(..8) == 0;
        let what = if self.dice.bool() { OnInterrupt::Restart } else { OnInterrupt::Error };
        let call = self.chain.stream(question(number)).on_interrupt(what);
        let mut answer = match call.first_content(millis(500)).idle(millis(500)).await {
            Ok(answer) => answer,
            Err(error) => return failed(&error).await,
        };
        let (mut teller, mut text) = (String::new(), String::new());
        while let Some(event) = answer.next().await {
            match event {
                Ok(StreamEvent::Started { target }) => teller = target.to_string(),
                Ok(StreamEvent::Restarted { target }) => {
                    teller = target.to_string();
                    text.clear();
                }
                Ok(StreamEvent::Delta(piece)) => text.push_str(&piece),
                Ok(StreamEvent::Finished { response, .. }) if response.text == text => {
                    return told(text == story(&teller, number), Outcome::Answered, number, &text);
                }
                Ok(StreamEvent::Finished { .. }) => return told(false, Outcome::Answered, number, &text),
                Ok(_) => {}
                Err(interrupted) => {
                    let right = interrupted.text == text && story(&teller, number).starts_with(&text);
                    return told(right, Outcome::Interrupted, number, &text);
                }
            }
            if slow {
                sleep(millis(self.dice.u64(..5))).await;
            }
        }
        println!("the stream about {number} ended without a word");
        Outcome::Wrong
    }
}

/// A caller that came back at once while nobody can be asked would only keep the servers from running.
async fn failed(error: &ChainError) -> Outcome {
    sleep(error.report().retry_in.unwrap_or_default().min(LONGEST_PAUSE)).await;
    Outcome::Failed
}

fn told(right: bool, outcome: Outcome, number: u64, text: &str) -> Outcome {
    if right {
        return outcome;
    }
    println!("wrong text about {number}: {text:?}");
    Outcome::Wrong
}
