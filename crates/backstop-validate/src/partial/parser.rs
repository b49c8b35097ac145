//! Text in pieces to a value that grows.

use std::{fmt, mem};

use super::finder::{Finder, Found};
use crate::json::{
    Limits,
    growth::{NOTHING, PartialValue, Tree},
    plausible::Place,
    tolerant::{End, Tolerant},
};

/// A stalled step is tried again once the text has grown by a quarter of what it has looked at, or at once if that is not
/// more than this many bytes.
const SHORT: usize = 64;

/// What one piece of text has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// JSON pointers (RFC 6901) of the leaves that have come, grown or been finished and of the containers that have opened
    /// or closed, in order.
    pub pointers: Vec<String>,
    /// Whether something that was shown before is void: another document has begun, all so far was reasoning, or a key
    /// was given again. What is shown now is in the value alone.
    pub cleared: bool,
}

impl Changes {
    /// Whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty() && !self.cleared
    }
}

/// Reads JSON out of text that comes in pieces; see the [module](crate::partial). `Debug` shows sizes, never the text.
#[derive(Default)]
pub struct PartialParser {
    text: String,
    /// How many pieces it came in.
    pieces: usize,
    limits: Limits,
    finder: Finder,
    mode: Mode,
    /// Which complete documents are kept.
    keeps: Option<Box<Keeps>>,
    /// The document that was shown last and is no longer read.
    shown: PartialValue,
    /// Where in the text the document begins that is shown.
    start: Option<usize>,
    /// Steps of the documents that are no longer read.
    steps: u64,
    /// How long the text must be for another try.
    retry_at: usize,
}

type Keeps = dyn Fn(&PartialValue) -> bool + Send + Sync;

#[derive(Default)]
enum Mode {
    /// Between documents.
    #[default]
    Search,
    Document(Box<Document>),
    /// Only a tag that makes all so far reasoning still matters.
    Tags,
    Stopped,
}

/// A document that is being read.
struct Document {
    parser: Tolerant<'static>,
    start: usize,
    place: Place,
    /// Whether it is what is shown.
    shown: bool,
}

impl PartialParser {
    /// A parser with the default [`Limits`]: 16 MiB of text, 127 levels of nesting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bounds of text and nesting. What lies beyond them is not shown.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps the first complete document for which this holds, so that none that follows takes its place. It is asked
    /// once for each document that is shown and complete, before the text behind that is looked at. Default: the last
    /// document is shown.
    ///
    /// ```
    /// use backstop_validate::partial::PartialParser;
    ///
    /// let mut parser = PartialParser::new().keep_when(|value| value.get("total").is_some());
    /// parser.push("{\"example\": true} {\"total\": 9.5} {\"note\": \"VAT included\"}");
    /// assert!(parser.value().get("total").is_some());
    /// ```
    #[must_use]
    pub fn keep_when(mut self, keeps: impl Fn(&PartialValue) -> bool + Send + Sync + 'static) -> Self {
        self.keeps = Some(Box::new(keeps));
        self
    }

    /// Takes the next piece of the text.
    pub fn push(&mut self, piece: &str) -> Changes {
        if matches!(self.mode, Mode::Stopped) {
            return Changes::default();
        }
        if self.text.len() + piece.len() > self.limits.max_bytes {
            self.stop();
            return Changes::default();
        }
        self.text.push_str(piece);
        self.pieces += 1;
        if self.text.len() < self.retry_at {
            return Changes::default();
        }
        self.read(false)
    }

    /// Reads what waits for more text to pay for another look: nothing more may come, and nothing says that this is the
    /// end of the text.
    pub(crate) fn catch_up(&mut self) -> Changes {
        self.read(false)
    }

    /// The text has come to its end, which may finish what its end decides. What is growing then was cut off.
    pub fn finish(&mut self) -> Changes {
        let changes = self.read(true);
        self.stop();
        changes
    }

    /// What there is so far.
    #[must_use]
    pub fn value(&self) -> &PartialValue {
        match &self.mode {
            Mode::Document(document) if document.shown => document.parser.tree().map_or(&NOTHING, Tree::root),
            _ => &self.shown,
        }
    }

