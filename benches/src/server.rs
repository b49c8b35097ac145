//! A server that knows one answer.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// Answers every request with this body, from a thread for each connection.
///
/// # Panics
/// No port can be had.
#[must_use]
pub fn serve(media_type: &str, body: &[u8]) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let length = body.len();
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n")
            .into_bytes();
    answer.extend_from_slice(body);
    let answer: Arc<[u8]> = answer.into();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || converse(connection.expect("a connection"), &answer));
        }
    });
    address
}

fn converse(mut connection: TcpStream, answer: &[u8]) {
    // The requests are shorter than that, and no `}` stands in them but at the end of an object.
    let mut request = [0; 8_192];
    let mut seen = 0;
    while let Ok(read @ 1..) = connection.read(request.get_mut(seen..).unwrap_or_default()) {
        seen += read;
        if request.get(..seen).is_some_and(|request| request.ends_with(b"}")) {
            seen = 0;
            if connection.write_all(answer).is_err() {
                return;
            }
        }
    }
}

/// The body of a stream of Chat Completions whose text has these pieces.
#[must_use]
pub fn chat_events(pieces: impl IntoIterator<Item = String>) -> Vec<u8> {
    let event = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut body = event("{\"role\":\"assistant\",\"content\":\"\"}", "null");
    for piece in pieces {
        body.push_str(&event(&format!("{{\"content\":\"{piece}\"}}"), "null"));
    }
    body.push_str(&event("{}", "\"stop\""));
    body.push_str("data: [DONE]\n\n");
    body.into_bytes()
}
