//! The extractor: strategies in a fixed order, the cheapest and safest first.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use super::accept::{Accept, Fit};
use super::candidates::Scan;
use super::choose::{Choice, forbidden};
use super::cursor::Cursor;
use super::error::ExtractError;
use super::extracted::Extracted;
use super::found::{Candidate, Found, Reading, Source};
use super::policy::{Candidates, Limits, Policy};
use super::repair::{RepairKind, RepairLog};
use super::strict::{self, Stop};
use super::tolerant::{End, Options, Tolerant};

/// How many times over a document may have been made a JSON string: once by the model, once by what passed it on.
const MOST_ENCODINGS: usize = 2;

/// Gets the JSON out of the text a model wrote.
///
/// ```
/// use backstop_validate::json::Extractor;
///
/// let found = Extractor::new().extract("Sure!\n```json\n{\"total\": 12, // euros\n}\n```")?;
/// assert_eq!(found.value, serde_json::json!({"total": 12}));
/// let kinds: Vec<_> = found.repairs.iter().map(|repair| repair.kind.as_str()).collect();
/// assert_eq!(kinds, ["comment", "trailing_comma", "prose", "fence"]);
/// # Ok::<(), backstop_validate::json::ExtractError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Extractor {
    policy: Policy,
    candidates: Candidates,
    limits: Limits,
    checks: bool,
}

impl Default for Extractor {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            candidates: Candidates::default(),
            limits: Limits::default(),
            checks: true,
        }
    }
}

impl Extractor {
    /// An extractor with the default policy, [`Policy::Tolerant`], that refuses what is ambiguous.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much may be repaired.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// What to do when several different values would do.
    pub fn candidates(mut self, candidates: Candidates) -> Self {
        self.candidates = candidates;
        self
    }

    pub(crate) fn takes_last(&self) -> bool {
        self.candidates == Candidates::Last
    }

    /// The bounds of one extraction.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether keys that occur twice and integers that do not fit are looked for in a text that is valid JSON as a whole;
    /// on by default. Without, such a text is read by `serde_json` alone, a little faster: of equal keys the last one
    /// wins and an integer beyond 64 bits becomes a float, and neither is listed or refused. Any other text is read with
    /// checks.
    ///
    /// ```
    /// use backstop_validate::json::Extractor;
    ///
    /// let text = "{\"id\": 18446744073709551617}";
    /// let checked = Extractor::new().extract(text)?;
    /// assert_eq!(checked.value["id"], "18446744073709551617");
    /// let unchecked = Extractor::new().checks(false).extract(text)?;
    /// assert_eq!(unchecked.value["id"], 18446744073709551616.0);
    /// # Ok::<(), backstop_validate::json::ExtractError>(())
    /// ```
    pub fn checks(mut self, on: bool) -> Self {
        self.checks = on;
        self
    }

    /// Extracts the one JSON container of a text, or the text itself if it is JSON as a whole.
    ///
    /// # Errors
    /// [`ExtractError`] says why there is no value that the policy allows.
    pub fn extract(&self, text: &str) -> Result<Extracted, ExtractError> {
        self.run(text, None).0
    }

    /// Extracts the value that fits: as it is, or after coercions that the caller will make.
    ///
    /// ```
    /// use backstop_validate::json::Extractor;
    /// use serde_json::{Value, json};
    ///
    /// let wanted = |value: &Value| value.is_array();
    /// let found = Extractor::new().extract_fitting("First {\"a\": 1}, then [1, 2].", &wanted)?;
    /// assert_eq!(found.value, json!([1, 2]));
    /// # Ok::<(), backstop_validate::json::ExtractError>(())
    /// ```
    ///
    /// # Errors
    /// [`ExtractError`] says why there is no value that the policy allows and that fits.
    pub fn extract_fitting(&self, text: &str, accept: &dyn Accept) -> Result<Extracted, ExtractError> {
        self.run(text, Some(accept)).0
    }

    /// As [`Extractor::extract`], with the number of bytes looked at: at most 8 for each byte of the text, and 512.
    #[doc(hidden)]
    pub fn extract_counted(&self, text: &str) -> (Result<Extracted, ExtractError>, u64) {
        self.run(text, None)
    }

