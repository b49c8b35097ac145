//! Server-sent events, decoded as they arrive.
//!
//! Follows the WHATWG rules (LF, CR or CRLF end a line, a byte order mark may come first, several `data` lines make one
//! text), with three additions that LLM vendors make necessary:
//!
//! - comments are reported, because a keep-alive is a sign of life but not of content;
//! - an event that lacks its final blank line is delivered when the stream has ended: whether it is whole is for the
//!   JSON parser to say;
//! - JSON outside the event format ([`SseItem::Stray`]) is kept: some servers put an error, or a whole unstreamed
//!   answer, straight into the body.
//!
//! ```
//! use backstop_http::{SseDecoder, SseItem, StreamLimits};
//!
//! let mut decoder = SseDecoder::new(StreamLimits::default());
//! decoder.push(b": ping\n\nevent: delta\ndata: {\"a\":");
//! decoder.push(b"1}\n\n");
//! assert_eq!(decoder.next_item(), Some(Ok(SseItem::Comment)));
//! let Some(Ok(SseItem::Event(event))) = decoder.next_item() else { panic!() };
//! assert_eq!((event.name.as_deref(), event.data.as_str()), (Some("delta"), "{\"a\":1}"));
//! assert_eq!(decoder.next_item(), None);
//! ```

use crate::lines::{DecodeError, LineEnd, Lines, Step, StreamLimits};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// The `event` field; `None` if there was none.
    pub name: Option<String>,
    /// The `data` lines, joined by LF. Never empty.
    pub data: String,
}

/// What a stream of server-sent events holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem {
    /// An event with data.
    Event(SseEvent),
    /// A comment line: the server is alive, and that is all it says.
    Comment,
    /// JSON that stands in the body outside any event.
    Stray(String),
}

/// Turns pieces of a body into [`SseItem`]s; how the body is cut into pieces makes no difference.
///
/// Push what arrives, then take items until there is none; say [`finish`](Self::finish) when the body has ended.
/// After an error there are no more items. Memory is bounded by [`StreamLimits::event`] plus the largest piece.
#[derive(Debug)]
pub struct SseDecoder {
    lines: Lines,
    limit: usize,
    begun: bool,
    finished: bool,
    failed: bool,
    event: Pending,
}

/// The event whose blank line has not come yet.
#[derive(Debug, Default)]
struct Pending {
    name: Option<String>,
    data: Option<String>,
    stray: Option<Stray>,
    bytes: usize,
}

/// JSON outside of events, until its brackets balance.
#[derive(Debug, Default)]
struct Stray {
    text: String,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl SseDecoder {
    /// A decoder for one body.
    pub fn new(limits: StreamLimits) -> Self {
        Self {
            lines: Lines::new(LineEnd::Any, limits),
            limit: limits.event,
            begun: false,
            finished: false,
            failed: false,
            event: Pending::default(),
        }
    }

    /// Takes the next piece of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The body has ended: what has begun is now complete, if it is anything.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next item, or `None` until more bytes have come.
    pub fn next_item(&mut self) -> Option<Result<SseItem, DecodeError>> {
        if self.failed {
            return None;
        }
        let item = self.advance();
        self.failed = item.is_err();
        item.transpose()
    }

    fn advance(&mut self) -> Result<Option<SseItem>, DecodeError> {
        if !self.begun {
            self.begun = self.lines.skip_prefix(BYTE_ORDER_MARK) || self.finished;
            if !self.begun {
                return Ok(None);
            }
        }
        loop {
            match self.lines.next_line() {
                Step::Line(line) => {
                    let item = self.event.line(line, self.limit)?;
                    if item.is_some() {
                        return Ok(item);
                    }
                }
                Step::Partial(bytes) => {
                    self.event.check(bytes, self.limit)?;
                    return self.rest();
                }
            }
        }
    }

    /// No whole line is left: more bytes may come, or the body has ended here.
    fn rest(&mut self) -> Result<Option<SseItem>, DecodeError> {
        if self.lines.over_total() {
            return Err(DecodeError::StreamTooLarge { limit: self.lines.total_limit() });
        }
        if !self.finished {
            return Ok(None);
        }
        let last = self.lines.take_rest();
        if !last.is_empty() {
            if let Some(item) = self.event.line(&last, self.limit)? {
                return Ok(Some(item));
            }
        }
        Ok(self.event.dispatch())
    }
}

impl Pending {
    fn check(&self, more: usize, limit: usize) -> Result<(), DecodeError> {
        if self.bytes.saturating_add(more) > limit {
            Err(DecodeError::EventTooLarge { limit })
        } else {
            Ok(())
        }
    }

