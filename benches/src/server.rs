//! A vendor that answers at once, in as few instructions as it can, from threads of its own.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// A response as it goes over the wire.
#[must_use]
pub fn response(status: &str, media_type: &str, body: &[u8]) -> Arc<[u8]> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat().into()
}

/// Answers every request with this body.
///
/// # Panics
/// No port can be had.
#[must_use]
pub fn serve(media_type: &str, body: &[u8]) -> SocketAddr {
    let answer = response("200 OK", media_type, body);
    serve_by_path(move |_| Arc::clone(&answer))
}

/// Answers a request by its path, from a thread for each connection.
///
/// # Panics
/// No port can be had.
#[must_use]
pub fn serve_by_path(answer: impl Fn(&str) -> Arc<[u8]> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for connection in listener.incoming() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || converse(connection.expect("a connection"), &*answer));
        }
    });
    address
}

fn converse(mut connection: TcpStream, answer: &dyn Fn(&str) -> Arc<[u8]>) {
    let (mut seen, mut block) = (Vec::new(), [0; 16 * 1024]);
    while let Ok(read @ 1..) = connection.read(&mut block) {
        seen.extend_from_slice(block.get(..read).unwrap_or_default());
        let Some(length) = request_length(&seen).filter(|length| *length <= seen.len()) else { continue };
        let line = seen.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let path = String::from_utf8_lossy(line).split(' ').nth(1).unwrap_or_default().to_owned();
        if connection.write_all(&answer(&path)).is_err() {
            return;
        }
        seen.drain(..length);
    }
}

/// Head and body, if the head is complete.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(bytes.get(..head)?).to_ascii_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    Some(head + body.and_then(|length| length.trim().parse().ok()).unwrap_or(0))
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