    fn run(&self, text: &str, accept: Option<&dyn Accept>) -> (Result<Extracted, ExtractError>, u64) {
        if text.len() > self.limits.max_bytes {
            return (Err(ExtractError::TooLong { len: text.len(), limit: self.limits.max_bytes }), 0);
        }
        let mut log = RepairLog::new(self.limits.max_repairs);
        let mut cursor = Cursor::new(text, 0);
        if text.starts_with('\u{feff}') {
            log.note(RepairKind::ByteOrderMark, 0, String::new);
            cursor.advance('\u{feff}'.len_utf8());
        }
        cursor.skip_json_blanks();
        if cursor.at_end() {
            return (Err(ExtractError::Empty), cursor.steps);
        }
        let start = cursor.pos;
        let outcome = match self.whole(&mut cursor, log.clone()) {
            Whole::Json(value, end, log) => self.whole_answer(value, start..end, log, accept),
            Whole::TooDeep(offset) => Err(self.too_deep(offset)),
            Whole::No { starts_valid } => {
                cursor.pos = start;
                return self.search(cursor, log, accept, starts_valid);
            }
        };
        (outcome, cursor.steps)
    }

    /// Strict JSON from the cursor to the end of the text.
    fn whole(&self, cursor: &mut Cursor<'_>, mut log: RepairLog) -> Whole {
        // serde_json has a limit of its own, the default one.
        if !self.checks && self.limits.depth() == Limits::MAX_DEPTH {
            let rest = cursor.text().get(cursor.pos..).unwrap_or_default();
            if let Ok(value) = serde_json::from_str(rest) {
                cursor.advance(rest.trim_end().len());
                return Whole::Json(value, cursor.pos, log);
            }
        }
        match strict::parse(cursor, self.limits.depth(), &mut log) {
            Ok(value) => {
                let end = cursor.pos;
                cursor.skip_json_blanks();
                if cursor.at_end() { Whole::Json(value, end, log) } else { Whole::No { starts_valid: true } }
            }
            Err(Stop::TooDeep(offset)) => Whole::TooDeep(offset),
            Err(Stop::Invalid(_)) => Whole::No { starts_valid: false },
        }
    }

    /// Valid JSON is final: only a string that holds the wanted document is opened, once.
    fn whole_answer(
        &self,
        value: Value,
        span: Range<usize>,
        mut log: RepairLog,
        accept: Option<&dyn Accept>,
    ) -> Result<Extracted, ExtractError> {
        if let Some(repair) = forbidden(self.policy, &log) {
            return Err(ExtractError::NotAllowed(repair));
        }
        let extracted = |value, log| Extracted::new(value, Source::Whole, span.clone(), log, None, 1);
        let Some(accept) = accept else { return Ok(extracted(value, log)) };
        if accept.fit(&value) == Fit::Exact {
            return Ok(extracted(value, log).with_fit(Fit::Exact));
        }
        if let (Value::String(text), false) = (&value, self.policy == Policy::Strict) {
            if let Some(inner) = self.encoded(text, &mut log) {
                if accept.fit(&inner) != Fit::No {
                    log.note(RepairKind::DoubleEncoded, span.start, String::new);
                    return Ok(extracted(inner, log));
                }
            }
        }
        if accept.fit(&value) == Fit::No {
            return Err(ExtractError::Mismatch(Box::new(extracted(value, log))));
        }
        Ok(extracted(value, log))
    }

