//! How a completion is cut into the events of a stream, and what goes wrong in between.

use std::time::Duration;

use super::{
    ApiError, Completion, Gate,
    completion::FILLER,
    fault::Hold,
    part::{Chunk, Part},
    wire::StreamParts,
};

const PIECE_CHARS: usize = 8;

/// How a reply is streamed, when the request asks for a stream. A *piece* is an event with text; events without text
/// (role, usage, block starts) are sent but not counted. Defaults: pieces of 8 characters, or those of
/// [`Completion::pieces`]; no pauses; every event the format has.
///
/// ```
/// use backstop_mock::server::{ApiError, Completion, Reply, Streaming};
///
/// let breaks_in_the_middle = Reply::from(Completion::pieces(["one ", "two ", "three"]))
///     .streamed(Streaming::new().keep_alives(2).error_after(1, ApiError::overloaded()));
/// # let _ = breaks_in_the_middle;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "streaming options do nothing until they are in a reply"]
pub struct Streaming {
    pub(super) piece_chars: Option<usize>,
    pub(super) keep_alives: usize,
    pub(super) pause: Option<Duration>,
    pub(super) gates: Vec<(usize, Gate)>,
    pub(super) step: Option<Gate>,
    pub(super) stop: Option<(usize, Stop)>,
    pub(super) no_end: bool,
    pub(super) write_bytes: Option<usize>,
    pub(super) ignored: bool,
}

/// What comes instead of the rest of a stream.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    End,
    Error(Box<ApiError>),
}

impl Streaming {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts the text into pieces of so many characters (at least 1).
    pub fn piece_chars(mut self, chars: usize) -> Self {
        self.piece_chars = Some(chars.max(1));
        self
    }

    /// Sends so many signs of life before each piece: comments, at Anthropic pings. Gemini and Ollama send none.
    pub fn keep_alives(mut self, each: usize) -> Self {
        self.keep_alives = each;
        self
    }

    /// Pauses before each piece.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = Some(pause);
        self
    }

    /// Waits at the gate before piece `index`, counted from 0; the number of pieces means after the last one.
    pub fn gate_at(mut self, index: usize, gate: &Gate) -> Self {
        self.gates.push((index, gate.clone()));
        self
    }

    /// Waits at the same gate before every piece: with [`Gate::release_one`] a test steps through the stream.
    pub fn step(mut self, gate: &Gate) -> Self {
        self.step = Some(gate.clone());
        self
    }

    /// Ends the stream in good order for HTTP after so many pieces, without anything the format sends at the end.
    pub fn end_after(mut self, pieces: usize) -> Self {
        self.stop = Some((pieces, Stop::End));
        self
    }

    /// Sends an error event after so many pieces, and nothing after it.
    pub fn error_after(mut self, pieces: usize, error: ApiError) -> Self {
        self.stop = Some((pieces, Stop::Error(Box::new(error))));
        self
    }

    /// Leaves out what tells the client that the stream is complete: `[DONE]`, `response.completed`,
    /// `message_stop`, the line with `"done":true`, the bracket of Gemini's array. Gemini's events have no such thing.
    pub fn no_end(mut self) -> Self {
        self.no_end = true;
        self
    }

    /// Writes the events in chunks of exactly so many bytes (at least 1), across the borders of events and
    /// characters. Gates, pauses and the end flush a shorter one. `usize::MAX` writes everything in one chunk.
    pub fn write_bytes(mut self, bytes: usize) -> Self {
        self.write_bytes = Some(bytes.max(1));
        self
    }

    /// Answers in one piece although the request asks for a stream, as some compatible servers do.
    pub fn ignored(mut self) -> Self {
        self.ignored = true;
        self
    }

    /// The text of a completion in pieces.
    pub(super) fn pieces<'c>(&self, completion: &'c Completion) -> Vec<&'c str> {
        if let Some(pieces) = &completion.pieces {
            return pieces.iter().map(String::as_str).collect();
        }
        let chars = self.piece_chars.unwrap_or(PIECE_CHARS);
        let mut rest = completion.spoken();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let border = rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at);
            let (piece, more) = rest.split_at(border);
            pieces.push(piece);
            rest = more;
        }
        pieces
    }

    /// Puts the events into the order in which they are sent. `error` encodes an error after so many events.
    pub(super) fn arrange(
        &self,
        parts: StreamParts,
        filler: Option<u64>,
        error: impl Fn(&ApiError, usize) -> String,
    ) -> Vec<Part> {
        let mut line = Line { parts: Vec::new(), events: 0, filler };
        line.extend(parts.lead);
        let count = parts.pieces.len();
        let stop = self.stop.as_ref().map(|(after, stop)| ((*after).min(count), stop));
        let spoken = stop.as_ref().map_or(count, |(after, _)| *after);
        for (index, piece) in parts.pieces.into_iter().take(spoken).enumerate() {
            self.hold(index, &mut line);
            line.parts.extend(self.step.iter().map(|gate| Part::Hold(Hold::Gate(gate.clone()))));
            line.parts.extend(self.pause.map(|pause| Part::Hold(Hold::Time(pause))));
            line.keep_alive(parts.keep_alive, self.keep_alives);
            line.push(piece);
        }
        self.hold(spoken, &mut line);
        match stop {
            None => {
                line.extend(parts.tail);
                line.extend(parts.end.filter(|_| !self.no_end));
            }
            Some((_, Stop::End)) => {}
            Some((_, Stop::Error(what))) => {
                let event = error(what, line.events);
                line.push(event);
            }
        }
        match self.write_bytes {
            Some(bytes) => rewrite(line.parts, bytes),
            None => line.parts,
        }
    }

    fn hold(&self, index: usize, line: &mut Line) {
        let due = self.gates.iter().filter(|(at, _)| *at == index);
        line.parts.extend(due.map(|(_, gate)| Part::Hold(Hold::Gate(gate.clone()))));
    }
}

