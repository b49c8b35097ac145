use super::*;
use backstop_core::{FailureKind, FinishKind, FinishReason, Usage};
use backstop_http::StreamLimits;
use proptest::prelude::*;

/// All chunks of a body that comes in these pieces, and how it broke if it did.
fn chunks<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Chunk>, Option<FailureKind>) {
    let question = Question { model: "m".into(), schema: false, key: None };
    let mut decoder = NdjsonDecoder::new(StreamLimits::default());
    let mut reader = Reader::new(None, Progress::default(), question);
    let mut chunks = Vec::new();
    let mut failure = None;
    let mut drain = |decoder: &mut NdjsonDecoder, reader: &mut Reader| {
        while !reader.done {
            match decoder.next_line() {
                Some(line) => reader.item(line),
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
    (chunks, failure)
}

fn whole(body: &str) -> (Vec<Chunk>, Option<FailureKind>) {
    chunks([body.as_bytes()])
}

const BODY: &str = r#"{"model":"m:latest","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}
{"model":"m:latest","message":{"role":"assistant","content":"naïve "},"done":false}
{"model":"m:latest","message":{"role":"assistant","content":"日本"},"done":false}

{"model":"m:latest","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"x","function":{"name":"g"}}]},"done":false}
{"model":"m:latest","message":{"content":""},"done":false}
{"model":"m:latest","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":8}
"#;

#[test]
fn an_answer_comes_in_pieces() {
    let call = |index, id: &str, name: &str, arguments: &str| Chunk::ToolCall {
        index,
        id: Some(id.into()),
        name: Some(name.into()),
        arguments: arguments.into(),
    };
    let expected = vec![
        Chunk::Meta { model: Some("m:latest".into()), request_id: None },
        Chunk::Reasoning("hm".into()),
        Chunk::Text("naïve ".into()),
        Chunk::Text("日本".into()),
        call(0, "call_0", "f", r#"{"a":1}"#),
        call(1, "x", "g", "{}"),
        Chunk::Ping,
        Chunk::Usage(Usage::new(11, 8)),
        Chunk::End(FinishReason::new(FinishKind::ToolCalls, "stop")),
    ];
    assert_eq!(whole(BODY), (expected.clone(), None));
    assert_eq!(chunks(BODY.as_bytes().chunks(1)), (expected.clone(), None));
    // The last line needs no end.
    assert_eq!(whole(BODY.trim_end()), (expected, None));
}

#[test]
fn a_stream_that_is_never_done_was_cut() {
    let (cut, _) = BODY.trim_end().rsplit_once('\n').unwrap();
    for body in [cut, "", "\n\n"] {
        let (chunks, failure) = whole(body);
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))), "{body}");
        assert_eq!(failure, None);
    }
}

#[test]
fn errors_inside_a_stream_end_it() {
    let text = r#"{"message":{"content":"x"},"done":false}"#;
    let table = [
        (r#"{"error":"model 'm' not found"}"#, FailureKind::ModelNotFound),
        (r#"{"error":"an error was encountered while running the model"}"#, FailureKind::Server),
        (r#"{"error":{"message":"later","code":503}}"#, FailureKind::Overloaded),
        ("nonsense", FailureKind::MalformedResponse),
        (r#"{"message":{"content":"#, FailureKind::MalformedResponse),
    ];
    for (line, kind) in table {
        let (chunks, failure) = whole(&format!("{text}\n{line}\n{BODY}"));
        assert_eq!(failure, Some(kind), "{line}");
        assert!(!chunks.iter().any(|chunk| matches!(chunk, Chunk::End(_))), "{line}");
    }
}

proptest! {
    #[test]
    fn the_cuts_between_pieces_make_no_difference(cut in 1..200_usize) {
        prop_assert_eq!(chunks(BODY.as_bytes().chunks(cut)), whole(BODY));
    }
}
