//! Newline-delimited JSON, decoded as it arrives.
//!
//! ```
//! use backstop_http::{NdjsonDecoder, StreamLimits};
//!
//! let mut decoder = NdjsonDecoder::new(StreamLimits::default());
//! decoder.push(b"{\"done\":false}\n{\"done\":");
//! assert_eq!(decoder.next_line(), Some(Ok("{\"done\":false}")));
//! assert_eq!(decoder.next_line(), None);
//! decoder.push(b"true}");
//! decoder.finish();
//! assert_eq!(decoder.next_line(), Some(Ok("{\"done\":true}")));
//! ```

use crate::lines::{DecodeError, LineEnd, Lines, Step, StreamLimits};

/// Turns pieces of a body into lines; how the body is cut into pieces makes no difference.
///
/// Push what arrives, then take lines until there is none; say [`finish`](Self::finish) when the body has ended, which
/// completes a last line without LF. Blank lines are passed over. After an error there are no more lines. Memory is
/// bounded by [`StreamLimits::event`], twice, plus the largest piece; a line takes none of its own.
#[derive(Debug)]
pub struct NdjsonDecoder {
    lines: Lines,
    limit: usize,
    finished: bool,
    failed: bool,
    /// The line that was given out last. Its memory is used again for the next one.
    line: String,
}

impl NdjsonDecoder {
    /// A decoder for one body.
    pub fn new(limits: StreamLimits) -> Self {
        let lines = Lines::new(LineEnd::Lf, limits);
        Self { lines, limit: limits.event, finished: false, failed: false, line: String::new() }
    }

    /// Takes the next piece of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The body has ended: what has come since the last LF is the last line.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next line that is not blank, or `None` until more bytes have come.
    pub fn next_line(&mut self) -> Option<Result<&str, DecodeError>> {
        if self.failed {
            return None;
        }
        self.line.clear();
        if let Err(error) = self.advance() {
            self.failed = true;
            return Some(Err(error));
        }
        (!self.line.is_empty()).then_some(Ok(&self.line))
    }

    /// Puts the next line into its place, if there is one.
    fn advance(&mut self) -> Result<(), DecodeError> {
        while self.line.is_empty() {
            match self.lines.next_line() {
                Step::Line(line) => self.line.push_str(text(line, self.limit)?),
                Step::Partial(bytes) => return self.rest(bytes),
            }
        }
        Ok(())
    }

    /// No whole line is left, `bytes` of one are: more may come, or the body has ended here.
    fn rest(&mut self, bytes: usize) -> Result<(), DecodeError> {
        if bytes > self.limit {
            return Err(DecodeError::EventTooLarge { limit: self.limit });
        }
        if self.lines.over_total() {
            return Err(DecodeError::StreamTooLarge { limit: self.lines.total_limit() });
        }
        if self.finished {
            self.line.push_str(text(&self.lines.take_rest(), self.limit)?);
        }
        Ok(())
    }
}

/// What of a line is not blank.
fn text(line: &[u8], limit: usize) -> Result<&str, DecodeError> {
    if line.len() > limit {
        return Err(DecodeError::EventTooLarge { limit });
    }
    let line = std::str::from_utf8(line).map_err(|_| DecodeError::NotUtf8)?;
    // A byte order mark at the start of the stream is not JSON either.
    Ok(line.trim_start_matches('\u{feff}').trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Decoded = Vec<Result<String, DecodeError>>;

    fn drain(decoder: &mut NdjsonDecoder, lines: &mut Decoded) {
        while let Some(line) = decoder.next_line() {
            lines.push(line.map(str::to_owned));
        }
    }

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: StreamLimits) -> Decoded {
        let mut decoder = NdjsonDecoder::new(limits);
        let mut lines = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            drain(&mut decoder, &mut lines);
        }
        decoder.finish();
        drain(&mut decoder, &mut lines);
        lines
    }

    #[test]
    fn bodies_and_their_lines() {
        let table: &[(&[u8], &[&str])] = &[
            (b"", &[]),
            (b"\n \r\n\n", &[]),
            (b"{}\n[]\n", &["{}", "[]"]),
            (b"{}\r\n[]", &["{}", "[]"]),
            (b"\xef\xbb\xbf{}\n", &["{}"]),
            ("{\"a\":\"日\u{2028}本\"}\n".as_bytes(), &["{\"a\":\"日\u{2028}本\"}"]),
            (b"{\r}\n", &["{\r}"]),
        ];
        for (body, expected) in table {
            let lines: Vec<_> =
                decode([*body], StreamLimits::default()).into_iter().map(Result::unwrap).collect();
            assert_eq!(&lines, expected, "{:?}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn limits_and_bad_bytes_end_the_stream() {
        let body = b"{}\n{\"a\":1}\n{}\n";
        let ok = || Ok("{}".to_owned());
        let table: &[(&[u8], StreamLimits, Decoded)] = &[
            (body, StreamLimits::new(7, 14), vec![ok(), Ok("{\"a\":1}".to_owned()), ok()]),
            (body, StreamLimits::new(6, 14), vec![ok(), Err(DecodeError::EventTooLarge { limit: 6 })]),
            (body, StreamLimits::new(7, 4), vec![ok(), Err(DecodeError::StreamTooLarge { limit: 4 })]),
            (b"{}\n\"\xe9\"\n{}\n", StreamLimits::default(), vec![ok(), Err(DecodeError::NotUtf8)]),
        ];
        for (body, limits, expected) in table {
            assert_eq!(&decode([*body], *limits), expected);
        }
    }

    proptest! {
        #[test]
        fn the_cuts_make_no_difference(
            body in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'{'), Just(b' '), Just(0xc3u8), Just(0xa9u8), any::<u8>()], 0..60),
            event in 0usize..40, total in 0usize..80, cut in 0usize..60,
        ) {
            let limits = StreamLimits::new(event, total);
            let expected = decode([&body[..]], limits);
            prop_assert_eq!(&decode(body.chunks(1), limits), &expected);
            let (head, tail) = body.split_at(cut.min(body.len()));
            prop_assert_eq!(&decode([head, tail], limits), &expected);
        }
    }
}