/// The events in order, with what is waited for in between.
struct Line {
    parts: Vec<Part>,
    events: usize,
    filler: Option<u64>,
}

impl Line {
    fn push(&mut self, event: String) {
        self.events += 1;
        self.parts.push(Part::Data(Chunk::fill_in(event, FILLER, self.filler)));
    }

    fn extend(&mut self, events: impl IntoIterator<Item = String>) {
        events.into_iter().for_each(|event| self.push(event));
    }

    /// Signs of life are no events: they take no number.
    fn keep_alive(&mut self, sign: &str, times: usize) {
        if !sign.is_empty() {
            let sign = || Part::Data(vec![Chunk::Bytes(sign.as_bytes().to_vec())]);
            self.parts.extend(std::iter::repeat_with(sign).take(times));
        }
    }
}

/// Cuts the data anew, every `bytes` bytes, between one wait and the next.
fn rewrite(parts: Vec<Part>, bytes: usize) -> Vec<Part> {
    let mut rewritten = Vec::new();
    let mut run = Vec::new();
    let flush = |run: &mut Vec<u8>, rewritten: &mut Vec<Part>| {
        rewritten.extend(run.chunks(bytes).map(|chunk| Part::Data(vec![Chunk::Bytes(chunk.to_vec())])));
        run.clear();
    };
    for part in parts {
        match part {
            Part::Data(chunks) if chunks.iter().all(|chunk| matches!(chunk, Chunk::Bytes(_))) => {
                for chunk in chunks {
                    if let Chunk::Bytes(bytes) = chunk {
                        run.extend(bytes);
                    }
                }
            }
            other => {
                flush(&mut run, &mut rewritten);
                rewritten.push(other);
            }
        }
    }
    flush(&mut run, &mut rewritten);
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_between_characters_and_lose_nothing() {
        let completion = Completion::text("naïve 日本語 👩‍👩‍👧");
        for chars in 1..20 {
            let pieces = Streaming::new().piece_chars(chars).pieces(&completion);
            assert_eq!(pieces.concat(), completion.spoken());
            let (last, full) = pieces.split_last().unwrap();
            assert!(full.iter().all(|piece| piece.chars().count() == chars));
            assert!((1..=chars).contains(&last.chars().count()));
        }
    }

    #[test]
    fn rewriting_keeps_the_bytes_and_crosses_the_borders_of_events() {
        let event = |text: &str| Part::Data(vec![Chunk::Bytes(text.as_bytes().to_vec())]);
        let gate = Gate::new();
        let parts = vec![event("aaa"), event("bb"), Part::Hold(Hold::Gate(gate)), event("cc")];
        let cut: Vec<_> = rewrite(parts, 4)
            .into_iter()
            .map(|part| match part {
                Part::Data(chunks) => match chunks.as_slice() {
                    [Chunk::Bytes(bytes)] => String::from_utf8(bytes.clone()).unwrap(),
                    other => panic!("{other:?}"),
                },
                Part::Hold(_) => "|".to_owned(),
            })
            .collect();
        assert_eq!(cut, ["aaab", "b", "|", "cc"]);
    }
}