    fn line(&mut self, line: &[u8], limit: usize) -> Result<Option<SseItem>, DecodeError> {
        self.check(line.len(), limit)?;
        if self.stray.is_some() || self.starts_stray(line) {
            self.bytes = self.bytes.saturating_add(line.len());
            return self.stray_line(text(line)?);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = field(line);
        if field.is_empty() {
            return Ok(Some(SseItem::Comment));
        }
        self.bytes = self.bytes.saturating_add(line.len());
        match field {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(text(value)?);
                }
                None => self.data = Some(text(value)?.to_owned()),
            },
            b"event" => self.name = Some(text(value)?.to_owned()),
            // `id` and `retry` are about reconnecting, which no LLM API offers; other fields are to be ignored.
            _ => {}
        }
        Ok(None)
    }

    fn starts_stray(&self, line: &[u8]) -> bool {
        let at_start = self.name.is_none() && self.data.is_none();
        at_start && matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
    }

    fn stray_line(&mut self, line: &str) -> Result<Option<SseItem>, DecodeError> {
        let stray = self.stray.get_or_insert_default();
        stray.push(line);
        Ok(if stray.depth == 0 { self.dispatch() } else { None })
    }

    /// What has been gathered, if that is an item; starts afresh in any case.
    fn dispatch(&mut self) -> Option<SseItem> {
        let done = std::mem::take(self);
        if let Some(stray) = done.stray {
            return Some(SseItem::Stray(stray.text));
        }
        let data = done.data.filter(|data| !data.is_empty())?;
        Some(SseItem::Event(SseEvent { name: done.name.filter(|name| !name.is_empty()), data }))
    }
}

impl Stray {
    fn push(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        for byte in line.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// Splits at the first colon; one space after it belongs to neither side.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
    let (name, value) = line.split_at_checked(colon).unwrap_or((line, b""));
    let value = value.strip_prefix(b":").unwrap_or(value);
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

fn text(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Decoded = Vec<Result<SseItem, DecodeError>>;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: StreamLimits) -> Decoded {
        let mut decoder = SseDecoder::new(limits);
        let mut items = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            items.extend(std::iter::from_fn(|| decoder.next_item()));
        }
        decoder.finish();
        items.extend(std::iter::from_fn(|| decoder.next_item()));
        items
    }

    fn whole(body: &[u8]) -> Decoded {
        decode([body], StreamLimits::default())
    }

    fn event(name: Option<&str>, data: &str) -> Result<SseItem, DecodeError> {
        Ok(SseItem::Event(SseEvent { name: name.map(str::to_owned), data: data.to_owned() }))
    }

    fn stray(text: &str) -> Result<SseItem, DecodeError> {
        Ok(SseItem::Stray(text.to_owned()))
    }

    const PING: Result<SseItem, DecodeError> = Ok(SseItem::Comment);

