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
//! assert_eq!((event.name, event.data), (Some("delta"), "{\"a\":1}"));
//! assert_eq!(decoder.next_item(), None);
//! ```

use std::fmt;

use crate::lines::{DecodeError, LineEnd, Lines, Step, StreamLimits};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event, as its decoder holds it. `Debug` shows the size of its data only.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'a> {
    /// The `event` field; `None` if there was none.
    pub name: Option<&'a str>,
    /// The `data` lines, joined by LF. Never empty.
    pub data: &'a str,
}

/// What a stream of server-sent events holds. `Debug` shows no text of it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'a> {
    /// An event with data.
    Event(SseEvent<'a>),
    /// A comment line: the server is alive, and that is all it says.
    Comment,
    /// JSON that stands in the body outside any event.
    Stray(&'a str),
}

impl fmt::Debug for SseEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseEvent").field("name", &self.name).field("data_bytes", &self.data.len()).finish()
    }
}

impl fmt::Debug for SseItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Comment => f.write_str("Comment"),
            Self::Stray(text) => write!(f, "Stray({} bytes)", text.len()),
        }
    }
}

/// Turns pieces of a body into [`SseItem`]s; how the body is cut into pieces makes no difference.
///
/// Push what arrives, then take items until there is none; say [`finish`](Self::finish) when the body has ended.
/// After an error there are no more items. Memory is bounded by [`StreamLimits::event`], twice, plus the largest
/// piece; an event takes none of its own.
#[derive(Debug)]
pub struct SseDecoder {
    lines: Lines,
    limit: usize,
    begun: bool,
    finished: bool,
    failed: bool,
    event: Pending,
}

/// The event whose blank line has not come yet, or the item that was given out last. The memory of its texts is used
/// again for the next one.
#[derive(Default)]
struct Pending {
    /// Empty if there is none, which is the same to the standard.
    name: String,
    data: String,
    /// A `data` field has come, even if it was empty.
    has_data: bool,
    stray: Option<Stray>,
    bytes: usize,
    /// Given out: the next line begins afresh.
    done: bool,
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Which item the pending event has become.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Event,
    Comment,
    Stray,
}

/// JSON outside of events, until its brackets balance.
#[derive(Debug, Default)]
struct Stray {
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
    pub fn next_item(&mut self) -> Option<Result<SseItem<'_>, DecodeError>> {
        if self.failed {
            return None;
        }
        match self.advance() {
            Ok(kind) => Some(Ok(self.event.item(kind?))),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }

    fn advance(&mut self) -> Result<Option<Kind>, DecodeError> {
        if !self.begun {
            self.begun = self.lines.skip_prefix(BYTE_ORDER_MARK) || self.finished;
            if !self.begun {
                return Ok(None);
            }
        }
        self.event.begin();
        loop {
            match self.lines.next_line() {
                Step::Line(line) => {
                    let kind = self.event.line(line, self.limit)?;
                    if kind.is_some() {
                        return Ok(kind);
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
    fn rest(&mut self) -> Result<Option<Kind>, DecodeError> {
        if self.lines.over_total() {
            return Err(DecodeError::StreamTooLarge { limit: self.lines.total_limit() });
        }
        if !self.finished {
            return Ok(None);
        }
        let last = self.lines.take_rest();
        if !last.is_empty() {
            if let Some(kind) = self.event.line(&last, self.limit)? {
                return Ok(Some(kind));
            }
        }
        Ok(self.event.dispatch())
    }
}

impl Pending {
    /// Starts afresh if the last item was given out.
    fn begin(&mut self) {
        if self.done {
            self.name.clear();
            self.data.clear();
            (self.has_data, self.stray, self.bytes, self.done) = (false, None, 0, false);
        }
    }

    fn check(&self, more: usize, limit: usize) -> Result<(), DecodeError> {
        if self.bytes.saturating_add(more) > limit {
            Err(DecodeError::EventTooLarge { limit })
        } else {
            Ok(())
        }
    }

    fn line(&mut self, line: &[u8], limit: usize) -> Result<Option<Kind>, DecodeError> {
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
            return Ok(Some(Kind::Comment));
        }
        self.bytes = self.bytes.saturating_add(line.len());
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(text(value)?);
            }
            b"event" => {
                self.name.clear();
                self.name.push_str(text(value)?);
            }
            // `id` and `retry` are about reconnecting, which no LLM API offers; other fields are to be ignored.
            _ => {}
        }
        Ok(None)
    }

    fn starts_stray(&self, line: &[u8]) -> bool {
        let at_start = self.name.is_empty() && !self.has_data;
        at_start && matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
    }

    fn stray_line(&mut self, line: &str) -> Result<Option<Kind>, DecodeError> {
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(line);
        let stray = self.stray.get_or_insert_default();
        stray.read(line);
        Ok(if stray.depth == 0 { self.dispatch() } else { None })
    }

    /// What has been gathered, if that is an item. The next line starts afresh in any case.
    fn dispatch(&mut self) -> Option<Kind> {
        self.done = true;
        let kind = if self.stray.is_some() { Kind::Stray } else { Kind::Event };
        if self.data.is_empty() {
            self.begin();
            return None;
        }
        Some(kind)
    }

    fn item(&self, kind: Kind) -> SseItem<'_> {
        let name = (!self.name.is_empty()).then_some(self.name.as_str());
        match kind {
            Kind::Event => SseItem::Event(SseEvent { name, data: &self.data }),
            Kind::Comment => SseItem::Comment,
            Kind::Stray => SseItem::Stray(&self.data),
        }
    }
}

impl Stray {
    fn read(&mut self, line: &str) {
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

    /// An item that outlives its decoder.
    #[derive(Clone, Debug, PartialEq)]
    enum Item {
        Event(Option<String>, String),
        Comment,
        Stray(String),
    }

    type Decoded = Vec<Result<Item, DecodeError>>;

    fn drain(decoder: &mut SseDecoder, items: &mut Decoded) {
        while let Some(item) = decoder.next_item() {
            items.push(item.map(|item| match item {
                SseItem::Event(event) => Item::Event(event.name.map(str::to_owned), event.data.to_owned()),
                SseItem::Comment => Item::Comment,
                SseItem::Stray(text) => Item::Stray(text.to_owned()),
            }));
        }
    }

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: StreamLimits) -> Decoded {
        let mut decoder = SseDecoder::new(limits);
        let mut items = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            drain(&mut decoder, &mut items);
        }
        decoder.finish();
        drain(&mut decoder, &mut items);
        items
    }

    fn whole(body: &[u8]) -> Decoded {
        decode([body], StreamLimits::default())
    }

    fn event(name: Option<&str>, data: &str) -> Result<Item, DecodeError> {
        Ok(Item::Event(name.map(str::to_owned), data.to_owned()))
    }

    fn stray(text: &str) -> Result<Item, DecodeError> {
        Ok(Item::Stray(text.to_owned()))
    }

    const PING: Result<Item, DecodeError> = Ok(Item::Comment);

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
            (b"event: a\nevent: b\ndata: x\n\ndata: y\n\n", vec![event(Some("b"), "x"), event(None, "y")]),
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
            (b"id: 7\n{}\ndata: b\n\n", vec![stray("{}"), event(None, "b")]),
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
                break item.err();
            }
        };
        assert_eq!((error, pushed), (Some(DecodeError::EventTooLarge { limit: 1_000 }), 1_100));
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
