//! Requests and responses over real sockets, with everything that goes wrong on the way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{error::Error, time::Duration};

use backstop_core::{FailureKind, Progress, ProviderError, Stage};
use backstop_http::{BaseUrl, ClientOptions, HttpClient, Post, Reply, header::HeaderMap};
use backstop_mock::{
    MockServer,
    server::{ClosedPort, End, Gate, OnConnect, Reply as Scripted},
};
use tokio::time::timeout;

const SHORT: Duration = Duration::from_millis(200);

fn client() -> HttpClient {
    ClientOptions::new().no_proxy().build().unwrap()
}

fn post(url: &str) -> Post {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer hush".parse().unwrap());
    Post::new(BaseUrl::parse(url).unwrap().join(&["v1", "chat", "completions"]), br#"{"a":1}"#.to_vec())
        .with_headers(headers)
}

async fn send(client: &HttpClient, server: &MockServer) -> Result<Reply, ProviderError> {
    client.send(post(&server.url()), &Progress::default()).await
}

fn json(text: &str) -> Scripted {
    Scripted::bytes("application/json", text.as_bytes().to_vec())
}

#[tokio::test]
async fn one_request_with_its_length_type_and_agent() {
    let server = MockServer::start().await.unwrap();
    server.push(json("{}").header("x-request-id", "req-7"));
    let progress = Progress::default();
    let reply = client().send(post(&server.url()), &progress).await.unwrap();
    assert_eq!(
        (reply.status, &reply.body[..], reply.request_id.as_deref()),
        (200, &b"{}"[..], Some("req-7"))
    );
    assert_eq!(progress.take().0.as_deref(), Some("req-7"));
    let request = &server.requests()[0];
    assert_eq!(
        (request.method(), request.path(), request.body()),
        ("POST", "/v1/chat/completions", &br#"{"a":1}"#[..])
    );
    assert_eq!(request.header("content-length"), Some("7"));
    assert_eq!(request.header("transfer-encoding"), None);
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(request.header("user-agent").unwrap().starts_with("backstop/"));
}

#[tokio::test]
async fn every_status_is_a_reply() {
    let server = MockServer::start().await.unwrap();
    for status in [302, 404, 429, 500] {
        server.push(Scripted::bare(status).header("location", "http://127.0.0.1:1/elsewhere"));
        let reply = send(&client(), &server).await.unwrap();
        assert_eq!((reply.status, reply.is_success()), (status, false));
    }
    assert_eq!(server.requests().len(), 4, "nothing is followed and nothing is sent twice");
}

#[tokio::test]
async fn stages_and_ids_survive_a_dropped_attempt() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    let progress = Progress::default();
    assert_eq!(progress.stage(), Stage::Connect);
    server.push(json("{}").after(&gate));
    assert!(timeout(SHORT, client().send(post(&server.url()), &progress)).await.is_err());
    assert_eq!((progress.stage(), progress.take().0), (Stage::Headers, None));

    server.clear_scripts().push(json("{\"long\":1}").header("x-request-id", "req-8").gate_body_at(3, &gate));
    assert!(timeout(SHORT, client().send(post(&server.url()), &progress)).await.is_err());
    assert_eq!((progress.stage(), progress.take().0.as_deref()), (Stage::Body, Some("req-8")));
}

#[tokio::test]
async fn a_closed_port_is_a_connect_failure() {
    let port = ClosedPort::reserve().unwrap();
    let error = client().send(post(&port.url()), &Progress::default()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.stage(), error.is_stale()),
        (FailureKind::Connect, Some(Stage::Connect), false)
    );
    let address = port.url().replace("http://", "");
    assert!(error.message().starts_with(&format!("cannot connect to {address}: ")), "{error}");
    assert!(error.source().is_some());
}

#[tokio::test]
async fn an_unknown_name_is_a_connect_failure() {
    let error = client().send(post("http://no-such-host.invalid"), &Progress::default()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Connect);
    assert!(error.message().contains("no-such-host.invalid"), "{error}");
}

#[tokio::test]
async fn no_tls_at_the_other_end_is_a_connect_failure() {
    let server = MockServer::start().await.unwrap();
    server.on_connect(OnConnect::Garbage(b"SSH-2.0-hello\r\n".to_vec()));
    let url = server.url().replace("http://", "https://");
    let error = client().send(post(&url), &Progress::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (FailureKind::Connect, Some(Stage::Connect)), "{error}");
    assert!(
        error.message().contains("does not speak TLS") && error.message().contains("http://?"),
        "{error}"
    );
}

