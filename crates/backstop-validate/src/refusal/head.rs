//! The start of an answer in a form that rules can match: folded, lower-case, without quotations.
//!
//! A refusal stands at the start, so only a few hundred characters are looked at. Each byte of the folded text knows
//! which bytes of the original it came from, so that evidence can point into the text the caller has.

use std::ops::Range;

/// Source characters read per character of head at most: quotations and markup are dropped on the way.
const SOURCE_PER_HEAD: usize = 4;
/// Source characters read beyond the window at first, which is enough where little is dropped.
const MARGIN: usize = 60;
/// A quotation of fewer characters is a word or a title, not an answer in quotation marks.
const SHORTEST_ANSWER: usize = 8;
/// The longest quotation that is taken for one, in characters.
const LONGEST_QUOTE: usize = 400;
/// A list that starts within this many characters is the answer itself, not what follows a preamble.
const PREAMBLE: usize = 15;
/// The most sentences a rule can ask for.
const SENTENCES: usize = 4;

/// One character on its way from the text to the head.
#[derive(Clone, Copy)]
struct Cell {
    char: char,
    start: usize,
    end: usize,
}

/// The folded start of an answer.
pub(crate) struct Head {
    text: String,
    /// For each byte of `text`, the bytes of the character it came from.
    origins: Vec<(usize, usize)>,
    /// Ends of the first sentences.
    sentences: Vec<usize>,
}

impl Head {
    /// Folds the first `window` characters of `text`.
    pub(crate) fn new(text: &str, window: usize) -> Self {
        let first = window.saturating_add(MARGIN);
        let cells = read(text, first);
        let whole = cells.len() < first;
        // Whether a quotation mark opens or closes may only be known further on.
        if whole || cells.iter().all(|cell| cell.char != '"') {
            let head = Self::of(cells, text, window);
            if whole || head.text.chars().count() >= window {
                return head;
            }
        }
        Self::of(read(text, window.saturating_mul(SOURCE_PER_HEAD)), text, window)
    }

    fn of(mut cells: Vec<Cell>, text: &str, window: usize) -> Self {
        unwrap_quotation(&mut cells, text);
        let cells = drop_quotations(cells);
        let (text, origins) = flatten(cut_at_list(&cells), window);
        let sentences = sentence_ends(&text);
        Self { text, origins, sentences }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The first `count` sentences.
    pub(crate) fn sentences(&self, count: usize) -> &str {
        let end = count.checked_sub(1).and_then(|last| self.sentences.get(last)).copied();
        self.text.get(..end.unwrap_or(self.text.len())).unwrap_or(&self.text)
    }

    /// Where in the original text a part of the head came from.
    pub(crate) fn origin(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.origins.get(part.start);
        let end = part.end.checked_sub(1).and_then(|last| self.origins.get(last));
        match (start, end) {
            (Some(&(start, _)), Some(&(_, end))) if part.start < part.end => start..end,
            _ => 0..0,
        }
    }

    /// Overwrites parts with spaces; lengths and origins stay.
    pub(crate) fn blank(&mut self, parts: &[Range<usize>]) {
        for part in parts {
            let width = part.len();
            if self.text.get(part.clone()).is_some() {
                self.text.replace_range(part.clone(), &" ".repeat(width));
            }
        }
    }
}

/// Folds a phrase the way heads are folded, so that the two can be compared.
pub(crate) fn fold_phrase(phrase: &str) -> String {
    let cells = read(phrase, phrase.len());
    flatten(&cells, phrase.len()).0
}

fn read(text: &str, limit: usize) -> Vec<Cell> {
    let start = answer_start(text);
    let answer = text.get(start..).unwrap_or_default();
    let lead = answer.len() - answer.trim_start().len();
    let mut cells = Vec::with_capacity(limit.min(answer.len()));
    for (at, char) in answer.char_indices().skip_while(|(at, _)| *at < lead) {
        if cells.len() >= limit {
            break;
        }
        if let Some(folded) = fold(char) {
            cells.push(Cell { char: folded, start: start + at, end: start + at + char.len_utf8() });
        }
    }
    cells
}

/// Where the answer starts: behind a leading block of reasoning, if there is one.
pub(crate) fn answer_start(text: &str) -> usize {
    let trimmed = text.trim_start();
    let lead = text.len() - trimmed.len();
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<analysis>", "</analysis>"),
    ] {
        if trimmed.starts_with(open) {
            // Reasoning that never ends leaves no answer to judge.
            return trimmed.find(close).map_or(text.len(), |at| lead + at + close.len());
        }
    }
    0
}

/// One spelling for apostrophes, quotation marks and spaces; `None` for characters without width.
fn fold(char: char) -> Option<char> {
    match char {
        ascii if ascii.is_ascii() => Some(ascii),
        '\u{2019}' | '\u{2018}' | '\u{02bc}' | '\u{2032}' | '\u{00b4}' | '\u{ff07}' => Some('\''),
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{00ab}' | '\u{00bb}' | '\u{300c}' | '\u{300d}'
        | '\u{300e}' | '\u{300f}' | '\u{ff02}' => Some('"'),
        '\u{00a0}' | '\u{202f}' | '\u{3000}' | '\u{2009}' => Some(' '),
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{00ad}' => None,
        other => Some(other),
    }
}

