//! Every fault of the mock server, proven on the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use backstop_mock::server::{ApiError, ClosedPort, Completion, End, Gate, MockServer, OnConnect, Reply};
use client::{CHAT, Client, question};

async fn asked(server: &MockServer) -> Client {
    let mut client = Client::connect(server).await;
    client.post(CHAT, &question("hi")).await;
    client
}

#[tokio::test]
async fn a_gate_holds_the_reply_until_it_is_released() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::text("late").after(&gate));
    let mut client = asked(&server).await;
    gate.reached(1).await.unwrap();
    client.hears_nothing().await;
    gate.release();
    assert_eq!(client.response().await.json()["choices"][0]["message"]["content"], "late");
}

#[tokio::test]
async fn a_delay_passes_before_the_first_byte() {
    let server = MockServer::start().await.unwrap();
    let delay = Duration::from_millis(80);
    server.push(Reply::text("late").delay(delay));
    let start = Instant::now();
    let mut client = asked(&server).await;
    assert_eq!(client.response().await.status, 200);
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn heads_and_bodies_trickle_at_their_pace() {
    let server = MockServer::start().await.unwrap();
    let tick = Duration::from_millis(2);
    server.push(Reply::html(200, "x".repeat(40)).slow_head(10, tick));
    server.push(Reply::html(200, "x".repeat(40)).slow_body(10, tick));
    let mut client = asked(&server).await;
    let start = Instant::now();
    let response = client.response().await;
    let head_bytes: usize = response.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    assert!(start.elapsed() >= tick * u32::try_from(head_bytes / 10).unwrap());
    client.post(CHAT, &question("again")).await;
    let head = client.head().await;
    assert_eq!(head.header("content-length"), Some("40"));
    let start = Instant::now();
    assert_eq!(client.exactly(40).await, [b'x'; 40]);
    assert!(start.elapsed() >= tick * 2, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_body_is_cut_at_any_byte_and_ends_as_told() {
    let server = MockServer::start().await.unwrap();
    let page = "0123456789";
    for at in 0..=10 {
        for end in [End::Close, End::Reset] {
            server.clear_scripts().push(Reply::html(200, page).cut_at(at, end));
            let mut client = asked(&server).await;
            assert_eq!(client.head().await.header("content-length"), Some("10"), "the promise stands");
            let (body, error) = client.rest().await;
            assert_eq!(body, &page.as_bytes()[..usize::try_from(at).unwrap()]);
            assert_eq!(error, (end == End::Reset).then_some(ErrorKind::ConnectionReset), "{at} {end:?}");
        }
    }
    assert!(server.disconnects().is_empty(), "the server left, not the client");
}

#[tokio::test]
async fn a_cut_beyond_the_body_cuts_nothing() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::html(200, "0123456789").cut_at(11, End::Reset));
    let mut client = Client::connect(&server).await;
    for _ in 0..2 {
        assert_eq!(client.ask(CHAT, &question("hi")).await.text(), "0123456789");
    }
}

#[tokio::test]
async fn a_response_is_cut_inside_its_head() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("never").cut_response_at(15, End::Close));
    let (bytes, error) = asked(&server).await.rest().await;
    assert_eq!((bytes.as_slice(), error), (b"HTTP/1.1 200 OK".as_slice(), None));
}

#[tokio::test]
async fn a_chunked_body_is_cut_inside_a_chunk_or_before_the_last_one() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::html(200, "0123456789").chunked().cut_at(4, End::Close));
    server.push(Reply::html(200, "0123456789").chunked().cut_at(10, End::Close));
    for expected in ["a\r\n0123", "a\r\n0123456789"] {
        let mut client = asked(&server).await;
        assert_eq!(client.head().await.header("transfer-encoding"), Some("chunked"));
        let (bytes, error) = client.rest().await;
        assert_eq!((String::from_utf8(bytes).unwrap().as_str(), error), (expected, None));
    }
}

#[tokio::test]
async fn a_reset_or_a_close_comes_before_any_byte() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::nothing(End::Reset)).push(Reply::nothing(End::Close));
    assert_eq!(asked(&server).await.rest().await, (vec![], Some(ErrorKind::ConnectionReset)));
    assert_eq!(asked(&server).await.rest().await, (vec![], None));
    assert_eq!(server.requests().len(), 2, "both requests were read");
}

