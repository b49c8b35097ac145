//! Any schedule of faults: no text of two models in one uninterrupted sequence, no hang, no panic.

use backstop_core::{Chain, FailureKind, FinishKind, OnInterrupt, ProviderExt, StreamEvent, Usage};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{millis, secs};
use proptest::prelude::*;
use tokio::time::timeout;

use super::support::read;

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
}

fn options() -> impl Strategy<Value = Options> {
    let modes = vec![OnInterrupt::Error, OnInterrupt::Restart];
    (
        prop::sample::select(modes),
        prop::sample::select(vec![0, 30, 120]),
        any::<bool>(),
        any::<bool>(),
        0..2_u8,
    )
        .prop_map(|(on_interrupt, head, hold, reasoning, retries)| Options {
            on_interrupt,
            head,
            hold,
            reasoning,
            retries,
        })
}

async fn play(scripts: Vec<Vec<Act>>, options: Options) {
    let marks = ['a', 'b', 'c'];
    let mut chain = Chain::builder();
    for (script, mark) in scripts.iter().zip(marks) {
        let step = Step::stream(script.iter().map(|act| act.piece(mark)));
        chain = chain.target(MockProvider::new(mark.to_string(), [step]).model("m").retries(options.retries));
    }
    let call = chain
        .build()
        .unwrap()
        .stream("hi")
        .head(options.head, millis(500))
        .hold(options.hold)
        .reasoning(options.reasoning)
        .on_interrupt(options.on_interrupt);
    let Ok(stream) = call.await else { return };
    let got = read(stream).await;
    let mut mark = None;
    for event in &got.events {
        match event {
            StreamEvent::Started { target } | StreamEvent::Restarted { target } => {
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
            assert_eq!(Some(&interrupted.target), got.targets.last());
            assert_eq!(
                interrupted.report.usage.output_tokens > 0,
                !got.text.is_empty() || interrupted.report.usage.output_tokens > 0
            );
        }
        ended => panic!("exactly one end: {ended:?}"),
    }
    assert!(options.on_interrupt == OnInterrupt::Restart || options.reasoning || got.restarts == 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_holds_text_of_two_models_and_every_stream_ends(scripts in scripts(), options in options()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            timeout(secs(100_000), play(scripts, options)).await.expect("a stream that does not end");
        });
    }
}
