//! Who gets which reply, and what the server records.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use backstop_mock::server::{ApiError, Format, Gate, MockError, MockServer, Received, Reply, Script};
use client::{CHAT, Client, question};
use serde_json::json;

async fn ask(server: &MockServer, path: &str, model: &str) -> (u16, String) {
    let mut client = Client::connect(server).await;
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }] });
    let response = client.ask(path, &body).await;
    let content = &response.json()["choices"][0]["message"]["content"];
    (response.status, content.as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn replies_come_in_order_and_the_last_one_repeats_until_another_is_pushed() {
    let server = MockServer::start().await.unwrap();
    server.push_times(2, ApiError::server()).push(Reply::text("a")).push(Reply::text("b"));
    let mut seen = Vec::new();
    for _ in 0..6 {
        let (status, text) = ask(&server, CHAT, "m").await;
        seen.push(format!("{status}{text}"));
    }
    assert_eq!(seen, ["500", "500", "200a", "200b", "200b", "200b"]);
    server.push(Reply::text("c"));
    assert_eq!(ask(&server, CHAT, "m").await.1, "c");
    assert_eq!(ask(&server, CHAT, "m").await.1, "c");
}

#[tokio::test]
async fn rules_come_before_the_queue_and_may_end() {
    let server = MockServer::start().await.unwrap();
    server.when(|request| request.model() == "flaky", Script::once([ApiError::server()]));
    server.on_path("/other/chat/completions", [Reply::text("one"), Reply::text("two")]);
    server.push(Reply::text("queue"));
    assert_eq!(ask(&server, CHAT, "good").await, (200, "queue".into()));
    assert_eq!(ask(&server, CHAT, "flaky").await.0, 500);
    assert_eq!(ask(&server, CHAT, "flaky").await, (200, "queue".into()));
    for expected in ["one", "two", "two"] {
        assert_eq!(ask(&server, "/other/chat/completions", "good").await.1, expected);
    }
}

#[tokio::test]
async fn a_closure_answers_by_the_request() {
    let server = MockServer::start().await.unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    server.respond_with(move |request: &Received| {
        counted.fetch_add(1, Ordering::SeqCst);
        match request.model() {
            "broken" => Reply::from(ApiError::overloaded()),
            model => Reply::text(format!("{model}: {}", request.last_user_text())),
        }
    });
    assert_eq!(ask(&server, CHAT, "m").await, (200, "m: hi".into()));
    assert_eq!(ask(&server, CHAT, "broken").await.0, 503);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_closure_that_panics_is_a_500_that_says_so() {
    let server = MockServer::start().await.unwrap();
    server.respond_with(|request: &Received| {
        assert_eq!(request.model(), "expected");
        Reply::text("fine")
    });
    let mut client = Client::connect(&server).await;
    let response = client.ask(CHAT, &question("hi")).await;
    assert_eq!(response.json()["error"]["code"], "mock_closure_panicked");
    assert_eq!(response.status, 500);
    let (status, text) = ask(&server, CHAT, "expected").await;
    assert_eq!((status, text.as_str()), (200, "fine"), "the server survives");
}

#[tokio::test]
async fn a_request_without_a_script_is_told_so() {
    let server = MockServer::start().await.unwrap();
    let mut client = Client::connect(&server).await;
    let response = client.ask(CHAT, &question("hi")).await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!("mock_no_reply")));
}

#[tokio::test]
async fn a_key_is_asked_for_where_the_vendor_asks_for_it() {
    let server = MockServer::start().await.unwrap();
    server.require_key("right").push(Reply::text("in"));
    let cases = [
        (CHAT, "authorization: Bearer right\r\n", 200),
        (CHAT, "authorization: Bearer wrong\r\n", 401),
        (CHAT, "", 401),
        ("/v1/messages", "x-api-key: right\r\n", 200),
        ("/v1/messages", "x-api-key: wrong\r\n", 401),
        ("/v1beta/models/g:generateContent", "x-goog-api-key: right\r\n", 200),
        ("/v1beta/models/g:generateContent", "x-goog-api-key: wrong\r\n", 400),
    ];
    let mut client = Client::connect(&server).await;
    for (path, headers, status) in cases {
        client.request("POST", path, headers, &question("hi").to_string()).await;
        assert_eq!(client.response().await.status, status, "{path} {headers}");
    }
    client.request("POST", CHAT, "", "{}").await;
    assert_eq!(client.response().await.json()["error"]["code"], "invalid_api_key");
}