    #[test]
    fn bodies_and_what_they_hold() {
        let table: &[(&[u8], Decoded)] = &[
            (b"", vec![]),
            (b"\n\n\n", vec![]),
            (b"data: one\n\ndata: two\n\n", vec![event(None, "one"), event(None, "two")]),
            (
                b"data: a\r\n\r\ndata: b\r\rdata: c\n\n",
                vec![event(None, "a"), event(None, "b"), event(None, "c")],
            ),
            (b"data:tight\n\n", vec![event(None, "tight")]),
            (b"data:  two spaces\n\n", vec![event(None, " two spaces")]),
            (b"data: a: b\n\n", vec![event(None, "a: b")]),
            (b"data: 1\ndata: 2\n\n", vec![event(None, "1\n2")]),
            (b"data: 1\ndata\ndata: 3\n\n", vec![event(None, "1\n\n3")]),
            (b"event: delta\nid: 7\nretry: 10\nodd: x\ndata: {}\n\n", vec![event(Some("delta"), "{}")]),
            (b"event: lonely\n\ndata: x\n\n", vec![event(None, "x")]),
            (b"event:\ndata: x\n\n", vec![event(None, "x")]),
            (b"data:\n\ndata: x\n\n", vec![event(None, "x")]),
            (b": ping\n\n:\ndata: x\n: in between\ndata: y\n\n", vec![PING, PING, PING, event(None, "x\ny")]),
            (b"\xef\xbb\xbfdata: after the mark\n\n", vec![event(None, "after the mark")]),
            (b"data: \xef\xbb\xbfinside\n\n", vec![event(None, "\u{feff}inside")]),
            (b"data: no blank line", vec![event(None, "no blank line")]),
            (b"data: no blank line\n", vec![event(None, "no blank line")]),
            ("data: 日本 \u{2028}\u{85}\n\n".as_bytes(), vec![event(None, "日本 \u{2028}\u{85}")]),
            (b": caf\xe9\ndata: x\n\n", vec![PING, event(None, "x")]),
            (b"data: x\n\ndata: caf\xe9\n\ndata: y\n\n", vec![event(None, "x"), Err(DecodeError::NotUtf8)]),
        ];
        for (body, expected) in table {
            assert_eq!(&whole(body), expected, "{:?}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn json_outside_of_events_is_kept() {
        let table: &[(&[u8], Decoded)] = &[
            (b"{\"error\":\"x\"}", vec![stray("{\"error\":\"x\"}")]),
            (
                b"data: a\n\n{\n  \"error\": {\n\n \"m\": \"}\\\"\"\n  }\n}\ndata: b\n\n",
                vec![
                    event(None, "a"),
                    stray("{\n  \"error\": {\n\n \"m\": \"}\\\"\"\n  }\n}"),
                    event(None, "b"),
                ],
            ),
            (b"  [{\"error\": 1}]\r\n", vec![stray("  [{\"error\": 1}]")]),
            (b"{\"cut\": [1,", vec![stray("{\"cut\": [1,")]),
            (b"data: x\n{\"not\": \"stray\"}\n\n", vec![event(None, "x")]),
        ];
        for (body, expected) in table {
            assert_eq!(&whole(body), expected, "{:?}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn limits_are_exact_and_end_the_stream() {
        let body = b"data: 12\n\ndata: 1234567890\n\ndata: x\n\n";
        let limits = |event, total| StreamLimits::new(event, total);
        assert_eq!(decode([&body[..]], limits(16, 100)).len(), 3);
        let too_large = Err(DecodeError::EventTooLarge { limit: 15 });
        assert_eq!(decode([&body[..]], limits(15, 100)), [event(None, "12"), too_large]);
        let cut = Err(DecodeError::StreamTooLarge { limit: 20 });
        assert_eq!(decode([&body[..]], limits(100, 20)), [event(None, "12"), cut]);
        assert_eq!(decode([&body[..]], limits(100, body.len())).len(), 3);
    }

    #[test]
    fn an_endless_line_is_stopped_at_the_event_limit() {
        let mut decoder = SseDecoder::new(StreamLimits::new(1_000, usize::MAX));
        let mut pushed = 0;
        let error = loop {
            decoder.push(&[b'x'; 100]);
            pushed += 100;
            if let Some(item) = decoder.next_item() {
                break item;
            }
        };
        assert_eq!((error, pushed), (Err(DecodeError::EventTooLarge { limit: 1_000 }), 1_100));
        decoder.push(b"\n\ndata: x\n\n");
        decoder.finish();
        assert_eq!(decoder.next_item(), None);
    }

    #[test]
    fn keep_alives_without_blank_lines_never_count_as_one_event() {
        let body = b": keep-alive\n".repeat(1_000);
        assert_eq!(decode([&body[..]], StreamLimits::new(64, usize::MAX)), vec![PING; 1_000]);
    }

    /// Bodies made of the bytes that mean something, so that interesting borders are common.
    fn bodies() -> impl Strategy<Value = Vec<u8>> {
        let bits: Vec<&'static [u8]> = vec![
            b"data: ",
            b"data:",
            b"event: e",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b":",
            b"{",
            b"}",
            b"\"",
            b"\\",
            b"x",
            b"\xef\xbb\xbf",
            "\u{e9}".as_bytes(),
            b"\xe9",
            b"id",
            b" ",
        ];
        let known = proptest::collection::vec(proptest::sample::select(bits), 0..40).prop_map(|b| b.concat());
        prop_oneof![4 => known, 1 => proptest::collection::vec(any::<u8>(), 0..80)]
    }

    proptest! {
        #[test]
        fn the_cuts_make_no_difference(
            body in bodies(), event in 0usize..60, total in 0usize..120, cuts in proptest::collection::vec(0usize..120, 0..6),
        ) {
            let limits = StreamLimits::new(event, total);
            let expected = decode([&body[..]], limits);
            prop_assert_eq!(&decode(body.chunks(1), limits), &expected);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(body.len())).chain([0, body.len()]).collect();
            cuts.sort_unstable();
            prop_assert_eq!(&decode(cuts.windows(2).map(|w| &body[w[0]..w[1]]), limits), &expected);
        }
    }
}
