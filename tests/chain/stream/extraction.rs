//! Typed values that are shown while they grow.

use std::collections::BTreeMap;

use backstop::{
    schemars::JsonSchema,
    validate::{
        ChainExt, Extraction, ExtractionStream, Update, json::Candidates, partial::PartialValue, rules::field,
    },
};
use backstop_core::{
    AttemptRecord, Chain, ChainErrorKind, FailureKind, Interrupted, OnInterrupt, ProviderExt, Remedy,
    TargetId,
};
use backstop_mock::{MockProvider, Piece, Step};
use backstop_tests::{course, millis, secs};
use futures_util::FutureExt;
use proptest::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::chain;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Invoice {
    number: String,
    total: f64,
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(crate = "backstop::schemars")]
struct Item {
    name: String,
    count: u32,
}

fn invoice() -> Invoice {
    let items = ["Bolt", "Nut"].into_iter().zip(1..).map(|(name, count)| Item { name: name.into(), count });
    Invoice { number: "R-7".into(), total: 12.5, items: items.collect() }
}

fn text() -> String {
    serde_json::to_string(&invoice()).unwrap()
}

/// The text in pieces of so many characters.
fn pieces(text: &str, size: usize) -> Vec<Piece> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| Piece::text(piece.iter().collect::<String>())).collect()
}

fn says(text: &str) -> Step {
    Step::stream(pieces(text, 5).into_iter().chain([Piece::end()]))
}

fn breaks(text: &str, how: Piece) -> Step {
    Step::stream(pieces(text, 5).into_iter().chain([how]))
}

fn extraction(chain: &Chain) -> Extraction<Invoice> {
    chain.extractor::<Invoice>().input("Here it is.")
}

async fn shown(extraction: Extraction<Invoice>) -> ExtractionStream<Invoice> {
    extraction.stream().options(|call| call.head(0, secs(0))).await.unwrap()
}

/// All updates, with what is shown after each.
async fn read<T: DeserializeOwned + Send + 'static>(
    stream: &mut ExtractionStream<T>,
) -> (Vec<(Update, Option<Value>)>, Option<Interrupted>) {
    let mut updates = Vec::new();
    while let Some(update) = stream.next().await {
        match update {
            Ok(update) => updates.push((update, stream.partial().to_value())),
            Err(interrupted) => return (updates, Some(interrupted)),
        }
    }
    (updates, None)
}

fn targets(updates: &[(Update, Option<Value>)]) -> Vec<&str> {
    updates.iter().filter_map(|(update, _)| update.target.as_ref()).map(TargetId::as_str).collect()
}

#[tokio::test(start_paused = true)]
async fn a_value_grows_and_ends_as_the_call_would_have_given_it() {
    let messy = format!("Sure:\n```json\n{}\n```", text().replace("12.5", "\"12.5\"").replace("}]", "},]"));
    let chain = chain([says(&messy)]);
    let mut stream = shown(extraction(&chain)).await;
    assert!(stream.partial().is_nothing());
    let (updates, interrupted) = read(&mut stream).await;
    assert!(interrupted.is_none() && stream.next().await.is_none());
    assert_eq!((updates[0].0.target.as_ref().unwrap().as_str(), &updates[0].1), ("a/m", &None));
    assert!(updates.iter().all(|(update, _)| !update.cleared));
    let named: Vec<&str> =
        updates.iter().flat_map(|(update, _)| update.changed.iter().map(String::as_str)).collect();
    for pointer in ["", "/number", "/total", "/items", "/items/0", "/items/0/name", "/items/1/count"] {
        assert!(named.contains(&pointer), "{pointer} in {named:?}");
    }
    let grown = updates.iter().filter_map(|(_, value)| value.as_ref()?.pointer("/items/0/name")?.as_str());
    assert!(
        grown.clone().any(|name| name != "Bolt" && "Bolt".starts_with(name)),
        "{:?}",
        grown.collect::<Vec<_>>()
    );
    assert_eq!(stream.partial().pointer("/total").unwrap().as_str(), Some("12.5"), "as the model wrote it");
    assert!(stream.partial().is_finished());

    let answer = stream.finish().await.unwrap();
    let called = extraction(&chain).await.unwrap();
    assert_eq!((&answer.value, &called.value), (&invoice(), &invoice()));
    assert_eq!((&answer.repairs, &answer.coercions), (&called.repairs, &called.coercions));
    assert!(!answer.repairs.is_empty() && !answer.coercions.is_empty());
    assert_eq!((answer.report.served_by(), answer.response.text.as_str()), (Some("a/m"), messy.as_str()));
}

