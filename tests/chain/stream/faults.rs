//! Any schedule of faults: no text of two models in one uninterrupted sequence, no hang, no panic.

use backstop_core::{
    Capabilities, Chain, FailureKind, FinishKind, OnInterrupt, ProviderExt, StreamEvent, Usage,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{millis, secs};
use proptest::prelude::*;
use tokio::time::timeout;

use super::support::{Got, read_with_pauses};

/// What a stream does, with texts that name their target.
#[derive(Clone, Debug)]
enum Act {
    Text(usize),
    Blank,
    Blanks,
    Ping,
    Reasoning,
    Tool,
    Usage,
    Wait(u64),
    Fail(FailureKind),
    Refusal,
    End(FinishKind),
    Hang,
}

impl Act {
    fn piece(&self, mark: char) -> Piece {
        match self {
            Self::Text(length) => Piece::text(mark.to_string().repeat(*length)),
            Self::Blank => Piece::text(""),
            Self::Blanks => Piece::text(" \n"),
            Self::Ping => Piece::ping(),
            Self::Reasoning => Piece::reasoning("hm"),
            Self::Tool => Piece::tool_call(0, "f", "{}"),
            Self::Usage => Piece::usage(Usage::new(1, 1)),
            Self::Wait(seconds) => Piece::wait(secs(*seconds)),
            Self::Fail(kind) => Piece::fail(*kind),
            Self::Refusal => Piece::refusal("no"),
            Self::End(kind) => Piece::end_with(*kind),
            Self::Hang => Piece::hang(),
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    let kinds = [
        FailureKind::Overloaded,
        FailureKind::Server,
        FailureKind::Connect,
        FailureKind::RateLimited,
        FailureKind::MalformedResponse,
        FailureKind::Authentication,
        FailureKind::Timeout,
    ];
    let ends = [FinishKind::Stop, FinishKind::Length, FinishKind::ContentFilter, FinishKind::Refusal];
    prop_oneof![
        6 => (1..200_usize).prop_map(Act::Text),
        1 => Just(Act::Blank),
        1 => Just(Act::Blanks),
        1 => Just(Act::Ping),
        1 => Just(Act::Reasoning),
        1 => Just(Act::Tool),
        1 => Just(Act::Usage),
        2 => (0..40_u64).prop_map(Act::Wait),
        1 => prop::sample::select(kinds.to_vec()).prop_map(Act::Fail),
        1 => Just(Act::Refusal),
        4 => prop::sample::select(ends.to_vec()).prop_map(Act::End),
        1 => Just(Act::Hang),
    ]
}

fn scripts() -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop::collection::vec(prop::collection::vec(act(), 0..8), 1..4)
}

#[derive(Clone, Debug)]
struct Options {
    on_interrupt: OnInterrupt,
    head: usize,
    hold: bool,
    reasoning: bool,
    retries: u8,
    /// How long the consumer is busy after each event, in turn.
    pauses: Vec<u64>,
}

fn options() -> impl Strategy<Value = Options> {
    let modes = vec![OnInterrupt::Error, OnInterrupt::Restart, OnInterrupt::Continue];
    (
        prop::sample::select(modes),
        prop::sample::select(vec![0, 30, 120]),
        any::<bool>(),
        any::<bool>(),
        0..2_u8,
        prop::collection::vec(0..100_u64, 1..4),
    )
        .prop_map(|(on_interrupt, head, hold, reasoning, retries, pauses)| Options {
            on_interrupt,
            head,
            hold,
            reasoning,
            retries,
            pauses,
        })
}

const MARKS: [char; 3] = ['a', 'b', 'c'];

async fn play(scripts: &[Vec<Act>], options: &Options, pauses: &[u64]) -> Option<Got> {
    let mut chain = Chain::builder().seed(1);
    for (script, mark) in scripts.iter().zip(MARKS) {
        let step = Step::stream(script.iter().map(|act| act.piece(mark)));
        let provider = MockProvider::new(mark.to_string(), [step])
            .capable(Capabilities::unknown().with_prefill(mark != 'b').with_tools(true));
        chain = chain.target(provider.model("m").retries(options.retries));
    }
    let call = chain
        .build()
        .unwrap()
        .stream("hi")
        .head(options.head, millis(500))
        .hold(options.hold)
        .reasoning(options.reasoning)
        .on_interrupt(options.on_interrupt);
    let got = read_with_pauses(call.await.ok()?, pauses.iter().copied().map(secs)).await;
    check(&got, options);
    Some(got)
}

fn check(got: &Got, options: &Options) {
    let (mut mark, mut continues) = (None, false);
    for event in &got.events {
        match event {
            StreamEvent::Started { target } | StreamEvent::Restarted { target } => {
                mark = target.as_str().chars().next();
            }
            StreamEvent::Continued { target } => {
                continues = true;
                mark = target.as_str().chars().next();
            }
            StreamEvent::Delta(text) => {
                assert!(text.trim().chars().all(|found| Some(found) == mark), "{event:?} of {mark:?}")
            }
            _ => {}
        }
    }
    match (&got.finished, &got.interrupted) {
        (Some((response, report)), None) => {
            assert_eq!(response.text, got.text);
            assert_eq!(report.served_by.as_ref(), got.targets.last());
        }
        (None, Some(interrupted)) => {
            assert_eq!(interrupted.text, got.text);
            // Who goes on with a text may break before anything was added to it.
            assert!(continues || Some(&interrupted.target) == got.targets.last());
            assert!(got.targets.contains(&interrupted.target));
            assert!(interrupted.report.usage.output_tokens > 0 || got.text.is_empty());
        }
        ended => panic!("exactly one end: {ended:?}"),
    }
    assert!(options.on_interrupt == OnInterrupt::Restart || options.reasoning || got.restarts == 0);
    assert!(options.on_interrupt == OnInterrupt::Continue || !continues);
}

/// What a consumer got, without times.
fn outcome(got: &Option<Got>) -> impl PartialEq + std::fmt::Debug {
    got.as_ref().map(|got| {
        let kind = got.interrupted.as_ref().map(|interrupted| interrupted.kind());
        (got.text.clone(), got.targets.clone(), got.events.len(), got.restarts, kind)
    })
}

/// Whether an attempt met a timer: a provider that goes on while the consumer is busy may then be in time.
fn timed_out(got: &Option<Got>) -> bool {
    let Some(got) = got else { return false };
    let report = got.finished.as_ref().map(|(_, report)| report);
    let report = report.or(got.interrupted.as_ref().map(|interrupted| &*interrupted.report));
    report.is_some_and(|report| {
        report.attempts.iter().any(|attempt| attempt.failure() == Some(FailureKind::Timeout))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_holds_text_of_two_models_and_every_stream_ends(scripts in scripts(), options in options()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let both = async {
                let (quick, slow) = (play(&scripts, &options, &[0]).await, play(&scripts, &options, &options.pauses).await);
                // Before the first content the consumer's time is the deadline's.
                if !options.reasoning && !timed_out(&quick) {
                    assert_eq!(outcome(&quick), outcome(&slow), "a busy consumer changes nothing");
                }
            };
            timeout(secs(100_000), both).await.expect("a stream that does not end");
        });
    }
}
