use super::*;
use backstop_core::{FailureKind, FinishKind};
use proptest::prelude::*;

/// All chunks of a body that comes in these pieces, and whether it broke.
fn chunks<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Chunk>, Option<FailureKind>) {
    let mut decoder = SseDecoder::new(StreamLimits::default());
    let mut reader = Reader::new(None, Progress::default(), false, None);
    let mut chunks = Vec::new();
    let mut failure = None;
    let mut drain = |decoder: &mut SseDecoder, reader: &mut Reader| {
        while !reader.done {
            match decoder.next_item() {
                Some(item) => reader.item(item),
                None => break,
            }
        }
        for step in reader.waiting.drain(..) {
            match step {
                Ok(chunk) => chunks.push(chunk),
                Err(error) => failure = Some(error.kind()),
            }
        }
    };
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut reader);
    }
    decoder.finish();
    drain(&mut decoder, &mut reader);
    if !reader.done {
        reader.finish();
    }
    drain(&mut decoder, &mut reader);
    (chunks, failure)
}

fn whole(body: &str) -> (Vec<Chunk>, Option<FailureKind>) {
    chunks([body.as_bytes()])
}

fn event(parts: &str, rest: &str) -> String {
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{parts}]}}{rest}}}]}}\r\n\r\n"
    )
}

fn end(kind: FinishKind, word: &'static str) -> Chunk {
    Chunk::End(FinishReason::new(kind, word))
}

const STOP: &str = r#","finishReason":"STOP""#;

#[test]
fn an_answer_comes_in_pieces() {
    let mut body = String::from(
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true}]}}],\"usageMetadata\":{\"promptTokenCount\":9},\"modelVersion\":\"m\",\"responseId\":\"r\"}\n\n",
    );
    body += &event(r#"{"text":"na\u00efve "}"#, "");
    body += &event(
        r#"{"text":"日本"},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"}"#,
        "",
    );
    body += &event(r#"{"functionCall":{"id":"x","name":"g"}}"#, STOP);
    body += "data: {\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":7}}\n\n";
    let call = |index, id: &str, name: &str, arguments: &str| Chunk::ToolCall {
        index,
        id: Some(id.into()),
        name: Some(name.into()),
        arguments: arguments.into(),
    };
    let expected = vec![
        Chunk::Meta { model: Some("m".into()), request_id: Some("r".into()) },
        Chunk::Reasoning("hm".into()),
        Chunk::Usage(Usage::new(9, 0)),
        Chunk::Text("naïve ".into()),
        Chunk::Text("日本".into()),
        call(0, "call_0", "f", r#"{"a":1}"#),
        Chunk::ToolSignature { index: 0, signature: "c2ln".into() },
        call(1, "x", "g", "{}"),
        Chunk::Usage(Usage::new(9, 7)),
        end(FinishKind::ToolCalls, "STOP"),
    ];
    assert_eq!(whole(&body), (expected.clone(), None));
    assert_eq!(chunks(body.as_bytes().chunks(1)), (expected, None));
}

#[test]
fn a_blocked_prompt_ends_the_stream_as_filtered() {
    let body = "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"modelVersion\":\"m\"}\n\n";
    let meta = Chunk::Meta { model: Some("m".into()), request_id: None };
    assert_eq!(whole(body), (vec![meta, end(FinishKind::ContentFilter, "SAFETY")], None));
}

#[test]
fn a_stream_without_a_reason_was_cut() {
    for body in [event(r#"{"text":"x"}"#, ""), String::new(), ": alive\n\n".to_owned()] {
        let (chunks, failure) = whole(&body);
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))), "{body}");
        assert_eq!(failure, None);
    }
}

#[test]
fn errors_inside_a_stream_are_told_by_their_code() {
    let error = r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#;
    let raw = "{\n \"error\": {\n  \"code\": 429,\n  \"message\": \"slow\",\n  \"status\": \"RESOURCE_EXHAUSTED\"\n }\n}\n";
    let text = event(r#"{"text":"x"}"#, "");
    let table = [
        (format!("{text}data: {error}\n\n"), FailureKind::Overloaded),
        (format!("{text}{raw}"), FailureKind::RateLimited),
        (format!("{text}[{error}]"), FailureKind::Overloaded),
        (format!("{text}data: nonsense\n\n"), FailureKind::MalformedResponse),
        (event(r#"{"text":"x"}"#, r#","finishReason":"MALFORMED_RESPONSE""#), FailureKind::MalformedResponse),
        (event("", r#","finishReason":"PUP_LIMITED_DISABLED""#), FailureKind::Permission),
    ];
    for (body, kind) in table {
        let (chunks, failure) = whole(&body);
        assert_eq!(failure, Some(kind), "{body}");
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))), "{body}");
    }
}

#[test]
fn a_whole_answer_outside_of_events_is_one() {
    let body = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}"#;
    let (chunks, failure) = whole(body);
    assert_eq!(failure, None);
    assert!(chunks.contains(&Chunk::Text("x".into())) && chunks.ends_with(&[end(FinishKind::Stop, "STOP")]));
}

#[test]
fn events_in_place_of_a_whole_answer_are_put_together() {
    let all = |body: &str| collect(&Reply::new(200, Default::default(), body.to_owned()), &Asked::default());
    let body = format!("{}{}", event(r#"{"text":"one "}"#, ""), event(r#"{"text":"two"}"#, STOP));
    assert_eq!(all(&body).unwrap().text, "one two");
    for cut in [event(r#"{"text":"one "}"#, ""), String::new(), "data: 7\n\n".to_owned()] {
        assert_eq!(all(&cut).unwrap_err().kind(), FailureKind::MalformedResponse, "{cut}");
    }
}

proptest! {
    #[test]
    fn the_cuts_between_pieces_make_no_difference(cut in 1..200_usize, text in "\\PC{0,40}") {
        let text = serde_json::to_string(&text).unwrap();
        let body = format!(
            "{}{}",
            event(&format!(r#"{{"text":{text}}}"#), ""),
            event(&format!(r#"{{"text":{text}}}"#), STOP),
        );
        prop_assert_eq!(chunks(body.as_bytes().chunks(cut)), whole(&body));
    }
}
