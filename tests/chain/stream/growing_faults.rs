//! Typed values that grow under any schedule of faults, with consumers that pause or leave: a value is one target's, what
//! is finished stays, and the report's sums hold.

use std::collections::BTreeMap;

use backstop::{
    schemars::JsonSchema,
    validate::{ChainExt, ExtractionStream, Update, partial::PartialValue},
};
use backstop_core::{Chain, FailureKind, FinishKind, OnInterrupt, ProviderExt, Report, Usage};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{Heard, millis, secs};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Order {
    /// Which target wrote it.
    by: String,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Line {
    by: String,
    count: u32,
}

fn document(by: char, lines: u32) -> String {
    let lines = (0..lines).map(|count| Line { by: by.to_string(), count }).collect();
    serde_json::to_string_pretty(&Order { by: by.to_string(), lines }).unwrap()
}

/// What one attempt's stream does.
#[derive(Clone, Debug)]
struct Script {
    lines: u32,
    size: usize,
    prose: bool,
    fenced: bool,
    /// In percent of the text.
    cut_at: Option<usize>,
    damage: Option<(usize, char)>,
    pause: Option<(usize, u64)>,
    usage: Option<u64>,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Finish(FinishKind),
    Fail(FailureKind),
    Cut,
    Hang,
}

fn script() -> impl Strategy<Value = Script> {
    let finishes = [FinishKind::Stop, FinishKind::Stop, FinishKind::Length, FinishKind::ContentFilter];
    let kinds = [
        FailureKind::Overloaded,
        FailureKind::Server,
        FailureKind::RateLimited,
        FailureKind::Connect,
        FailureKind::Authentication,
    ];
    let end = prop_oneof![
        6 => prop::sample::select(finishes.to_vec()).prop_map(End::Finish),
        2 => prop::sample::select(kinds.to_vec()).prop_map(End::Fail),
        1 => Just(End::Cut),
        1 => Just(End::Hang),
    ];
    let text = (0_u32..6, 1_usize..30, any::<bool>(), any::<bool>());
    let faults = (
        prop::option::weighted(0.3, 0_usize..100),
        prop::option::weighted(
            0.3,
            (0_usize..100, prop::sample::select(vec!['}', '"', ',', 'x', ']', '\\'])),
        ),
        prop::option::weighted(0.3, (0_usize..100, 0_u64..40)),
        prop::option::weighted(0.5, 0_u64..1_000),
    );
    (text, faults, end).prop_map(|((lines, size, prose, fenced), (cut_at, damage, pause, usage), end)| {
        Script { lines, size, prose, fenced, cut_at, damage, pause, usage, end }
    })
}

impl Script {
    fn step(&self, by: char) -> Step {
        let mut text = document(by, self.lines);
        if self.fenced {
            text = format!("```json\n{text}\n```");
        }
        if self.prose {
            text = format!("Here is what you asked for: {text}\nAnything else?");
        }
        let mut chars: Vec<char> = text.chars().collect();
        let place = |percent: usize, chars: &[char]| chars.len() * percent / 100;
        if let Some((percent, by)) = self.damage {
            let at = place(percent, &chars);
            chars.insert(at, by);
        }
        if let Some(percent) = self.cut_at {
            chars.truncate(place(percent, &chars));
        }
        let mut pieces: Vec<Piece> =
            chars.chunks(self.size).map(|piece| Piece::text(piece.iter().collect::<String>())).collect();
        if let Some((percent, seconds)) = self.pause {
            pieces.insert(pieces.len() * percent / 100, Piece::wait(secs(seconds)));
        }
        pieces.extend(self.usage.map(|tokens| Piece::usage(Usage::new(tokens, tokens))));
        pieces.push(match self.end {
            End::Finish(finish) => Piece::end_with(finish),
            End::Fail(kind) => Piece::fail(kind),
            End::Cut => Piece::cut(),
            End::Hang => Piece::hang(),
        });
        Step::stream(pieces)
    }
}

#[derive(Clone, Debug)]
struct Consumer {
    restarts: bool,
    partials: bool,
    pauses: Vec<u64>,
    leaves_after: Option<usize>,
}

fn consumer() -> impl Strategy<Value = Consumer> {
    let pauses = prop::collection::vec(0_u64..20, 1..4);
    (any::<bool>(), any::<bool>(), pauses, prop::option::weighted(0.3, 0_usize..20)).prop_map(
        |(restarts, partials, pauses, leaves_after)| Consumer { restarts, partials, pauses, leaves_after },
    )
}

/// The leaves that will not change.
fn finished(value: &PartialValue) -> BTreeMap<String, String> {
    let (mut leaves, mut open) = (BTreeMap::new(), vec![(String::new(), value)]);
    while let Some((at, value)) = open.pop() {
        if let Some(members) = value.members() {
            open.extend(members.map(|(name, inner)| (format!("{at}/{name}"), inner)));
        } else if let Some(items) = value.as_array() {
            open.extend(items.iter().enumerate().map(|(index, item)| (format!("{at}/{index}"), item)));
        } else if value.is_finished() {
            leaves.insert(at, value.to_value().map(|value| value.to_string()).unwrap_or_default());
        }
    }
    leaves
}

fn watch(update: &Update, before: &mut BTreeMap<String, String>, shown: &PartialValue, consumer: &Consumer) {
    let now = finished(shown);
    if !update.cleared {
        for (at, value) in &*before {
            assert_eq!(now.get(at), Some(value), "{at} was finished");
        }
    }
    assert!(consumer.partials || update.changed.is_empty() && now.is_empty());
    assert!(consumer.restarts || update.target.is_none() || !update.cleared);
    *before = now;
}

/// Reads as the consumer does; `None` if it has left.
async fn read(
    stream: ExtractionStream<Order>,
    consumer: &Consumer,
) -> Option<Result<(Order, Report), Report>> {
    let (mut stream, mut before) = (stream, BTreeMap::new());
    for (number, pause) in consumer.pauses.iter().cycle().enumerate() {
        if consumer.leaves_after == Some(number) {
            add_up(&stream.cancel());
            return None;
        }
        match stream.next().await {
            Some(Ok(update)) => watch(&update, &mut before, stream.partial(), consumer),
            Some(Err(_)) | None => break,
        }
        sleep(secs(*pause)).await;
    }
    Some(match stream.finish().await {
        Ok(answer) => Ok((answer.value, (*answer.report).clone())),
        Err(interrupted) => Err((*interrupted.report).clone()),
    })
}

fn add_up(report: &Report) {
    let mut sum = Usage::default();
    report.attempts.iter().filter_map(|attempt| attempt.usage).for_each(|usage| sum += usage);
    assert_eq!(report.usage, sum, "{report}");
    assert!(report.attempts.windows(2).all(|pair| pair[0].at <= pair[1].at), "{report}");
}

async fn play(scripts: [Vec<Script>; 3], consumer: Consumer) {
    let heard = Heard::default();
    let mut chain = Chain::builder().observer(heard.clone());
    let mut providers = Vec::new();
    for (scripts, by) in scripts.iter().zip(['a', 'b', 'c']) {
        let provider = MockProvider::new(by.to_string(), scripts.iter().map(|script| script.step(by)));
        chain = chain.target(provider.clone().model("m"));
        providers.push(provider);
    }
    let chain = chain.build().unwrap();
    let way = if consumer.restarts { OnInterrupt::Restart } else { OnInterrupt::Error };
    let streamed = chain.extractor::<Order>().input("An order.").stream();
    let streamed = streamed.partials(consumer.partials).on_interrupt(way).options(|call| call.idle(secs(15)));
    let ended = match streamed.await {
        Ok(stream) => read(stream, &consumer).await,
        Err(error) => Some(Err(error.report().clone())),
    };
    match &ended {
        Some(Ok((order, report))) => {
            add_up(report);
            // Damage may add other characters.
            let texts = std::iter::once(&order.by).chain(order.lines.iter().map(|line| &line.by));
            let marks: String = texts.flat_map(|by| by.chars().filter(|c| "abc".contains(*c))).collect();
            let by = report.served_by().and_then(|target| target.chars().next());
            assert!(
                marks.chars().all(|mark| Some(mark) == by),
                "a value of two targets: {order:?}\n{report}"
            );
            assert_eq!(report.attempts.last().and_then(|attempt| attempt.failure()), None);
        }
        Some(Err(report)) => {
            add_up(report);
            assert_eq!(report.served_by(), None);
        }
        None => {}
    }
    assert_eq!((heard.started(), heard.ended().len()), (1, 1));
    let (_, last) = &heard.ended()[0];
    add_up(last);
    assert_eq!(last.attempts.len(), providers.iter().map(MockProvider::calls).sum::<usize>());
    assert_eq!(heard.attempts().len(), last.attempts.len());
    for target in chain.snapshot().targets {
        assert_eq!((target.in_flight, target.members[0].budget.in_flight), (0, 0), "{target:?}");
    }
    sleep(millis(1)).await;
    assert!(providers.iter().all(|provider| provider.in_flight() == 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_value_is_one_targets_and_the_report_adds_up(
        first in prop::collection::vec(script(), 1..3),
        second in prop::collection::vec(script(), 1..3),
        third in prop::collection::vec(script(), 1..3),
        consumer in consumer(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            timeout(secs(100_000), play([first, second, third], consumer)).await.expect("a stream that does not end");
        });
    }
}
