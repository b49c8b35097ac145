//! Names that differ only in how they are spelled.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The properties of a schema by their squashed names, made once for each of its objects that has strange keys.
#[derive(Default)]
pub(super) struct Spellings<'s>(HashMap<*const Map<String, Value>, BySquashed<'s>>);

/// Nothing for names that more than one property has.
type BySquashed<'s> = HashMap<String, Option<&'s str>>;

impl<'s> Spellings<'s> {
    /// The one property that is the name but for its spelling.
    pub(super) fn meant(&mut self, properties: &'s Map<String, Value>, name: &str) -> Option<&'s str> {
        let all = self.0.entry(properties).or_insert_with(|| {
            let mut all = BySquashed::new();
            for name in properties.keys() {
                all.entry(squash(name)).and_modify(|one| *one = None).or_insert(Some(name.as_str()));
            }
            all
        });
        let squashed = squash(name);
        if squashed.is_empty() { None } else { all.get(&squashed).copied().flatten() }
    }
}

/// A name without case, blanks, `_` and `-`.
fn squash(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-') && !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The index of the one candidate that is the name but for case and outer blanks; failing that, but for `_`, `-` and
/// inner blanks. `None` if there is none or more than one.
pub(super) fn same_name(name: &str, candidates: &[&str]) -> Option<usize> {
    let lower = name.trim().to_lowercase();
    if lower.is_empty() {
        return None;
    }
    let mut by_case = only(candidates, |c| c.to_lowercase() == lower);
    if by_case == Count::None {
        let squashed = squash(name);
        by_case = if squashed.is_empty() { Count::None } else { only(candidates, |c| squash(c) == squashed) };
    }
    match by_case {
        Count::One(index) => Some(index),
        Count::None | Count::Many => None,
    }
}

/// The index of the one candidate that occurs in the sentence as a word, in its own spelling or in lower case.
pub(super) fn named_in(sentence: &str, candidates: &[&str]) -> Option<usize> {
    let sentence = sentence.to_lowercase();
    let occurs = |candidate: &&str| {
        let word = candidate.to_lowercase();
        !word.is_empty()
            && sentence.match_indices(&word).any(|(at, _)| {
                let before = sentence.get(..at).and_then(|s| s.chars().next_back());
                let after = sentence.get(at + word.len()..).and_then(|s| s.chars().next());
                !before.is_some_and(is_word) && !after.is_some_and(is_word)
            })
    };
    match only(candidates, |c| occurs(&c)) {
        Count::One(index) => Some(index),
        Count::None | Count::Many => None,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

#[derive(PartialEq, Eq)]
enum Count {
    None,
    One(usize),
    Many,
}

fn only(candidates: &[&str], matches: impl Fn(&str) -> bool) -> Count {
    let mut found = Count::None;
    for (index, candidate) in candidates.iter().enumerate() {
        if matches(candidate) {
            match found {
                Count::None => found = Count::One(index),
                _ => return Count::Many,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_counts_only_if_it_is_unique() {
        assert_eq!(same_name(" PAID ", &["paid", "open"]), Some(0));
        assert_eq!(same_name("in progress", &["IN_PROGRESS", "done"]), Some(0));
        assert_eq!(same_name("one", &["One", "ONE"]), None);
        assert_eq!(same_name("ab", &["a_b", "a-b"]), None);
        assert_eq!(same_name("", &["", "x"]), None);
        assert_eq!(same_name("a-b", &["A_B", "a-B"]), Some(1));
    }

    #[test]
    fn a_sentence_names_a_value_only_if_it_names_one() {
        let values = ["ONE", "TWO"];
        assert_eq!(named_in("The answer is one.", &values), Some(0));
        assert_eq!(named_in("ONE, not TWO", &values), None);
        assert_eq!(named_in("someone", &values), None);
    }
}
