//! Newline-delimited JSON, decoded as it arrives.
//!
//! ```
//! use backstop_http::{NdjsonDecoder, StreamLimits};
//!
//! let mut decoder = NdjsonDecoder::new(StreamLimits::default());
//! decoder.push(b"{\"done\":false}\n{\"done\":");
//! assert_eq!(decoder.next_line(), Some(Ok("{\"done\":false}".to_owned())));
//! assert_eq!(decoder.next_line(), None);
//! decoder.push(b"true}");
//! decoder.finish();
//! assert_eq!(decoder.next_line(), Some(Ok("{\"done\":true}".to_owned())));
//! ```

use crate::lines::{DecodeError, LineEnd, Lines, Step, StreamLimits};

/// Turns pieces of a body into lines; how the body is cut into pieces makes no difference.
///
/// Push what arrives, then take lines until there is none; say [`finish`](Self::finish) when the body has ended, which
/// completes a last line without LF. Blank lines are passed over. After an error there are no more lines. Memory is
/// bounded by [`StreamLimits::event`] plus the largest piece.
#[derive(Debug)]
pub struct NdjsonDecoder {
    lines: Lines,
    limit: usize,
    finished: bool,
    failed: bool,
}

impl NdjsonDecoder {
    /// A decoder for one body.
    pub fn new(limits: StreamLimits) -> Self {
        Self { lines: Lines::new(LineEnd::Lf, limits), limit: limits.event, finished: false, failed: false }
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
    pub fn next_line(&mut self) -> Option<Result<String, DecodeError>> {
        if self.failed {
            return None;
        }
        let line = self.advance();
        self.failed = line.is_err();
        line.transpose()
    }

    fn advance(&mut self) -> Result<Option<String>, DecodeError> {
        loop {
            match self.lines.next_line() {
                Step::Line(line) => {
                    let line = text(line, self.limit)?;
                    if line.is_some() {
                        return Ok(line);
                    }
                }
                Step::Partial(bytes) => return self.rest(bytes),
            }
        }
    }

    /// No whole line is left, `bytes` of one are: more may come, or the body has ended here.
    fn rest(&mut self, bytes: usize) -> Result<Option<String>, DecodeError> {
        if bytes > self.limit {
            return Err(DecodeError::EventTooLarge { limit: self.limit });
        }
        if self.lines.over_total() {
            return Err(DecodeError::StreamTooLarge { limit: self.lines.total_limit() });
        }
        if self.finished { text(&self.lines.take_rest(), self.limit) } else { Ok(None) }
    }
}

fn text(line: &[u8], limit: usize) -> Result<Option<String>, DecodeError> {
    if line.len() > limit {
        return Err(DecodeError::EventTooLarge { limit });
    }
    let line = std::str::from_utf8(line).map_err(|_| DecodeError::NotUtf8)?;
    // A byte order mark at the start of the stream is not JSON either.
    let line = line.trim_start_matches('\u{feff}').trim_ascii();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Decoded = Vec<Result<String, DecodeError>>;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: StreamLimits) -> Decoded {
        let mut decoder = NdjsonDecoder::new(limits);
        let mut lines = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            lines.extend(std::iter::from_fn(|| decoder.next_line()));
        }
        decoder.finish();
        lines.extend(std::iter::from_fn(|| decoder.next_line()));
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