    /// The container that a string holds as strict JSON, or that the string in that string holds.
    fn encoded(&self, text: &str, log: &mut RepairLog) -> Option<Value> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..MOST_ENCODINGS {
            let mut inner_log = RepairLog::new(self.limits.max_repairs);
            let mut cursor = Cursor::new(&text, 0);
            let value = strict::parse(&mut cursor, self.limits.depth(), &mut inner_log).ok()?;
            cursor.skip_json_blanks();
            match value {
                _ if !cursor.at_end() => return None,
                Value::Object(_) | Value::Array(_) => {
                    log.absorb(inner_log);
                    return Some(value);
                }
                Value::String(inner) => text = Cow::Owned(inner),
                _ => return None,
            }
        }
        None
    }

    /// Values inside other text.
    fn search(
        &self,
        cursor: Cursor<'_>,
        log: RepairLog,
        accept: Option<&dyn Accept>,
        starts_valid: bool,
    ) -> (Result<Extracted, ExtractError>, u64) {
        let start = cursor.pos;
        let text = cursor.text();
        let options = self.options(accept.is_some());
        let not_strict = (!starts_valid).then_some(start);
        let (mut found, mut steps) = Scan::new(cursor, self.limits, options, not_strict).run();
        if let Some(offset) = found.too_deep {
            return (Err(self.too_deep(offset)), steps);
        }
        if let (true, Some(_)) = (found.candidates.is_empty() && found.reasoning.is_none(), accept) {
            steps += self.loose_scalar(text, start, &mut found);
        }
        if found.candidates.is_empty() && found.reasoning.is_none() {
            call_argument(text, start, self.limits, &mut found);
        }
        let choice = Choice { policy: self.policy, candidates: self.candidates, accept };
        let outcome = choice.pick(found).map(|extracted| extracted.after(log.list));
        (outcome, steps)
    }

    /// A scalar that makes up the whole text, in a form JSON does not know: `True`, `'yes'`. Only a schema can say that
    /// it is an answer.
    fn loose_scalar(&self, text: &str, start: usize, found: &mut Found) -> u64 {
        const LONGEST: usize = 64;
        let trimmed = text.get(start..).unwrap_or_default().trim_end();
        let quoted = trimmed.starts_with(['\'', '"', '“', '‘', '`']);
        if trimmed.len() > LONGEST
            || !(quoted || trimmed.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-._".contains(&b)))
        {
            return 0;
        }
        // The blank marks the word's end; without it the text would count as cut.
        let padded = format!("{trimmed}\n");
        let log = RepairLog::new(self.limits.max_repairs);
        let mut parser = Tolerant::new(Cursor::new(&padded, 0), log, self.options(true));
        let end = parser.run();
        let stop = parser.cursor.pos;
        let steps = parser.cursor.steps;
        if let (End::Value(value), true) = (end, stop >= trimmed.len()) {
            if !parser.log.list.iter().any(|r| r.kind == RepairKind::UnquotedString) {
                let span = start..start + trimmed.len();
                found.candidates.push(Candidate::whole(span, Reading::Value(value), parser.log));
            }
        }
        steps
    }

    fn options(&self, has_schema: bool) -> Options {
        Options {
            max_depth: self.limits.depth(),
            guess: self.policy == Policy::Salvage,
            null_for_nan: has_schema,
        }
    }

    fn too_deep(&self, offset: usize) -> ExtractError {
        ExtractError::TooDeep { offset, limit: self.limits.depth() }
    }
}

/// `callback(false);`: a scalar as the argument of a call that makes up the whole text. Containers are found without
/// this.
fn call_argument(text: &str, start: usize, limits: Limits, found: &mut Found) {
    const LONGEST_NAME: usize = 64;
    let call = text.get(start..).unwrap_or_default().trim_end();
    let Some(open) = call.get(..call.len().min(LONGEST_NAME + 1)).and_then(|head| head.find('(')) else {
        return;
    };
    let name = call.get(..open).unwrap_or_default();
    let identifier = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
    let starts_well = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    let Some(argument) = call.trim_end_matches(';').strip_suffix(')').and_then(|c| c.get(open + 1..)) else {
        return;
    };
    if !identifier || !starts_well {
        return;
    }
    let mut log = RepairLog::new(limits.max_repairs);
    let mut cursor = Cursor::new(argument, 0);
    let Ok(value) = strict::parse(&mut cursor, limits.depth(), &mut log) else { return };
    cursor.skip_json_blanks();
    if cursor.at_end() {
        log.note(RepairKind::Prose, start, String::new);
        let from = start + open + 1;
        found.candidates.push(Candidate::whole(from..from + argument.len(), Reading::Value(value), log));
    }
}

/// What the whole text is.
enum Whole {
    Json(Value, usize, RepairLog),
    TooDeep(usize),
    /// A valid value may stand at the start all the same, with other text behind it.
    No {
        starts_valid: bool,
    },
}
