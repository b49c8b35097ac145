//! What goes out.

use backstop::{FailureKind, FinishKind, Media, Output, Part, Role, mock::server::Reply, prelude::*};
use serde_json::{Value, json};

use crate::{adapters::Has, bench::every};

/// Whether a value stands anywhere in a JSON document.
fn holds(document: &Value, wanted: &Value) -> bool {
    document == wanted
        || match document {
            Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
            Value::Object(fields) => fields.values().any(|field| holds(field, wanted)),
            _ => false,
        }
}

#[tokio::test]
async fn a_text_is_asked_and_answered() {
    every(async |bench| {
        let request = Request::new("Name a colour.").max_tokens(64);
        let response = bench.answers(Reply::text("blue")).complete(&request).await.unwrap();
        assert_eq!((response.text.as_str(), response.finish.kind), ("blue", FinishKind::Stop));
        assert!(response.tool_calls.is_empty() && response.refusal.is_none() && response.raw.is_none());
        let received = bench.received();
        assert_eq!((received.method(), received.model()), ("POST", bench.adapter.model));
        assert_eq!(received.last_user_text(), "Name a colour.");
        assert_eq!(received.header("content-type"), Some("application/json"));
        assert!(!received.is_stream());
    })
    .await;
}

#[tokio::test]
async fn instructions_go_where_the_vendor_wants_them() {
    every(async |bench| {
        bench.answers(Reply::text("blue"));
        bench.complete(&Request::new("Name a colour.").system("One word.")).await.unwrap();
        let messages = bench.received().messages();
        let said: Vec<_> = messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(said, ["One word.", "Name a colour."]);
        assert_ne!(messages[0].role, "user");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_keeps_its_turns() {
    every(async |bench| {
        let request = Request::new("Name a colour.")
            .message(Message::assistant("blue"))
            .message(Message::user("Another \"one\",\nplease 🙂"));
        bench.answers(Reply::text("red")).complete(&request).await.unwrap();
        let messages = bench.received().messages();
        let texts: Vec<_> = messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["Name a colour.", "blue", "Another \"one\",\nplease 🙂"]);
        let by_model: Vec<_> = messages.iter().map(|message| message.role != "user").collect();
        assert_eq!(by_model, [false, true, false]);
    })
    .await;
}

#[tokio::test]
async fn limits_and_sampling_are_sent() {
    every(async |bench| {
        let request = Request::new("x").max_tokens(321).temperature(0.25).stop("THE-END");
        let response = bench.answers(Reply::text("blue")).complete(&request).await.unwrap();
        let body = bench.received().json().clone();
        for (name, value) in
            [("max_tokens", json!(321)), ("temperature", json!(0.25)), ("stop", json!("THE-END"))]
        {
            let noted = response.notes.iter().any(|note| note.contains(name));
            assert!(
                holds(&body, &value) != noted,
                "`{name}` is either sent or noted: {body} {:?}",
                response.notes
            );
        }
    })
    .await;
}

#[tokio::test]
async fn what_the_caller_does_not_set_is_not_sent() {
    every(async |bench| {
        bench.answered(Reply::text("blue")).await.unwrap();
        let body = bench.received().json().to_string();
        for word in ["temperature", "top_p", "topP", "seed", "stop\"", "tool", "format", "metadata", "Schema"]
        {
            assert!(!body.contains(word), "{word} in {body}");
        }
    })
    .await;
}

#[tokio::test]
async fn any_json_can_be_asked_for() {
    every(async |bench| {
        let request = Request::new("A colour as JSON.").output(Output::Json);
        let response = bench.answers(Reply::text(r#"{"colour":"blue"}"#)).complete(&request).await.unwrap();
        assert_eq!(response.text, r#"{"colour":"blue"}"#);
        let body = bench.received().json().to_string();
        assert!(body.contains("json") || body.contains("JSON"), "{body}");
    })
    .await;
}

/// Sends a picture or document, or finds that the vendor takes none of its kind.
async fn media(has: impl Fn(&crate::adapters::Vendor) -> &Has, media: impl Fn() -> Media, sent: &str) {
    every(async |bench| {
        let message = Message::new(Role::User, vec![Part::from("What is this?"), Part::from(media())]);
        let result = bench.answers(Reply::text("a cat")).complete(&Request::default().message(message)).await;
        match has(&bench.adapter.vendor) {
            Has::Yes(()) => {
                assert_eq!(result.unwrap().text, "a cat");
                let body = bench.received().json().to_string();
                assert!(body.contains(sent) && body.contains("What is this?"), "{body}");
            }
            Has::No(why) => {
                assert_eq!(result.unwrap_err().kind(), FailureKind::Unsupported, "{why}");
                assert!(bench.server.requests().is_empty(), "nothing is sent: {why}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_picture_is_sent() {
    media(|_| &Has::Yes(()), || Media::image("image/png", b"pixels"), "cGl4ZWxz").await;
}

#[tokio::test]
async fn a_picture_by_address_is_sent_or_unsupported() {
    let address = "https://pictures.example/cat.png";
    media(|vendor| &vendor.image_by_address, || Media::from_url("image/png", address), address).await;
}

#[tokio::test]
async fn a_document_is_sent_or_unsupported() {
    let document = || Media::from_bytes("application/pdf", b"%PDF-1.7").named("receipt.pdf");
    media(|vendor| &vendor.document, document, "JVBERi0xLjc=").await;
}

#[tokio::test]
async fn a_document_by_address_is_sent_or_unsupported() {
    let address = "https://papers.example/receipt.pdf";
    media(|vendor| &vendor.document_by_address, || Media::from_url("application/pdf", address), address)
        .await;
}

#[tokio::test]
async fn extra_headers_and_fields_are_sent() {
    every(async |bench| {
        let (name, value) = (bench.adapter.vendor.extra)();
        let provider = bench.provider.name();
        let request = Request::new("x")
            .extra_header("X-Trace", "trace-1")
            .extra_body(provider, name, value.clone())
            .extra_body("another", "not_for", "this one")
            .for_target(provider, bench.adapter.model);
        bench.answers(Reply::text("blue")).complete(&request).await.unwrap();
        let received = bench.received();
        assert_eq!((received.header("x-trace"), &received.json()[name]), (Some("trace-1"), &value));
        assert!(received.json().get("not_for").is_none());
    })
    .await;
}

#[tokio::test]
async fn a_number_that_no_vendor_takes_is_the_callers_fault() {
    every(async |bench| {
        let plain = Request::new("x");
        for (request, param) in [
            (plain.clone().temperature(f64::NAN), "temperature"),
            (plain.clone().top_p(f64::INFINITY), "top_p"),
            (plain.max_tokens(0), "max_tokens"),
        ] {
            let error = bench.answers(Reply::text("blue")).complete(&request).await.unwrap_err();
            assert_eq!((error.kind(), error.param()), (FailureKind::InvalidRequest, Some(param)));
        }
        assert!(bench.server.requests().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_the_callers_fault() {
    every(async |bench| {
        for (name, value) in [("x y", "fine"), ("x-trace", "two\nlines")] {
            let request = Request::new("x").extra_header(name, value);
            let error = bench.answers(Reply::text("blue")).complete(&request).await.unwrap_err();
            assert_eq!(error.kind(), FailureKind::InvalidRequest);
            assert!(!error.to_string().contains(value), "{error}");
        }
        assert!(bench.server.requests().is_empty());
    })
    .await;
}