/// An answer that is one quotation is the model speaking after all.
fn unwrap_quotation(cells: &mut Vec<Cell>, text: &str) {
    let open = cells.iter().take_while(|cell| matches!(cell.char, '*' | '_' | '~')).count();
    if cells.get(open).is_none_or(|cell| cell.char != '"') {
        return;
    }
    let inside = cells.iter().skip(open + 1).position(|cell| cell.char == '"');
    let Some(close) = inside.map(|length| open + 1 + length) else { return };
    let closing = cells.get(close).map_or(0, |cell| cell.end);
    let most_of_it = closing.saturating_mul(10) >= text.trim_end().len().saturating_mul(6);
    if close - open > SHORTEST_ANSWER && most_of_it {
        cells.remove(close);
        cells.remove(open);
    }
}

/// Removes what stands in double quotation marks or in a Markdown quotation: that is content, not the model speaking.
/// Single quotation marks stay, they are also apostrophes.
fn drop_quotations(cells: Vec<Cell>) -> Vec<Cell> {
    if cells.iter().all(|cell| cell.char != '"' && cell.char != '>') {
        return cells;
    }
    let mut kept = Vec::with_capacity(cells.len());
    let mut line_start = true;
    let mut at = 0;
    while let Some(cell) = cells.get(at) {
        let rest = cells.get(at + 1..).unwrap_or_default();
        if cell.char == '"' {
            let close = rest.iter().take(LONGEST_QUOTE).position(|c| c.char == '"' || c.char == '\n');
            let quoted = close.filter(|&to| to > 0 && rest.get(to).is_some_and(|c| c.char == '"'));
            kept.push(*cell);
            if let Some(closing) = quoted.and_then(|to| rest.get(to)) {
                kept.push(*closing);
            }
            at += quoted.map_or(1, |to| to + 2);
            line_start = false;
            continue;
        }
        if line_start && cell.char == '>' {
            let line = rest.iter().take_while(|c| c.char != '\n').count();
            if !kept.is_empty() || own_words_follow(rest.get(line..).unwrap_or_default()) {
                at += 1 + line;
                continue;
            }
        }
        line_start = cell.char == '\n' || (line_start && cell.char == ' ');
        kept.push(*cell);
        at += 1;
    }
    kept
}

/// Whether a line that is no Markdown quotation comes next.
fn own_words_follow(cells: &[Cell]) -> bool {
    let mut lines = cells.split(|cell| cell.char == '\n');
    lines.any(|line| {
        line.iter().find(|cell| !cell.char.is_whitespace()).is_some_and(|first| first.char != '>')
    })
}

/// What stands before the first item of a list: items are content.
fn cut_at_list(cells: &[Cell]) -> &[Cell] {
    for (at, _) in cells.iter().enumerate().filter(|(_, cell)| cell.char == '\n') {
        let line = cells.get(at + 1..).unwrap_or_default();
        if at > PREAMBLE && starts_list_item(line.iter().map(|cell| cell.char)) {
            return cells.get(..at).unwrap_or(cells);
        }
    }
    cells
}

/// Whether a line starts as a bullet (`- x`, `* x`, `• x`) or a number (`1. x`, `2) x`).
pub(crate) fn starts_list_item(line: impl Iterator<Item = char>) -> bool {
    let mut line = line.skip_while(|&char| char == ' ' || char == '\t').peekable();
    let mut digits = 0;
    while line.next_if(char::is_ascii_digit).is_some() {
        digits += 1;
    }
    let marked = match line.next() {
        Some('-' | '*' | '•') => digits == 0,
        Some('.' | ')') => (1..=3).contains(&digits),
        _ => false,
    };
    marked && line.next() == Some(' ') && line.next().is_some_and(|char| !char.is_whitespace())
}

/// Drops emphasis, collapses space, lower-cases, and stops at `window` characters.
fn flatten(cells: &[Cell], window: usize) -> (String, Vec<(usize, usize)>) {
    let mut text = String::with_capacity(window.min(cells.len()) * 2);
    let mut origins = Vec::with_capacity(text.capacity());
    let mut characters = 0;
    let mut space = false;
    for cell in cells {
        if matches!(cell.char, '*' | '_' | '#' | '>' | '~') {
            continue;
        }
        if cell.char.is_whitespace() {
            space = !text.is_empty();
            continue;
        }
        if characters >= window {
            break;
        }
        if space {
            text.push(' ');
            origins.push((cell.start, cell.start));
            characters += 1;
            space = false;
        }
        if cell.char.is_ascii() {
            text.push(cell.char.to_ascii_lowercase());
            origins.push((cell.start, cell.end));
            characters += 1;
            continue;
        }
        for lower in cell.char.to_lowercase() {
            text.push(lower);
            origins.extend(std::iter::repeat_n((cell.start, cell.end), lower.len_utf8()));
        }
        characters += 1;
    }
    (text, origins)
}

/// Where the first sentences end. A full stop inside a number or an abbreviation without a space ends none.
fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(SENTENCES);
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let ends_here = match char {
            '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' => next.is_none_or(|next| next == ' ' || next == '"' || next == ')'),
            _ => false,
        };
        if ends_here && !next.is_some_and(|next| matches!(next, '.' | '!' | '?' | '。' | '！' | '？')) {
            ends.push(at + char.len_utf8());
            if ends.len() == SENTENCES {
                break;
            }
        }
    }
    ends
}