    /// Whether what is shown is a document that is closed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.value().is_finished()
    }

    /// Where in the text the document begins that is shown.
    #[doc(hidden)]
    #[must_use]
    pub fn start(&self) -> Option<usize> {
        self.start
    }

    /// The number of bytes looked at so far.
    #[doc(hidden)]
    #[must_use]
    pub fn steps(&self) -> u64 {
        let document = match &self.mode {
            Mode::Document(document) => document.parser.cursor.steps,
            _ => 0,
        };
        self.steps + self.finder.steps + document
    }

    fn read(&mut self, ended: bool) -> Changes {
        let mut changes = Changes::default();
        loop {
            let goes_on = match mem::take(&mut self.mode) {
                Mode::Search => self.search(&mut changes),
                Mode::Document(document) => self.document(document, ended, &mut changes),
                Mode::Tags => self.tags(&mut changes),
                Mode::Stopped => {
                    self.mode = Mode::Stopped;
                    false
                }
            };
            if !goes_on {
                break;
            }
        }
        // No text but one made for it comes near to this: each piece may have a few short steps taken again.
        let allowed = 16 * self.text.len() + 4 * SHORT * self.pieces + 4096;
        if self.steps() > allowed as u64 {
            self.stop();
        }
        changes
    }

    fn search(&mut self, changes: &mut Changes) -> bool {
        match self.finder.next(&self.text) {
            Found::More => {
                self.retry_after(self.finder.pos);
                return false;
            }
            Found::Reasoned => self.clear(changes),
            Found::Hidden => self.mode = Mode::Tags,
            Found::Document(start, place) => {
                let parser = Tolerant::growing("", start, self.limits);
                self.mode = Mode::Document(Box::new(Document { parser, start, place, shown: false }));
            }
        }
        true
    }

    fn tags(&mut self, changes: &mut Changes) -> bool {
        let found = self.finder.next_closing_tag(&self.text);
        if found == Found::Reasoned {
            self.clear(changes);
            return true;
        }
        self.mode = Mode::Tags;
        false
    }

    /// What was shown was reasoning.
    fn clear(&mut self, changes: &mut Changes) {
        self.start = None;
        if !mem::take(&mut self.shown).is_nothing() {
            *changes = Changes { pointers: Vec::new(), cleared: true };
        }
    }

    fn document(&mut self, document: Box<Document>, ended: bool, changes: &mut Changes) -> bool {
        let Document { parser, start, place, mut shown } = *document;
        let mut parser = parser.over(&self.text);
        let end = parser.advance(start, ended);
        let (pos, committed) = (parser.cursor.pos, parser.committed);
        let mut parser = parser.over("");
        let complete = matches!(end, Some(End::Value(_)));
        if let Some(tree) = parser.tree_mut() {
            let firm = committed || place == Place::Start || complete && !may_be_prose(tree.root());
            if firm && !mem::replace(&mut shown, true) {
                self.clear(changes);
                self.start = Some(start);
            }
            if shown {
                let (pointers, replaced) = tree.take_changes();
                changes.pointers.extend(pointers);
                changes.cleared |= replaced;
            }
        }
        let Some(end) = end else {
            self.retry_after(pos);
            self.mode = Mode::Document(Box::new(Document { parser, start, place, shown }));
            return false;
        };
        self.steps += parser.cursor.steps;
        self.shown = if shown { parser.into_root() } else { mem::take(&mut self.shown) };
        match end {
            End::Value(_) => {
                self.finder.pass(pos);
                if shown && self.keeps.as_ref().is_some_and(|keeps| keeps(&self.shown)) {
                    self.mode = Mode::Tags;
                }
            }
            End::Cut { .. } => self.mode = Mode::Stopped,
            _ if !committed && place == Place::Prose => self.finder.pass_bracket(start),
            _ => {
                self.finder.pass(start);
                self.mode = Mode::Tags;
            }
        }
        true
    }

    /// Nothing is read until the text has grown enough to pay for looking again from `pos` on.
    fn retry_after(&mut self, pos: usize) {
        let looked = self.text.len().saturating_sub(pos);
        self.retry_at = if looked > SHORT { self.text.len() + looked / 4 } else { 0 };
    }

    /// Nothing more will be shown.
    fn stop(&mut self) {
        if let Mode::Document(document) = mem::replace(&mut self.mode, Mode::Stopped) {
            self.steps += document.parser.cursor.steps;
            if document.shown {
                self.shown = document.parser.into_root();
            }
        }
        self.text = String::new();
    }
}

/// A citation such as `[1]`, or an empty bracket, as it stands in prose.
fn may_be_prose(value: &PartialValue) -> bool {
    let scalar = |item: &PartialValue| item.as_array().is_none() && item.members().is_none();
    match (value.as_array(), value.members()) {
        (Some(items), _) => items.len() < 2 && items.iter().all(scalar),
        (_, Some(members)) => members.len() == 0,
        _ => true,
    }
}

impl fmt::Debug for PartialParser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialParser")
            .field("bytes", &self.text.len())
            .field("pieces", &self.pieces)
            .field("value", self.value())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_text_nor_keys_nor_values() {
        let mut parser = PartialParser::new();
        parser.push("{\"secret\": [\"secret\", 4711], \"more\": \"sec");
        let shown = format!("{parser:?}");
        assert!(!shown.contains("sec") && !shown.contains("4711"), "{shown}");
        assert!(shown.contains("an object of 2"), "{shown}");
    }
}
