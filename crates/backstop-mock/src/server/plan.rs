//! Everything the server will do for one reply, as a list of steps decided in advance.

use super::{
    Received, Reply,
    fault::{After, Framing, Hold},
    part::{Chunk, Part},
    payload::Payload,
    reply::Content,
    wire::Format,
};

/// One step of sending.
#[derive(Debug)]
pub(super) enum Step {
    Hold(Hold),
    Head(Vec<u8>),
    /// Framing of chunks; not counted as body.
    Frame(Vec<u8>),
    Body(Chunk),
}

/// The steps, and whether the connection may be used again after them.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) keep_alive: bool,
}

impl Plan {
    /// `keep_alive` says whether the client wants to keep the connection.
    pub(super) fn new(reply: &Reply, received: &Received, keep_alive: bool) -> Self {
        let mut steps: Vec<Step> = reply.faults.before.iter().cloned().map(Step::Hold).collect();
        match (&reply.content, Payload::of(reply, received)) {
            (_, Some(payload)) => Head::new(reply, received, &payload, keep_alive).plan(payload, steps),
            (Content::Garbage(bytes), None) => {
                steps.push(Step::Head(bytes.clone()));
                Self { steps, keep_alive: false }
            }
            (_, None) => Self { steps, keep_alive: false },
        }
    }
}

/// What the head decides about the rest.
struct Head {
    bytes: Vec<u8>,
    chunked: bool,
    has_body: bool,
    keep_alive: bool,
}

impl Head {
    fn new(reply: &Reply, received: &Received, payload: &Payload, wanted: bool) -> Self {
        let has_body = received.method() != "HEAD" && !matches!(payload.status, 100..=199 | 204 | 304);
        let framing = match reply.faults.framing {
            Framing::Natural if payload.streamed => Framing::Chunked,
            Framing::Natural => Framing::Claimed(payload.length()),
            framing => framing,
        };
        let announced =
            matches!(framing, Framing::UntilClose) || reply.faults.after == After::Close || !wanted;
        // After a wrong length the client could not find the next response.
        let claimed = matches!(reply.faults.framing, Framing::Claimed(_));
        let keep_alive = !announced && !claimed && reply.faults.after == After::KeepAlive;

        let mut fields: Vec<(&str, String)> = Vec::new();
        fields.extend(payload.content_type.clone().map(|content_type| ("content-type", content_type)));
        let id_header = Format::nearest(received.path()).encoding().request_id_header();
        fields.extend(id_header.map(|name| (name, format!("req_mock_{}", received.number()))));
        match framing {
            Framing::Claimed(length) if has_body => fields.push(("content-length", length.to_string())),
            Framing::Chunked if has_body => fields.push(("transfer-encoding", "chunked".to_owned())),
            _ => {}
        }
        if announced {
            fields.push(("connection", "close".to_owned()));
        }
        let bytes = head_bytes(payload.status, &fields, &reply.headers);
        Self { bytes, chunked: framing == Framing::Chunked, has_body, keep_alive }
    }

    fn plan(self, payload: Payload, mut steps: Vec<Step>) -> Plan {
        steps.push(Step::Head(self.bytes));
        if self.has_body {
            for part in payload.parts {
                match part {
                    Part::Hold(hold) => steps.push(Step::Hold(hold)),
                    Part::Data(chunks) => push_data(&mut steps, chunks, self.chunked),
                }
            }
            if self.chunked {
                steps.push(Step::Frame(b"0\r\n\r\n".to_vec()));
            }
        }
        Plan { steps, keep_alive: self.keep_alive }
    }
}

fn push_data(steps: &mut Vec<Step>, chunks: Vec<Chunk>, chunked: bool) {
    let length: u64 = chunks.iter().map(Chunk::len).sum();
    // A chunk of no bytes would be the last one.
    if length == 0 {
        return;
    }
    if chunked {
        steps.push(Step::Frame(format!("{length:x}\r\n").into_bytes()));
    }
    steps.extend(chunks.into_iter().map(Step::Body));
    if chunked {
        steps.push(Step::Frame(b"\r\n".to_vec()));
    }
}

/// The test's own headers replace ours of the same name.
fn head_bytes(status: u16, fields: &[(&str, String)], own: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let replaced = |name: &str| own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let ours = fields.iter().filter(|(name, _)| !replaced(name)).map(|(name, value)| (*name, value));
    for (name, value) in ours.chain(own.iter().map(|(name, value)| (name.as_str(), value))) {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Status",
    }
}