#[tokio::test]
async fn a_dead_address_is_a_timeout_at_the_connect_stage() {
    // Open, but nobody ever speaks TLS there.
    let server = MockServer::start().await.unwrap();
    server.on_connect(OnConnect::End(End::Hang));
    let client = ClientOptions::new().no_proxy().connect_timeout(SHORT).build().unwrap();
    let url = server.url().replace("http://", "https://");
    let error = client.send(post(&url), &Progress::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (FailureKind::Timeout, Some(Stage::Connect)), "{error}");
}

#[tokio::test]
async fn a_reset_before_any_byte_is_a_connect_failure_and_sent_once() {
    for end in [End::Close, End::Reset] {
        let server = MockServer::start().await.unwrap();
        server.push(Scripted::nothing(end));
        let error = send(&client(), &server).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.stage(), error.is_stale()),
            (FailureKind::Connect, Some(Stage::Headers), false)
        );
        assert_eq!(server.requests().len(), 1, "{end:?}");
    }
}

#[tokio::test]
async fn a_reset_of_a_reused_connection_is_stale() {
    let server = MockServer::start().await.unwrap();
    server.push(json("{}"));
    server.push(Scripted::nothing(End::Reset));
    let client = client();
    send(&client, &server).await.unwrap();
    let error = send(&client, &server).await.unwrap_err();
    assert_eq!((error.kind(), error.is_stale()), (FailureKind::Connect, true), "{error}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn connections_are_reused_and_closed_ones_replaced() {
    let server = MockServer::start().await.unwrap();
    server.push(json("{}").close_unannounced());
    let client = client();
    for _ in 0..5 {
        send(&client, &server).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn a_body_that_breaks_off() {
    let server = MockServer::start().await.unwrap();
    for (reply, status) in [
        (json("{\"a\":\"bcdefgh\"}").cut_at(5, End::Close), 200),
        (json("{\"a\":\"bcdefgh\"}").cut_at(5, End::Reset), 200),
        (json("{\"a\":\"bcdefgh\"}").content_length(99).cut_at(5, End::Close), 200),
        (json("{\"error\":\"busy\"}").status(503).cut_at(5, End::Close), 503),
    ] {
        server.clear_scripts().push(reply);
        let result = send(&client(), &server).await;
        match result {
            // The status of an error is worth more than its body.
            Ok(reply) => assert_eq!((reply.status, status), (503, 503)),
            Err(error) => {
                assert_eq!(
                    (error.kind(), error.stage(), status),
                    (FailureKind::MalformedResponse, Some(Stage::Body), 200)
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_whose_body_hangs_is_what_has_come_of_it() {
    let server = MockServer::start().await.unwrap();
    let client = ClientOptions::new().no_proxy().error_body_wait(SHORT).build().unwrap();
    let body = r#"{"error":"busy"}"#;
    for (at, expected) in [(0, ""), (5, r#"{"err"#), (body.len() as u64, body)] {
        // As many servers do that never say how long a body is.
        let reply = json(body).status(429).header("retry-after", "7").until_close().cut_at(at, End::Hang);
        server.clear_scripts().push(reply);
        let reply = timeout(Duration::from_secs(10), send(&client, &server)).await.unwrap().unwrap();
        assert_eq!((reply.status, reply.body.as_ref()), (429, expected.as_bytes()));
        assert_eq!(reply.headers["retry-after"], "7");
    }
    server.clear_scripts().push(json("{}").cut_at(1, End::Hang));
    assert!(timeout(2 * SHORT, send(&client, &server)).await.is_err(), "an answer is waited for");
}

#[tokio::test]
async fn garbage_instead_of_http() {
    let heads = [
        b"\x00\xffnot http\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ".to_vec(),
        [b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-a: b\r\n".repeat(100_000)].concat(),
    ];
    for head in heads {
        let server = MockServer::start().await.unwrap();
        server.push(Scripted::garbage(head));
        let error = send(&client(), &server).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedResponse, "{error}");
        assert!(error.message().contains("not HTTP") && !error.is_stale(), "{error}");
    }
}

#[tokio::test]
async fn an_announced_length_is_not_believed_before_it_came() {
    let server = MockServer::start().await.unwrap();
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 9000000000000000000\r\n\r\n{}".to_vec();
    server.push(Scripted::garbage(head));
    let client = ClientOptions::new().no_proxy().body_limit(usize::MAX).build().unwrap();
    let error = send(&client, &server).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedResponse, "{error}");
}

#[tokio::test]
async fn json_may_begin_with_a_byte_order_mark() {
    let server = MockServer::start().await.unwrap();
    server.push(json("\u{feff}{\"a\": 1}"));
    let reply = send(&client(), &server).await.unwrap();
    assert_eq!(reply.json::<serde_json::Value>().unwrap(), serde_json::json!({"a": 1}));
}

#[tokio::test]
async fn a_request_id_holds_no_key_and_is_short() {
    let server = MockServer::start().await.unwrap();
    for (id, kept) in [
        ("sk-live-0123456789".to_owned(), "[redacted]".to_owned()),
        ("r".repeat(5_000), format!("{}…", "r".repeat(200))),
    ] {
        server.clear_scripts().push(json("{}").header("x-request-id", &id));
        assert_eq!(send(&client(), &server).await.unwrap().request_id, Some(kept));
    }
}

#[tokio::test]
async fn bodies_are_limited_announced_or_not() {
    let server = MockServer::start().await.unwrap();
    let client = ClientOptions::new().no_proxy().body_limit(1_000).build().unwrap();
    for (reply, fits) in [
        (Scripted::filler("text/plain", 1_000), true),
        (Scripted::filler("text/plain", 1_001), false),
        (Scripted::filler("text/plain", 1_000).chunked(), true),
        (Scripted::filler("text/plain", 1_001).chunked(), false),
        (Scripted::filler("text/plain", 50_000_000).until_close(), false),
    ] {
        server.clear_scripts().push(reply);
        match send(&client, &server).await {
            Ok(reply) => assert!(fits && reply.body.len() == 1_000),
            Err(error) => {
                assert!(!fits, "{error}");
                assert_eq!(error.kind(), FailureKind::MalformedResponse);
                assert!(
                    error.message().contains("1000 bytes") && error.message().contains("body_limit"),
                    "{error}"
                );
            }
        }
    }
    server.clear_scripts().push(Scripted::filler("text/plain", 5_000_000).status(500));
    let reply = send(&client, &server).await.unwrap();
    assert_eq!((reply.status, reply.body.len()), (500, 1_000), "the body of an error is cut");
}

#[tokio::test]
async fn a_stream_arrives_piece_by_piece() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(json("onetwo").chunked().gate_body_at(3, &gate));
    let mut opened = client().open(post(&server.url()), &Progress::default()).await.unwrap();
    assert!(opened.is_success());
    assert_eq!(opened.chunk().await.unwrap().as_deref(), Some(&b"one"[..]));
    assert!(timeout(SHORT, opened.chunk()).await.is_err());
    gate.release();
    assert_eq!(opened.chunk().await.unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(opened.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn dropping_a_stream_closes_the_connection() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(json("onetwo").chunked().gate_body_at(3, &gate));
    let client = client();
    let mut opened = client.open(post(&server.url()), &Progress::default()).await.unwrap();
    opened.chunk().await.unwrap();
    drop(opened);
    timeout(Duration::from_secs(5), async {
        while server.open_connections() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("the server sees the client go");
}

#[tokio::test]
async fn errors_print_no_credential_and_no_address_query() {
    let port = ClosedPort::reserve().unwrap();
    let url = format!("{}?key=hush", port.url());
    let error = client().send(post(&url), &Progress::default()).await.unwrap_err();
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(inner) = source {
        shown = format!("{shown} {inner} {inner:?}");
        source = inner.source();
    }
    assert!(!shown.contains("hush"), "{shown}");
}

#[tokio::test]
async fn a_client_of_the_callers_own_is_used() {
    let server = MockServer::start().await.unwrap();
    server.push(json("{}"));
    let own = reqwest::Client::builder().no_proxy().user_agent("mine").build().unwrap();
    let client = ClientOptions::new().reqwest_client(own).build().unwrap();
    send(&client, &server).await.unwrap();
    assert_eq!(server.requests()[0].header("user-agent"), Some("mine"));
}

#[tokio::test]
async fn a_proxy_is_used_if_one_is_set() {
    let proxy = MockServer::start().await.unwrap();
    let client = ClientOptions::new().proxy(proxy.url()).build().unwrap();
    client.send(post("http://unreachable.invalid"), &Progress::default()).await.unwrap();
    assert!(proxy.requests()[0].path().starts_with("http://unreachable.invalid/"));
}
