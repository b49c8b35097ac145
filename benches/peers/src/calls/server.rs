//! The vendor: answers at once, in as few instructions as it can, from threads of its own.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use serde_json::json;

use super::document::invoice;

/// `/healthy/...` answers, `/dead/...` is a 503.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    healthy: AtomicU64,
    dead: AtomicU64,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Seen::default());
        let replies = Arc::new(Replies::new());
        let counts = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counts, replies) = (Arc::clone(&counts), Arc::clone(&replies));
                thread::spawn(move || serve(stream, &counts, &replies));
            }
        });
        Self { address, seen }
    }

    pub fn url(&self, which: &str) -> String {
        format!("http://{}/{which}", self.address)
    }

    pub fn seen(&self, which: &str) -> u64 {
        if which == "dead" { &self.seen.dead } else { &self.seen.healthy }.load(Ordering::Relaxed)
    }
}

struct Replies {
    chat: Vec<u8>,
    responses: Vec<u8>,
    dead: Vec<u8>,
}

impl Replies {
    fn new() -> Self {
        let text = serde_json::to_string(&invoice()).expect("JSON");
        let chat = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_900_000_000, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                "message": {"role": "assistant", "content": text, "refusal": null}}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 110, "total_tokens": 200},
        });
        let responses = json!({
            "id": "resp_1", "object": "response", "created_at": 1_900_000_000, "status": "completed", "model": "m",
            "output": [{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "usage": {"input_tokens": 90, "output_tokens": 110, "total_tokens": 200},
        });
        let dead = json!({"error": {"message": "unavailable", "type": "server_error", "code": null}});
        Self {
            chat: http("200 OK", &chat),
            responses: http("200 OK", &responses),
            dead: http("503 Unavailable", &dead),
        }
    }
}

fn http(status: &str, body: &serde_json::Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn serve(mut stream: TcpStream, seen: &Seen, replies: &Replies) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::with_capacity(16 * 1024);
    let mut block = [0; 16 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut block) {
        buffer.extend_from_slice(&block[..read]);
        let Some(length) = request_length(&buffer) else { continue };
        if buffer.len() < length {
            continue;
        }
        let target = String::from_utf8_lossy(&buffer[..buffer.len().min(120)]).into_owned();
        let path = target.split(' ').nth(1).unwrap_or_default();
        let reply = if path.starts_with("/dead") {
            seen.dead.fetch_add(1, Ordering::Relaxed);
            &replies.dead
        } else {
            seen.healthy.fetch_add(1, Ordering::Relaxed);
            if path.ends_with("/responses") { &replies.responses } else { &replies.chat }
        };
        buffer.drain(..length);
        if stream.write_all(reply).is_err() {
            return;
        }
    }
}

/// Head and body, if the head is complete.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    Some(head + body.and_then(|length| length.trim().parse().ok()).unwrap_or(0))
}