#[tokio::test]
async fn a_reused_connection_is_reset() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine")).push(Reply::nothing(End::Reset));
    let mut client = Client::connect(&server).await;
    assert_eq!(client.ask(CHAT, &question("hi")).await.status, 200);
    client.post(CHAT, &question("again")).await;
    assert_eq!(client.rest().await, (vec![], Some(ErrorKind::ConnectionReset)));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_reply_hangs_before_the_head_after_it_or_in_the_body() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::nothing(End::Hang));
    server.push(Reply::html(200, "0123456789").cut_at(0, End::Hang));
    server.push(Reply::html(200, "0123456789").cut_at(4, End::Hang));

    let mut before = asked(&server).await;
    server.wait_for_requests(1).await.unwrap();
    let mut after = asked(&server).await;
    assert_eq!(after.head().await.status, 200);
    let mut inside = asked(&server).await;
    inside.head().await;
    assert_eq!(inside.exactly(4).await, b"0123");
    for client in [&mut before, &mut after, &mut inside] {
        client.hears_nothing().await;
    }
    assert_eq!(server.open_connections(), 3);
    drop(server);
    for client in [&mut before, &mut after, &mut inside] {
        assert!(client.rest().await.0.is_empty(), "dropping the server ends what hangs");
    }
}

#[tokio::test]
async fn gates_hold_the_body_at_a_byte() {
    let server = MockServer::start().await.unwrap();
    let (start, middle, end) = (Gate::new(), Gate::new(), Gate::new());
    let reply = Reply::html(200, "0123456789").gate_body_at(6, &middle).gate_body_at(0, &start);
    server.push(reply.gate_body_at(10, &end));
    let mut client = asked(&server).await;
    client.head().await;
    client.hears_nothing().await;
    start.release();
    assert_eq!(client.exactly(6).await, b"012345");
    middle.reached(1).await.unwrap();
    client.hears_nothing().await;
    middle.release();
    assert_eq!(client.exactly(4).await, b"6789");
    end.reached(1).await.unwrap();
}

#[tokio::test]
async fn a_connection_dies_before_its_request_is_read() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine"));
    server.on_connect(OnConnect::End(End::Reset)).on_connect(OnConnect::End(End::Close));
    server.on_connect(OnConnect::Garbage(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()));
    server.on_connect(OnConnect::Serve).on_connect(OnConnect::End(End::Hang));

    assert_eq!(Client::connect(&server).await.rest().await, (vec![], Some(ErrorKind::ConnectionReset)));
    assert_eq!(Client::connect(&server).await.rest().await, (vec![], None));
    assert_eq!(Client::connect(&server).await.rest().await.0, b"SSH-2.0-OpenSSH_9.9\r\n");
    assert_eq!(asked(&server).await.response().await.status, 200);
    let mut dead = asked(&server).await;
    dead.hears_nothing().await;
    drop(dead);
    let disconnects = server.wait_for_disconnects(1).await.unwrap();
    assert!(disconnects[0].request.is_none());
    assert_eq!(server.requests().len(), 1, "only the served connection's request was read");
    assert_eq!(asked(&server).await.response().await.status, 200, "the script of connections is over");
}

#[tokio::test]
async fn garbage_comes_instead_of_http() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::garbage(b"\x16\x03\x01\x00".to_vec()));
    assert_eq!(asked(&server).await.rest().await, (b"\x16\x03\x01\x00".to_vec(), None));
}

#[tokio::test]
async fn a_wrong_content_length_is_sent_as_told() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::html(200, "0123456789").content_length(20));
    server.push(Reply::html(200, "0123456789").content_length(3));
    for claimed in ["20", "3"] {
        let mut client = asked(&server).await;
        assert_eq!(client.head().await.header("content-length"), Some(claimed));
        assert_eq!(client.rest().await, (b"0123456789".to_vec(), None));
    }
}

#[tokio::test]
async fn a_body_without_length_ends_with_the_connection() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::html(200, "0123456789").until_close());
    let mut client = asked(&server).await;
    let head = client.head().await;
    assert_eq!((head.header("content-length"), head.header("connection")), (None, Some("close")));
    assert_eq!(client.rest().await, (b"0123456789".to_vec(), None));
}

#[tokio::test]
async fn a_connection_is_closed_after_the_reply_with_and_without_a_word() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("a").close_after()).push(Reply::text("b").close_unannounced());
    for announced in [Some("close"), None] {
        let mut client = asked(&server).await;
        let response = client.response().await;
        assert_eq!((response.status, response.header("connection")), (200, announced));
        assert_eq!(client.rest().await, (vec![], None));
    }
}