#[tokio::test(start_paused = true)]
async fn until_the_value_begins_whatever_goes_wrong_fails_over_unseen() {
    let wordy =
        "I have read all of what you sent me, more than once, and will say in a moment what I make of it. "
            .repeat(3);
    let declines = "I'm sorry, but I can't help with that request. ";
    let cases = [
        (
            vec![declines.into(), Piece::wait(secs(2)), "Please ask something else.".into(), Piece::end()],
            FailureKind::Refused,
        ),
        (
            vec![wordy.as_str().into(), Piece::wait(secs(2)), wordy.as_str().into(), Piece::cut()],
            FailureKind::MalformedResponse,
        ),
        (vec![wordy.as_str().into(), Piece::hang()], FailureKind::Timeout),
        (vec![wordy.as_str().into(), Piece::end()], FailureKind::NotJson),
    ];
    for (pieces, kind) in cases {
        let first = MockProvider::new("a", [Step::stream(pieces)]);
        let chain = Chain::builder()
            .target(first.model("m").retries(0).reasks(0))
            .target(MockProvider::new("b", [says(&format!("{wordy}\n{}", text()))]).model("m"))
            .build()
            .unwrap();
        let mut stream = extraction(&chain).stream().await.unwrap();
        let (updates, interrupted) = read(&mut stream).await;
        assert!(interrupted.is_none(), "{kind}: {interrupted:?}");
        assert_eq!(targets(&updates), ["b/m"]);
        assert!(updates.iter().all(|(update, _)| !update.cleared));
        let answer = stream.finish().await.unwrap();
        assert_eq!(answer.value, invoice());
        assert_eq!(course(&answer.report), [("a/m", Some(kind)), ("b/m", None)]);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_the_value_only_need_not_look_at_updates() {
    let stream = extraction(&chain([says(&text())])).stream().await.unwrap();
    assert_eq!(stream.finish().await.unwrap().value, invoice());
}

#[tokio::test(start_paused = true)]
async fn what_fails_before_anything_is_shown_fails_over_unseen() {
    let chain = chain([Step::stream([Piece::ping(), Piece::fail(FailureKind::Overloaded)]), says(&text())]);
    let mut stream = shown(extraction(&chain)).await;
    let (updates, _) = read(&mut stream).await;
    assert_eq!(targets(&updates), ["b/m"]);
    let answer = stream.finish().await.unwrap();
    assert_eq!(course(&answer.report), [("a/m", Some(FailureKind::Overloaded)), ("b/m", None)]);
}

#[tokio::test(start_paused = true)]
async fn a_break_after_something_was_shown_is_an_interruption_that_stays() {
    let chain = chain([breaks("{\"number\": \"R-7\", \"total\": 1", Piece::cut()), says(&text())]);
    let mut stream = shown(extraction(&chain)).await;
    let (_, interrupted) = read(&mut stream).await;
    assert_eq!(interrupted.unwrap().kind(), FailureKind::StreamInterrupted);
    assert_eq!(stream.partial().to_value(), Some(json!({"number": "R-7"})), "what was shown is still there");
    assert!(stream.next().await.is_none());
    let error = stream.finish().await.unwrap_err();
    assert_eq!((error.kind(), error.report.attempts.len()), (FailureKind::StreamInterrupted, 1));
}

#[tokio::test(start_paused = true)]
async fn a_restart_clears_what_was_shown() {
    let chain = chain([breaks("{\"number\": \"R-7\", \"total\": 1", Piece::cut()), says(&text())]);
    let streamed = extraction(&chain).stream().on_interrupt(OnInterrupt::Restart);
    let mut stream = streamed.options(|call| call.head(0, secs(0))).await.unwrap();
    let (updates, interrupted) = read(&mut stream).await;
    assert!(interrupted.is_none());
    assert_eq!(targets(&updates), ["a/m", "b/m"]);
    let (restart, value) = updates.iter().find(|(update, _)| update.cleared).unwrap();
    assert_eq!((restart.target.as_ref().unwrap().as_str(), value), ("b/m", &None));
    assert_eq!(updates.iter().filter(|(update, _)| update.cleared).count(), 1);
    assert_eq!(stream.finish().await.unwrap().value, invoice());
}

#[tokio::test(start_paused = true)]
async fn a_soft_failure_at_the_end_of_what_was_shown_is_typed_or_restarts() {
    let wrong = text().replace("\"count\":2", "\"count\":\"many\"");
    let chain = chain([says(&wrong), says(&text())]);
    let mut stream = shown(extraction(&chain)).await;
    let (_, interrupted) = read(&mut stream).await;
    let interrupted = interrupted.unwrap();
    assert_eq!((interrupted.kind(), interrupted.report.attempts.len()), (FailureKind::SchemaMismatch, 1));

    let streamed = extraction(&chain).stream().on_interrupt(OnInterrupt::Restart);
    let stream = streamed.options(|call| call.head(0, secs(0))).await.unwrap();
    let answer = stream.finish().await.unwrap();
    assert_eq!((answer.value, answer.report.served_by()), (invoice(), Some("b/m")));
}

#[tokio::test(start_paused = true)]
async fn without_partials_a_soft_failure_is_asked_for_again_and_fails_over_as_in_a_call() {
    let wrong = text().replace("\"count\":2", "\"count\":\"many\"");
    let first = MockProvider::new("a", [says(&wrong), says(&wrong)]);
    let chain = Chain::builder()
        .target(first.clone().model("m"))
        .target(MockProvider::new("b", [says(&text())]).model("m"))
        .build()
        .unwrap();
    let mut stream = extraction(&chain).stream().partials(false).await.unwrap();
    let (updates, interrupted) = read(&mut stream).await;
    assert_eq!((targets(&updates), updates.len(), interrupted.is_none()), (vec!["b/m"], 1, true));
    assert!(stream.partial().is_nothing());
    let answer = stream.finish().await.unwrap();
    let expected = [
        ("a/m", Some(FailureKind::SchemaMismatch)),
        ("a/m", Some(FailureKind::SchemaMismatch)),
        ("b/m", None),
    ];
    assert_eq!((answer.value, course(&answer.report)), (invoice(), expected.to_vec()));
    assert_eq!(answer.report.attempts[1].remedies, [Remedy::Feedback]);

    let chain = self::chain([says(&wrong)]);
    let error = extraction(&chain).stream().partials(false).await.unwrap_err();
    assert_eq!(error.kind(), ChainErrorKind::Exhausted);
}

#[tokio::test(start_paused = true)]
async fn rules_are_checked_at_the_end() {
    let chain = chain([says(&text())]);
    let strict =
        || extraction(&chain).rule(field("/total", |invoice: &Invoice| &invoice.total).at_most(10.0));
    let error = shown(strict()).await.finish().await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::SchemaMismatch);
    assert!(strict().stream().partials(false).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_list_is_shown_without_the_object_that_goes_around_it() {
    for text in ["{\"value\": [\"one\", \"two\"]}", "[\"one\", \"two\"]"] {
        let chain = chain([says(text)]);
        let streamed =
            chain.extractor::<Vec<String>>().input("x").stream().options(|call| call.head(0, secs(0)));
        let mut stream = streamed.await.unwrap();
        let (updates, _) = read(&mut stream).await;
        let shown: Vec<_> = updates.iter().filter_map(|(_, value)| value.as_ref()).collect();
        assert!(shown.iter().all(|value| value.is_array()), "{text}: {shown:?}");
        let named: Vec<_> = updates.iter().flat_map(|(update, _)| &update.changed).collect();
        assert!(
            named.iter().all(|pointer| ["", "/0", "/1"].contains(&pointer.as_str())),
            "{text}: {named:?}"
        );
        assert_eq!(stream.partial().pointer("/1").unwrap().as_str(), Some("two"), "{text}");
        assert_eq!(stream.finish().await.unwrap().value, ["one", "two"], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_document_is_shown_only_if_the_first_is_not_the_answer() {
    let other = "{\"note\": \"as an example\"}";
    let chain = chain([says(&format!("{other}\n{}", text())), says(&format!("{}\n{other}", text()))]);
    let mut stream = shown(extraction(&chain)).await;
    let (updates, _) = read(&mut stream).await;
    assert_eq!(updates.iter().filter(|(update, _)| update.cleared).count(), 1);
    assert_eq!(stream.partial().to_value(), Some(json!(invoice())));
    assert_eq!(stream.finish().await.unwrap().value, invoice());

    let mut stream = shown(extraction(&self::chain([says(&format!("{}\n{other}", text()))]))).await;
    let (updates, _) = read(&mut stream).await;
    assert!(updates.iter().all(|(update, _)| !update.cleared));
    assert_eq!(stream.partial().to_value(), Some(json!(invoice())));
    assert_eq!(stream.finish().await.unwrap().value, invoice());

    let last = Invoice { number: "R-8".into(), ..invoice() };
    let two = format!("{}\n{}", text(), serde_json::to_string(&last).unwrap());
    let mut stream = shown(extraction(&self::chain([says(&two)])).candidates(Candidates::Last)).await;
    read(&mut stream).await;
    assert_eq!(stream.partial().to_value(), Some(json!(last)));
    assert_eq!(stream.finish().await.unwrap().value, last);
}

#[tokio::test(start_paused = true)]
async fn a_next_that_is_dropped_loses_nothing() {
    let slowly = pieces(&text(), 3).into_iter().flat_map(|piece| [Piece::wait(millis(70)), piece]);
    let chain = chain([Step::stream(slowly.chain([Piece::end()]))]);
    let mut stream = shown(extraction(&chain)).await;
    let mut changed = Vec::new();
    let mut dropped = 0;
    loop {
        assert!(
            stream.next().now_or_never().is_none_or(|update| update.is_none() || update.unwrap().is_ok())
        );
        match timeout(millis(20), stream.next()).await {
            Err(_) => dropped += 1,
            Ok(None) => break,
            Ok(Some(update)) => changed.extend(update.unwrap().changed),
        }
    }
    assert!(dropped > 20, "{dropped}");
    assert_eq!(stream.partial().to_value(), Some(json!(invoice())));
    assert_eq!(stream.finish().await.unwrap().value, invoice());
}

#[tokio::test(start_paused = true)]
async fn dropping_it_cancels_the_request_and_cancelling_gives_the_report() {
    let provider = MockProvider::new("a", [breaks("{\"number\": \"R-7", Piece::hang())]);
    let chain = Chain::builder().target(provider.clone().model("m")).build().unwrap();
    let mut stream = shown(extraction(&chain)).await;
    stream.next().await.unwrap().unwrap();
    assert_eq!(provider.in_flight(), 1);
    let report = stream.cancel();
    assert_eq!((provider.in_flight(), report.attempts.len()), (0, 1));
    drop(shown(extraction(&chain)).await);
    assert_eq!(provider.in_flight(), 0);
}

#[test]
fn an_extraction_stream_can_be_sent_and_says_nothing_of_its_text() {
    fn holds<T: Send + Unpin + 'static>(_: &T) {}
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut stream = shown(extraction(&chain([says(&text())]))).await;
        holds(&stream);
        read(&mut stream).await;
        assert!(!format!("{stream:?}").contains("R-7"));
    });
}

/// A piece of what a model may write around or instead of one invoice.
fn fragment() -> impl Strategy<Value = String> {
    let other = serde_json::to_string(&Invoice { number: "R-8".into(), ..invoice() }).unwrap();
    let texts = [
        &text(),
        &other,
        "{\"note\": \"as an example\", \"total\": [1, 2]}",
        "{\"number\": \"R-9\", \"total\": 1",
        "[\"one\", {}]",
        " [1] ",
        " Sure: ",
        "\n```json\n",
        "\n```\n",
        "<think>",
        "</think>",
        "// or this: ",
        "\n",
        "}",
    ];
    prop::sample::select(texts.map(str::to_owned).to_vec())
}

/// A text in pieces of these many characters, in turn.
fn cut(text: &str, sizes: &[usize]) -> Vec<Piece> {
    let mut chars = text.chars().peekable();
    let mut sizes = sizes.iter().cycle();
    let mut pieces = Vec::new();
    while chars.peek().is_some() {
        let size = sizes.next().copied().unwrap_or(1);
        pieces.push(Piece::text(chars.by_ref().take(size).collect::<String>()));
    }
    pieces
}

/// All places of a value, and whether each is finished.
fn places(value: &PartialValue, at: &str, out: &mut BTreeMap<String, (Option<Value>, bool)>) {
    if value.is_nothing() {
        return;
    }
    let mut leaf = value.to_value();
    if let Some(members) = value.members() {
        leaf = None;
        members.for_each(|(key, member)| places(member, &format!("{at}/{key}"), out));
    } else if let Some(items) = value.as_array() {
        leaf = None;
        items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), out));
    }
    out.insert(at.to_owned(), (leaf, value.is_finished()));
}

/// What a consumer has at the end that looks only at what updates name.
async fn followed(pieces: Vec<Piece>) -> (BTreeMap<String, (Option<Value>, bool)>, Option<FailureKind>) {
    let chain = chain([Step::stream(pieces.into_iter().chain([Piece::end()]))]);
    let call = extraction(&chain).stream().options(|call| call.head(0, secs(0)));
    let mut seen = BTreeMap::new();
    let mut stream = match call.await {
        Ok(stream) => stream,
        Err(error) => return (seen, error.report().attempts.first().and_then(AttemptRecord::failure)),
    };
    let kind = loop {
        let update = match stream.next().await {
            Some(Ok(update)) => update,
            Some(Err(interrupted)) => break Some(interrupted.kind()),
            None => break None,
        };
        let mut now = BTreeMap::new();
        places(stream.partial(), "", &mut now);
        if update.cleared {
            seen.clone_from(&now);
        }
        for pointer in update.changed {
            let place = now.get(&pointer).unwrap_or_else(|| panic!("{pointer} is named and not there"));
            if let Some((before, true)) = seen.insert(pointer.clone(), place.clone()) {
                assert_eq!(before, place.0, "{pointer} was finished");
            }
        }
        assert_eq!(seen, now, "what updates name is what is shown");
    };
    (seen, kind)
}

fn any_invoice() -> impl Strategy<Value = Invoice> {
    let item = ("\\PC{0,8}", any::<u32>()).prop_map(|(name, count)| Item { name, count });
    let items = prop::collection::vec(item, 0..4);
    ("\\PC{0,12}", -1e9..1e9_f64, items).prop_map(|(number, total, items)| Invoice { number, total, items })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_shown_at_the_end_is_the_same_however_the_text_was_cut(
        fragments in prop::collection::vec(fragment(), 1..7), sizes in prop::collection::vec(1..90_usize, 1..5)
    ) {
        let text = fragments.concat();
        prop_assume!(!text.trim().is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let whole = followed(vec![Piece::text(text.as_str())]).await;
            assert_eq!(followed(cut(&text, &sizes)).await, whole, "{sizes:?}");
            assert_eq!(followed(cut(&text, &[1])).await, whole, "by single characters");
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_that_was_shown_as_finished_is_otherwise_in_the_value(invoice in any_invoice(), size in 1_usize..20) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let text = serde_json::to_string(&invoice).unwrap();
            let chain = chain([Step::stream(pieces(&text, size).into_iter().chain([Piece::end()]))]);
            let mut stream = shown(extraction(&chain)).await;
            let whole = json!(invoice);
            while let Some(update) = stream.next().await {
                for pointer in update.unwrap().changed {
                    let value = stream.partial().pointer(&pointer).unwrap();
                    if value.is_finished() {
                        assert_eq!(value.to_value().as_ref(), whole.pointer(&pointer), "{pointer}");
                    }
                }
            }
            assert_eq!(stream.partial().to_value(), Some(whole));
            assert_eq!(stream.finish().await.unwrap().value, invoice);
        });
    }
}
