//! Reads a stream to its end.

use std::time::Duration;

use backstop_core::ProviderExt;
use backstop_core::{AnswerStream, Chain, Interrupted, Report, Response, StreamEvent, TargetId};
use backstop_mock::{MockProvider, Step};
use tokio::time::sleep;

/// All that a consumer got.
#[derive(Debug, Default)]
pub struct Got {
    pub events: Vec<StreamEvent>,
    /// The text that a consumer would show at the end, clearing it at every restart.
    pub text: String,
    /// Who answered, in order: from `Started`, `Restarted` and `Continued`.
    pub targets: Vec<TargetId>,
    pub restarts: usize,
    pub finished: Option<(Response, Report)>,
    pub interrupted: Option<Interrupted>,
}

impl Got {
    pub fn interrupted(&self) -> &Interrupted {
        self.interrupted.as_ref().expect("an interruption")
    }

    pub fn report(&self) -> &Report {
        &self.finished.as_ref().expect("a finished stream").1
    }

    pub fn response(&self) -> &Response {
        &self.finished.as_ref().expect("a finished stream").0
    }

    pub fn names(&self) -> Vec<&str> {
        self.targets.iter().map(TargetId::as_str).collect()
    }
}

pub async fn read(stream: AnswerStream) -> Got {
    read_with_pauses(stream, [Duration::ZERO].into_iter()).await
}

/// The same, busy for these times in turn before it asks for more.
pub async fn read_with_pauses(
    mut stream: AnswerStream,
    pauses: impl Iterator<Item = Duration> + Clone,
) -> Got {
    let (mut got, mut pauses) = (Got::default(), pauses.cycle());
    while let Some(item) = stream.next().await {
        if let Some(pause) = pauses.next().filter(|pause| !pause.is_zero()) {
            sleep(pause).await;
        }
        assert!(got.finished.is_none() && got.interrupted.is_none(), "nothing comes after the end");
        let event = match item {
            Ok(event) => event,
            Err(interrupted) => {
                got.interrupted = Some(interrupted);
                continue;
            }
        };
        match &event {
            StreamEvent::Started { target } | StreamEvent::Continued { target } => {
                got.targets.push(target.clone())
            }
            StreamEvent::Restarted { target } => {
                got.text.clear();
                got.restarts += 1;
                got.targets.push(target.clone());
            }
            StreamEvent::Delta(text) => got.text.push_str(text),
            StreamEvent::Finished { response, report } => {
                got.finished = Some(((**response).clone(), (**report).clone()));
            }
            _ => {}
        }
        got.events.push(event);
    }
    assert!(stream.next().await.is_none(), "an ended stream stays ended");
    got
}

/// A chain of providers `a`, `b`, `c`, each with one step that repeats, and no retries.
pub fn chain(steps: impl IntoIterator<Item = Step>) -> Chain {
    let targets =
        ["a", "b", "c"].into_iter().zip(steps).map(|(name, step)| MockProvider::new(name, [step]).model("m"));
    targets.fold(Chain::builder(), |chain, target| chain.target(target.retries(0))).build().unwrap()
}
