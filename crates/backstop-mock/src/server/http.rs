//! Reading requests: heads and bodies of HTTP/1.1.

/// More than any client sends; less than what hurts.
pub(super) const MAX_HEAD: usize = 64 * 1024;
/// The largest request body the server takes; Anthropic's own limit is half of it.
pub(super) const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_HEADERS: usize = 128;

/// A request's head. It holds keys, hence no `Debug`.
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) keep_alive: bool,
}

/// How the body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyLength {
    Known(usize),
    Chunked,
}

/// Why a request cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadRequest {
    Malformed,
    TooLarge,
}

impl Head {
    /// The head and its length in bytes, `None` if more bytes are needed.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, BadRequest> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(BadRequest::TooLarge);
            }
            Err(_) => return Err(BadRequest::Malformed),
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers = request.headers.iter().map(|header| (header.name.to_owned(), text(header.value)));
        let mut head = Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            headers: headers.collect(),
            keep_alive: false,
        };
        head.keep_alive = request.version == Some(1) && !head.has_token("connection", "close");
        Ok(Some((head, length)))
    }

    pub(super) fn body_length(&self) -> Result<BodyLength, BadRequest> {
        if self.has_token("transfer-encoding", "chunked") {
            return Ok(BodyLength::Chunked);
        }
        let length = match self.value("content-length") {
            Some(value) => value.trim().parse().map_err(|_| BadRequest::Malformed)?,
            None => 0,
        };
        if length > MAX_BODY { Err(BadRequest::TooLarge) } else { Ok(BodyLength::Known(length)) }
    }

    /// Whether the client waits for leave to send the body.
    pub(super) fn expects_continue(&self) -> bool {
        self.has_token("expect", "100-continue")
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    fn has_token(&self, name: &str, token: &str) -> bool {
        self.value(name)
            .is_some_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token)))
    }
}

/// One step of reading a chunked body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkStep {
    /// More bytes are needed.
    More,
    /// A chunk: its data is this range of the buffer, and the next chunk starts at `next`.
    Chunk { start: usize, end: usize, next: usize },
    /// The last chunk and the trailers are over at this offset.
    End(usize),
}

/// Looks for a chunk at the start of `bytes`.
pub(super) fn next_chunk(bytes: &[u8]) -> Result<ChunkStep, BadRequest> {
    let (start, size) = match httparse::parse_chunk_size(bytes) {
        Ok(httparse::Status::Complete(found)) => found,
        // A size line has no business being long.
        Ok(httparse::Status::Partial) if bytes.len() < 1024 => return Ok(ChunkStep::More),
        Ok(httparse::Status::Partial) | Err(_) => return Err(BadRequest::Malformed),
    };
    let size = usize::try_from(size).ok().filter(|size| *size <= MAX_BODY).ok_or(BadRequest::TooLarge)?;
    if size == 0 {
        return trailers_end(bytes, start);
    }
    let (end, next) = (start + size, start + size + 2);
    match bytes.get(end..next) {
        None => Ok(ChunkStep::More),
        Some(b"\r\n") => Ok(ChunkStep::Chunk { start, end, next }),
        Some(_) => Err(BadRequest::Malformed),
    }
}

fn trailers_end(bytes: &[u8], start: usize) -> Result<ChunkStep, BadRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    match httparse::parse_headers(bytes.get(start..).unwrap_or_default(), &mut headers) {
        Ok(httparse::Status::Complete((length, _))) => Ok(ChunkStep::End(start + length)),
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => Ok(ChunkStep::More),
        Ok(httparse::Status::Partial) => Err(BadRequest::TooLarge),
        Err(_) => Err(BadRequest::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_complete_only_with_its_empty_line() {
        let whole = b"POST /v1/x?y=1 HTTP/1.1\r\nContent-Length: 5\r\n\r\n";
        for cut in 0..whole.len() {
            assert!(Head::parse(&whole[..cut]).unwrap().is_none(), "{cut}");
        }
        let (head, length) = Head::parse(whole).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str(), length), ("POST", "/v1/x?y=1", whole.len()));
        assert_eq!(head.body_length(), Ok(BodyLength::Known(5)));
        assert!(head.keep_alive);
    }

    #[test]
    fn a_connection_stays_open_only_where_http_1_1_says_so() {
        let keep_alive = |text: &str| Head::parse(text.as_bytes()).unwrap().unwrap().0.keep_alive;
        assert!(!keep_alive("GET / HTTP/1.0\r\n\r\n"));
        assert!(!keep_alive("GET / HTTP/1.1\r\nConnection: foo, Close\r\n\r\n"));
        assert!(keep_alive("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn chunks_are_found_at_any_split() {
        let bytes = b"5;x=y\r\nhello\r\n0\r\nT: v\r\n\r\nrest";
        assert_eq!(next_chunk(bytes), Ok(ChunkStep::Chunk { start: 7, end: 12, next: 14 }));
        for cut in 0..14 {
            assert_eq!(next_chunk(&bytes[..cut]), Ok(ChunkStep::More), "{cut}");
        }
        assert_eq!(next_chunk(&bytes[14..]), Ok(ChunkStep::End(11)));
    }

    #[test]
    fn nonsense_and_giants_are_refused() {
        assert_eq!(Head::parse(b"\x16\x03\x01 hello\r\n\r\n").err(), Some(BadRequest::Malformed));
        assert_eq!(next_chunk(b"zz\r\n"), Err(BadRequest::Malformed));
        assert_eq!(next_chunk(b"5\r\nhelloXX"), Err(BadRequest::Malformed));
        assert_eq!(next_chunk(b"fffffff0\r\n"), Err(BadRequest::TooLarge));
        let endless = [b"GET / HTTP/1.1\r\nx: ".as_slice(), &vec![b'a'; MAX_HEAD]].concat();
        assert_eq!(Head::parse(&endless).err(), Some(BadRequest::TooLarge));
        let (head, _) = Head::parse(b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n").unwrap().unwrap();
        assert_eq!(head.body_length(), Err(BadRequest::Malformed));
    }
}