#[tokio::test]
async fn paths_outside_the_apis_are_404_in_the_vendors_envelope() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("unused")).models(["a", "b"]);
    let mut client = Client::connect(&server).await;
    let openai = client.ask("/v1/embeddings", &question("hi")).await;
    assert_eq!((openai.status, &openai.json()["error"]["type"]), (404, &json!("invalid_request_error")));
    let gemini = client.ask("/v1beta/models/g:countTokens", &question("hi")).await;
    assert_eq!((gemini.status, &gemini.json()["error"]["status"]), (404, &json!("NOT_FOUND")));
    let ollama = client.ask("/api/generate", &question("hi")).await;
    assert!(ollama.status == 404 && ollama.json()["error"].is_string());
    client.get(CHAT).await;
    assert_eq!(client.response().await.status, 404, "completions are posted");
}

#[tokio::test]
async fn models_are_listed_for_every_vendor() {
    let server = MockServer::start().await.unwrap();
    server.models(["a", "b"]);
    let mut client = Client::connect(&server).await;
    for (path, pointer) in [
        ("/v1/models", "/data/1/id"),
        ("/models", "/data/1/id"),
        ("/v1/models/b", "/id"),
        ("/api/tags", "/models/1/name"),
    ] {
        client.get(path).await;
        assert_eq!(client.response().await.json().pointer(pointer), Some(&json!("b")), "{path}");
    }
    client.get("/v1beta/models").await;
    assert_eq!(client.response().await.json()["models"][1]["name"], "models/b");
    client.get("/v1/models/c").await;
    assert_eq!(client.response().await.status, 404);
}

#[tokio::test]
async fn requests_are_recorded_with_all_they_carry() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine"));
    let mut client = Client::connect(&server).await;
    let body = question("who?").to_string();
    client
        .request("POST", "/v1/chat/completions?x=1", "X-Trace: abc\r\nauthorization: Bearer hush\r\n", &body)
        .await;
    client.response().await;
    let requests = server.wait_for_requests(1).await.unwrap();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((request.method(), request.path(), request.query()), ("POST", CHAT, Some("x=1")));
    assert_eq!(
        (request.header("x-trace"), request.header("Authorization")),
        (Some("abc"), Some("Bearer hush"))
    );
    assert_eq!((request.body(), request.json()), (body.as_bytes(), &question("who?")));
    assert_eq!((request.model(), request.last_user_text().as_str()), ("test-model", "who?"));
    assert_eq!((request.format(), request.is_stream()), (Some(Format::OpenAiChat), false));
    assert!(!format!("{server:?}").contains("hush"));
}

#[tokio::test]
async fn connections_are_kept_alive_and_counted() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine"));
    let mut first = Client::connect(&server).await;
    for _ in 0..3 {
        assert_eq!(first.ask(CHAT, &question("hi")).await.status, 200);
    }
    let mut second = Client::connect(&server).await;
    second.ask(CHAT, &question("hi")).await;
    assert_eq!((server.connections(), server.open_connections()), (2, 2));
    let connections: Vec<_> = server.requests().iter().map(Received::connection).collect();
    assert_eq!(connections, [1, 1, 1, 2]);
    drop(first);
    server.wait_for_closed(1).await.unwrap();
    assert_eq!((server.connections(), server.open_connections()), (2, 1));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::text("one").after(&gate)).push(Reply::text("two"));
    let mut client = Client::connect(&server).await;
    client.post(CHAT, &question("first")).await;
    client.post(CHAT, &question("second")).await;
    gate.reached(1).await.unwrap();
    client.hears_nothing().await;
    gate.release();
    for expected in ["one", "two"] {
        assert_eq!(client.response().await.json()["choices"][0]["message"]["content"], expected);
    }
    assert!(server.disconnects().is_empty());
}

