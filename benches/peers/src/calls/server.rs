//! The vendor: `/healthy/...` answers, `/dead/...` is a 503.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use backstop_benches::server::{response, serve_by_path};
use serde_json::json;

use super::document::invoice;

pub struct Server {
    address: SocketAddr,
    dead: Arc<AtomicU64>,
}

impl Server {
    pub fn start() -> Self {
        let dead = Arc::new(AtomicU64::new(0));
        let (count, chat, responses, unavailable) = (Arc::clone(&dead), chat(), responses(), unavailable());
        let address = serve_by_path(move |path| {
            let answer = match path {
                path if path.starts_with("/dead") => {
                    count.fetch_add(1, Ordering::Relaxed);
                    &unavailable
                }
                path if path.ends_with("/responses") => &responses,
                _ => &chat,
            };
            Arc::clone(answer)
        });
        Self { address, dead }
    }

    pub fn url(&self, which: &str) -> String {
        format!("http://{}/{which}", self.address)
    }

    /// Requests to `/dead` so far.
    pub fn dead(&self) -> u64 {
        self.dead.load(Ordering::Relaxed)
    }
}

fn text() -> String {
    serde_json::to_string(&invoice()).expect("JSON")
}

fn chat() -> Arc<[u8]> {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_900_000_000, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
            "message": {"role": "assistant", "content": text(), "refusal": null}}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 110, "total_tokens": 200},
    });
    http("200 OK", &body)
}

fn responses() -> Arc<[u8]> {
    let body = json!({
        "id": "resp_1", "object": "response", "created_at": 1_900_000_000, "status": "completed", "model": "m",
        "output": [{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text(), "annotations": []}]}],
        "usage": {"input_tokens": 90, "output_tokens": 110, "total_tokens": 200},
    });
    http("200 OK", &body)
}

fn unavailable() -> Arc<[u8]> {
    http(
        "503 Unavailable",
        &json!({"error": {"message": "unavailable", "type": "server_error", "code": null}}),
    )
}

fn http(status: &str, body: &serde_json::Value) -> Arc<[u8]> {
    response(status, "application/json", body.to_string().as_bytes())
}
