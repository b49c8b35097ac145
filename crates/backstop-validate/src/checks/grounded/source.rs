//! The input, and what of a value occurs in it.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use backstop_core::{Message, Part, Request, Role};
use serde_json::Value;

use super::{
    dates,
    leaves::Leaf,
    normal::{normal, occurs},
    numbers, runs,
};

/// Most bytes that are searched for all strings of a value together.
const MAX_SEARCHED: usize = 256 << 20;

/// The input in the forms in which it is searched.
pub(super) struct Source<'a> {
    texts: &'a [Cow<'a, str>],
    normal: String,
}

impl<'a> Source<'a> {
    pub(super) fn new(texts: &'a [Cow<'a, str>]) -> Self {
        let parts: Vec<String> = texts.iter().map(|text| normal(text)).collect();
        Self { texts, normal: parts.join(" ") }
    }
}

/// The user's texts since the model's last answer; `None` if there is none, or none but pictures.
pub(super) fn last_turn(request: &Request) -> Option<Vec<Cow<'_, str>>> {
    let is_models = |message: &Message| message.role == Role::Assistant;
    let start = request.messages.iter().rposition(is_models).map_or(0, |last| last + 1);
    texts(request.messages.get(start..).unwrap_or_default())
}

/// All texts of the user.
pub(super) fn conversation(request: &Request) -> Option<Vec<Cow<'_, str>>> {
    texts(&request.messages)
}

/// `None` if something was shown that is no text: it may say anything.
fn texts(messages: &[Message]) -> Option<Vec<Cow<'_, str>>> {
    let mut texts = Vec::new();
    for part in
        messages.iter().filter(|message| message.role == Role::User).flat_map(|message| &message.parts)
    {
        match part {
            Part::Text(text) => texts.push(Cow::Borrowed(text.as_str())),
            Part::ToolResult(result) => texts.push(Cow::Borrowed(result.content.as_str())),
            _ => return None,
        }
    }
    (!texts.is_empty()).then_some(texts)
}

/// Which leaves were judged, and which of them occur nowhere.
pub(super) struct Found<'l, 'a> {
    pub(super) judged: usize,
    pub(super) missing: Vec<&'l Leaf<'a>>,
}

/// Looks for all leaves. The input is read once for numbers and dates, and once for each string.
pub(super) fn find<'l, 'a>(source: &Source<'_>, leaves: &'l [Leaf<'a>]) -> Found<'l, 'a> {
    let mut seen: HashMap<&str, bool> = HashMap::new();
    let mut searched = 0_usize;
    // For each leaf whether it occurs; `None` if it was not looked for.
    let mut occur: Vec<Option<bool>> = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let Value::String(text) = leaf.value else {
            occur.push(Some(false));
            continue;
        };
        let known = seen.get(text.as_str()).copied();
        if known.is_none() {
            searched = searched.saturating_add(source.normal.len());
        }
        let found = known.or_else(|| (searched <= MAX_SEARCHED).then(|| says(source, text)));
        seen.extend(found.map(|found| (text.as_str(), found)));
        occur.push(found);
    }
    by_value(source, leaves, &mut occur);
    let judged = occur.iter().filter(|found| found.is_some()).count();
    let missing = leaves.iter().zip(&occur).filter(|(_, found)| **found == Some(false));
    Found { judged, missing: missing.map(|(leaf, _)| leaf).collect() }
}

fn says(source: &Source<'_>, text: &str) -> bool {
    let needle = normal(text);
    // Nothing but punctuation: compared as it stands.
    if needle.is_empty() {
        source.texts.iter().any(|input| input.contains(text.trim()))
    } else {
        occurs(&source.normal, &needle)
    }
}

/// What does not occur in the same words may occur as the same number or date.
fn by_value(source: &Source<'_>, leaves: &[Leaf<'_>], occur: &mut [Option<bool>]) {
    let (mut amounts, mut days) = (HashMap::<String, bool>::new(), HashMap::<dates::Date, bool>::new());
    let mut means = Vec::new();
    for (index, leaf) in leaves.iter().enumerate() {
        if occur.get(index) != Some(&Some(false)) {
            continue;
        }
        let meaning = Meaning::of(leaf.value);
        amounts.extend(meaning.amounts.iter().cloned().map(|amount| (amount, false)));
        days.extend(meaning.dates.iter().map(|date| (*date, false)));
        means.push((index, meaning));
    }
    if !amounts.is_empty() {
        for text in source.texts {
            numbers::read(runs::groups(text), |amount| {
                if let Some(found) = amounts.get_mut(amount) {
                    *found = true;
                }
            });
        }
    }
    if !days.is_empty() {
        let mut note = |date| {
            if let Some(found) = days.get_mut(&date) {
                *found = true;
            }
        };
        for text in source.texts {
            dates::read(text, "", &mut note);
        }
        dates::read("", &source.normal, note);
    }
    for (index, meaning) in means {
        let found = meaning.amounts.iter().any(|amount| amounts.get(amount) == Some(&true))
            || meaning.dates.iter().any(|date| days.get(date) == Some(&true));
        if let Some(slot) = occur.get_mut(index) {
            *slot = Some(found);
        }
    }
}

/// What a leaf may mean beside its words.
#[derive(Default)]
struct Meaning {
    amounts: HashSet<String>,
    dates: Vec<dates::Date>,
}

impl Meaning {
    fn of(value: &Value) -> Self {
        match value {
            Value::Number(number) => {
                Self { amounts: HashSet::from([numbers::of_number(number)]), dates: Vec::new() }
            }
            Value::String(text) => Self { amounts: amounts_of(text), dates: dates::of_text(text) },
            _ => Self::default(),
        }
    }
}

/// The amounts of a text that is one number with its unit: `EUR 1,234.50`, `12 %`. Only those that use all its digits.
fn amounts_of(text: &str) -> HashSet<String> {
    const LONGEST: usize = 32;
    let mut amounts = HashSet::new();
    let digits = text.chars().filter(char::is_ascii_digit).collect::<String>();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if text.len() > LONGEST || digits.is_empty() || letters > 3 || text.contains(['-', '/', ':']) {
        return amounts;
    }
    let wanted = digits.trim_matches('0');
    numbers::read(runs::groups(text), |amount| {
        if amount.replace('.', "").trim_matches('0') == wanted {
            amounts.insert(amount.to_owned());
        }
    });
    amounts
}