#[tokio::test]
async fn chunked_bodies_and_expectations_are_understood() {
    let server = MockServer::start().await.unwrap();
    server.respond_with(|request: &Received| Reply::text(request.last_user_text()));
    let body = question("in chunks").to_string();
    let (first, second) = body.split_at(body.len() / 2);
    let mut client = Client::connect(&server).await;
    client
        .send(format!("POST {CHAT} HTTP/1.1\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n"))
        .await;
    assert_eq!(client.head().await.status, 100);
    for part in [first, second, ""] {
        client.send(format!("{:x}\r\n{part}\r\n", part.len())).await;
    }
    assert_eq!(client.response().await.json()["choices"][0]["message"]["content"], "in chunks");
    client.post(CHAT, &question("and after")).await;
    assert_eq!(client.response().await.json()["choices"][0]["message"]["content"], "and after");
}

#[tokio::test]
async fn a_request_may_arrive_in_any_two_parts() {
    let server = MockServer::start().await.unwrap();
    server.respond_with(|request: &Received| Reply::text(request.last_user_text()));
    let body = question("in parts").to_string();
    let known = format!("POST {CHAT} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let chunked = format!(
        "POST {CHAT} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let mut client = Client::connect(&server).await;
    for request in [known, chunked] {
        for at in 1..request.len() {
            let (first, second) = request.split_at(at);
            client.send(first).await;
            // Lets the server read the first part alone: both run on this thread.
            tokio::task::yield_now().await;
            client.send(second).await;
            let answer = client.response().await.json();
            assert_eq!(answer["choices"][0]["message"]["content"], "in parts", "split at {at}");
        }
    }
}

#[tokio::test]
async fn nonsense_is_refused_and_the_server_goes_on() {
    let server = MockServer::start().await.unwrap();
    server.push(Reply::text("fine"));
    let mut client = Client::connect(&server).await;
    client.send("\x16\x03\x01 this is no HTTP\r\n\r\n").await;
    assert_eq!(client.response().await.status, 400);
    let mut client = Client::connect(&server).await;
    client.send(format!("POST {CHAT} HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n")).await;
    assert_eq!(client.response().await.status, 413);
    assert_eq!(ask(&server, CHAT, "m").await.0, 200);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn sixty_four_clients_are_served_at_once() {
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    let held = gate.clone();
    server.respond_with(move |request: &Received| Reply::text(request.last_user_text()).after(&held));
    let mut clients = Vec::new();
    for index in 0..64 {
        let mut client = Client::connect(&server).await;
        client.post(CHAT, &question(&format!("number {index}"))).await;
        clients.push(client);
    }
    gate.reached(64).await.unwrap();
    assert_eq!((server.open_connections(), server.wait_for_requests(64).await.unwrap().len()), (64, 64));
    gate.release();
    for (index, client) in clients.iter_mut().enumerate() {
        let answer = client.response().await.json();
        assert_eq!(answer["choices"][0]["message"]["content"], format!("number {index}"));
    }
}

#[tokio::test]
async fn a_dropped_server_frees_its_port_at_once_and_closes_its_connections() {
    let server = MockServer::start().await.unwrap();
    let (port, addr) = (server.addr().port(), server.addr());
    let mut idle = Client::connect(&server).await;
    server.push(Reply::text("fine"));
    idle.ask(CHAT, &question("hi")).await;
    drop(server);
    let refused = tokio::net::TcpStream::connect(addr).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(idle.rest().await.0.is_empty());

    let back = MockServer::start_on(port).await.unwrap();
    back.push(Reply::text("back"));
    assert_eq!(ask(&back, CHAT, "m").await, (200, "back".into()));
    assert!(matches!(MockServer::start_on(port).await, Err(MockError::Bind { .. })));
}

#[tokio::test]
async fn no_task_outlives_the_server() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let server = MockServer::start().await.unwrap();
    let gate = Gate::new();
    server.push(Reply::text("never").after(&gate));
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut client = Client::connect(&server).await;
        client.post(CHAT, &question("hi")).await;
        clients.push(client);
    }
    gate.reached(8).await.unwrap();
    assert_eq!(tasks() - before, 9);
    drop(server);
    for client in &mut clients {
        client.rest().await;
    }
    assert_eq!(tasks(), before);
}
