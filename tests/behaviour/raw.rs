//! A request sent again by hand, to see the server's very bytes.

use backstop::mock::{MockServer, server::Received};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A response as it came.
pub struct Raw {
    pub status: u16,
    pub body: String,
}

/// Sends a request again. The reply must end with its connection, or have a length.
pub async fn replay(server: &MockServer, request: &Received) -> Raw {
    let mut client = TcpStream::connect(server.addr()).await.unwrap();
    let query = request.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut head =
        format!("{} {}{query} HTTP/1.1\r\nconnection: close\r\n", request.method(), request.path());
    for (name, value) in request.headers().filter(|(name, _)| *name != "connection") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(b"\r\n").await.unwrap();
    client.write_all(request.body()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Raw { status, body: body.to_owned() }
}

impl Raw {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The events of a stream, or its lines.
    pub fn events(&self) -> Vec<Value> {
        let lines = self.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        lines.filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
