//! A client that sees every byte: the faults of a mock server must be proven on the wire, not through a library that
//! might smooth them over.

// Each test binary uses its own part of it.
#![allow(dead_code)]

use std::{io, time::Duration};

use backstop_mock::server::MockServer;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// A bound for what should come at once; never reached in a passing test.
pub(crate) const SOON: Duration = Duration::from_secs(5);
/// Long enough to see that nothing comes, short enough to wait for.
pub(crate) const BRIEFLY: Duration = Duration::from_millis(60);

pub(crate) const CHAT: &str = "/v1/chat/completions";

pub(crate) fn question(text: &str) -> Value {
    serde_json::json!({ "model": "test-model", "messages": [{ "role": "user", "content": text }] })
}

pub(crate) fn streamed_question() -> Value {
    serde_json::json!({
        "model": "test-model", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "hi" }],
    })
}

pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The chunks of a chunked body.
    pub(crate) chunks: Vec<Vec<u8>>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The data of server-sent events, in order, comments left out.
    pub(crate) fn events(&self) -> Vec<String> {
        self.text().lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    /// The events that are JSON.
    pub(crate) fn json_events(&self) -> Vec<Value> {
        self.events().iter().filter_map(|event| serde_json::from_str(event).ok()).collect()
    }
}

impl Client {
    pub(crate) async fn connect(server: &MockServer) -> Self {
        let stream = TcpStream::connect(server.addr()).await.unwrap();
        // Else the second of two small writes waits for the acknowledgement of the first.
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) {
        self.request("POST", path, "", &body.to_string()).await;
    }

    pub(crate) async fn get(&mut self, path: &str) {
        self.request("GET", path, "", "").await;
    }

    /// `headers` are whole lines, each with its CRLF.
    pub(crate) async fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) {
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: {length}\r\n\r\n");
        self.send(head + body).await;
    }

    pub(crate) async fn ask(&mut self, path: &str, body: &Value) -> Response {
        self.post(path, body).await;
        self.response().await
    }

    /// Reads until something is there, and says whether it was the end.
    async fn more(&mut self) -> io::Result<bool> {
        let read =
            timeout(SOON, self.stream.read_buf(&mut self.buffer)).await.expect("the server sent nothing");
        read.map(|count| count > 0)
    }

    async fn line(&mut self) -> String {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..at + 2).take(at).collect();
                return String::from_utf8(line).unwrap();
            }
            assert!(self.more().await.unwrap(), "end of file in a line");
        }
    }

    pub(crate) async fn exactly(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            let seen = self.buffer.len();
            assert!(self.more().await.unwrap(), "end of file after {seen} of {count} bytes");
        }
        self.buffer.drain(..count).collect()
    }

    pub(crate) async fn head(&mut self) -> Response {
        let status = self.line().await;
        let status =
            status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line().await;
            if line.is_empty() {
                return Response { status, headers, body: Vec::new(), chunks: Vec::new() };
            }
            let (name, value) = line.split_once(": ").unwrap();
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }

    /// The next chunk, `None` for the last one.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line().await, 16).unwrap();
        let chunk = self.exactly(size).await;
        assert_eq!(self.line().await, "");
        (size > 0).then_some(chunk)
    }

    pub(crate) async fn response(&mut self) -> Response {
        let mut response = self.head().await;
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                response.body.extend_from_slice(&chunk);
                response.chunks.push(chunk);
            }
        } else if let Some(length) = response.header("content-length") {
            response.body = self.exactly(length.parse().unwrap()).await;
        } else {
            response.body = self.rest().await.0;
        }
        response
    }

    /// Everything until the connection ends, and whether it ended with an error.
    pub(crate) async fn rest(&mut self) -> (Vec<u8>, Option<io::ErrorKind>) {
        loop {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => return (std::mem::take(&mut self.buffer), None),
                Err(error) => return (std::mem::take(&mut self.buffer), Some(error.kind())),
            }
        }
    }

    /// Asserts that nothing comes for a while, and that the connection is open.
    pub(crate) async fn hears_nothing(&mut self) {
        assert!(self.buffer.is_empty(), "{}", String::from_utf8_lossy(&self.buffer));
        let read = timeout(BRIEFLY, self.stream.read_buf(&mut self.buffer)).await;
        assert!(read.is_err(), "the server sent {:?}", String::from_utf8_lossy(&self.buffer));
    }
}