#[tokio::test]
async fn a_huge_body_is_made_while_it_is_sent() {
    const SIZE: usize = 20_000_000;
    let server = MockServer::start().await.unwrap();
    server.push(Reply::filler("text/html", SIZE as u64).status(502));
    server.push(Completion::huge(SIZE as u64));
    let mut client = asked(&server).await;
    let response = client.response().await;
    assert_eq!((response.status, response.body.len()), (502, SIZE));
    let answer = client.ask(CHAT, &question("hi")).await.json();
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.len() == SIZE && text.bytes().all(|byte| byte == b'a'));
}

#[tokio::test]
async fn blank_lines_come_before_an_answer_that_is_held_back() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::text("at last").blank_lines(3).gate_body_at(3, &gate));
    let mut client = asked(&server).await;
    let length: usize = client.head().await.header("content-length").unwrap().parse().unwrap();
    assert_eq!(client.exactly(3).await, b"\n\n\n");
    client.hears_nothing().await;
    gate.release();
    assert!(client.exactly(length - 3).await.starts_with(b"{"));
}

#[tokio::test]
async fn a_reply_that_may_have_no_body_has_none() {
    let server = MockServer::start().await.unwrap();
    server
        .when(|_| true, [Reply::html(204, "unsent"), Reply::html(304, "unsent"), Reply::html(200, "unsent")]);
    let mut client = Client::connect(&server).await;
    for (method, status) in [("POST", 204), ("POST", 304), ("HEAD", 200)] {
        client.request(method, CHAT, "", "").await;
        let head = client.head().await;
        assert_eq!((head.status, head.header("content-length")), (status, None));
        client.hears_nothing().await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_redirect_names_its_target() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::redirect(307, "http://127.0.0.1:1/elsewhere"));
    let response = asked(&server).await.response().await;
    assert_eq!((response.status, response.header("location")), (307, Some("http://127.0.0.1:1/elsewhere")));
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed_wherever_the_reply_is() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    let forever = Duration::from_secs(3600);
    let replies = [
        Reply::text("x").after(&gate),
        Reply::text("x").delay(forever),
        Reply::nothing(End::Hang),
        Reply::text("x").slow_head(1, forever),
        Reply::text("x").slow_body(1, forever),
        Reply::text("x").cut_at(3, End::Hang),
        Reply::text("x").gate_body_at(2, &gate),
        Reply::filler("text/html", 1 << 40),
    ];
    for (index, reply) in replies.into_iter().enumerate() {
        server.clear_scripts().push(reply);
        let client = asked(&server).await;
        server.wait_for_requests(index + 1).await.unwrap();
        assert_eq!(server.disconnects().len(), index);
        drop(client);
        let disconnects = server.wait_for_disconnects(index + 1).await.unwrap();
        assert_eq!(disconnects[index].request.as_ref().unwrap().number(), index + 1);
    }
    server.wait_for_closed(8).await.unwrap();
    assert_eq!(server.open_connections(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_its_request_is_noticed() {
    let server = MockServer::start().await.unwrap();
    let mut client = Client::connect(&server).await;
    client.send("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\n{").await;
    drop(client);
    let disconnects = server.wait_for_disconnects(1).await.unwrap();
    assert!(disconnects[0].request.is_none() && server.requests().is_empty());
}

#[tokio::test]
async fn a_client_that_has_its_answer_may_leave_unnoticed() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine"));
    let mut client = asked(&server).await;
    client.response().await;
    drop(client);
    server.wait_for_closed(1).await.unwrap();
    assert!(server.disconnects().is_empty());
}

#[tokio::test]
async fn faults_go_with_errors_too() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::from(ApiError::overloaded()).after(&gate).cut_at(9, End::Close));
    let mut client = asked(&server).await;
    gate.reached(1).await.unwrap();
    gate.release();
    assert_eq!(client.head().await.status, 503);
    assert_eq!(client.rest().await, (b"{\"error\":".to_vec(), None));
}

#[tokio::test]
async fn a_closed_port_refuses() {
    let port = ClosedPort::reserve().unwrap();
    let error = tokio::net::TcpStream::connect(port.addr()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(port.url(), format!("http://{}", port.addr()));
}
