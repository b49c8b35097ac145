//! Dates by day, whatever their form.

use std::collections::VecDeque;

use super::runs::{Group, groups};

/// Year, month, day.
pub(super) type Date = (u16, u8, u8);

/// Month names and their common short forms: English, German, French, Spanish, Italian, Portuguese, Dutch. Short forms
/// of three letters are those of English, which most of the others share.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "janv", "enero", "gennaio", "janeiro", "januari"],
    &["february", "feb", "februar", "février", "févr", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "mar", "märz", "mars", "marzo", "março", "maart", "mrt"],
    &["april", "apr", "avril", "avr", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "julho"],
    &["august", "aug", "août", "agosto", "augustus"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &["december", "dec", "dezember", "dez", "décembre", "déc", "diciembre", "dicembre", "dezembro"],
];

/// Every date that a text may mean: `03/04/2024` is two.
pub(super) fn read(text: &str, normal: &str, mut found: impl FnMut(Date)) {
    numeric(groups(text), &mut found);
    named(normal, &mut found);
}

fn numeric(groups: impl Iterator<Item = Group>, found: &mut impl FnMut(Date)) {
    let mut recent: VecDeque<Group> = VecDeque::with_capacity(4);
    for group in groups {
        if group.separator.is_none() {
            recent.clear();
        }
        compact(&group.digits, found);
        recent.push_back(group);
        if recent.len() > 3 {
            recent.pop_front();
        }
        let [a, b, c] = recent.make_contiguous() else { continue };
        let same = match (b.separator, c.separator) {
            (Some('年'), Some('月')) => true,
            (Some(first), Some(second)) => first == second && matches!(first, '-' | '/' | '.'),
            _ => false,
        };
        if same {
            triple(&a.digits, &b.digits, &c.digits, found);
        }
    }
}

/// `20240305`.
fn compact(digits: &str, found: &mut impl FnMut(Date)) {
    let parts = (digits.len() == 8).then(|| (digits.get(..4), digits.get(4..6), digits.get(6..)));
    if let Some((Some(year), Some(month), Some(day))) = parts {
        say(year, month, day, found);
    }
}

fn triple(a: &str, b: &str, c: &str, found: &mut impl FnMut(Date)) {
    match (a.len(), c.len()) {
        (4, _) => say(a, b, c, found),
        (_, 4) => {
            say(c, b, a, found);
            say(c, a, b, found);
        }
        (_, 2) => {
            for century in ["19", "20"] {
                let year = format!("{century}{c}");
                say(&year, b, a, found);
                say(&year, a, b, found);
            }
            for century in ["19", "20"] {
                say(&format!("{century}{a}"), b, c, found);
            }
        }
        _ => {}
    }
}

fn say(year: &str, month: &str, day: &str, found: &mut impl FnMut(Date)) {
    if let (Ok(year), Ok(month), Ok(day)) = (year.parse(), month.parse(), day.parse()) {
        if (1..=12).contains(&month) && (1..=31).contains(&day) {
            found((year, month, day));
        }
    }
}

/// Dates with a month name, in a normal text: `5 march 2024`, `march 5th 2024`, `5 de marzo de 2024`.
fn named(normal: &str, found: &mut impl FnMut(Date)) {
    /// Words between day, month and year.
    const FILL: [&str; 6] = ["of", "de", "del", "di", "the", "den"];
    let mut words = normal.split(' ').filter(|word| !FILL.contains(word));
    let (mut before, mut here) = ("", words.next().unwrap_or_default());
    let mut ahead: VecDeque<&str> = words.by_ref().take(2).collect();
    while !here.is_empty() {
        if let Some(month) = month(here) {
            let (next, after) = (ahead.front().copied(), ahead.get(1).copied());
            let mut say = |day: Option<&str>, year: Option<&str>| {
                if let (Some(day), Some(year)) = (day.and_then(day_of), year.and_then(year_of)) {
                    found((year, month, day));
                }
            };
            say(Some(before), next);
            say(next, after);
        }
        before = here;
        here = ahead.pop_front().unwrap_or_default();
        ahead.extend(words.next());
    }
}

fn month(word: &str) -> Option<u8> {
    let index = MONTHS.iter().position(|names| names.contains(&word))?;
    u8::try_from(index + 1).ok()
}

/// `5`, `05`, `5th`, `1er`.
fn day_of(word: &str) -> Option<u8> {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let suffix = word.len() - digits.len();
    let day: u8 = digits.parse().ok()?;
    ((1..=31).contains(&day) && suffix <= 2).then_some(day)
}

fn year_of(word: &str) -> Option<u16> {
    (word.len() == 4).then(|| word.parse().ok()).flatten()
}

/// The dates that a value may mean if it is a date and nothing else, a time aside.
pub(super) fn of_text(text: &str) -> Vec<Date> {
    let mut dates = Vec::new();
    let day =
        text.split_once(['T', 't']).filter(|(day, _)| day.len() == 10).map_or(text, |(day, _)| day).trim();
    if day.len() > 32 {
        return dates;
    }
    let normal = super::normal::normal(day);
    // Three parts, or eight digits: a sentence with a date in it is no date.
    let parts = normal.split(' ').count();
    if parts == 3 || (day.len() == 8 && day.bytes().all(|b| b.is_ascii_digit())) {
        read(day, &normal, |date| dates.push(date));
    }
    dates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(text: &str) -> Vec<Date> {
        let mut dates = Vec::new();
        read(text, &super::super::normal::normal(text), |date| dates.push(date));
        dates
    }

    #[test]
    fn common_forms_are_read() {
        for text in [
            "2024-03-05",
            "2024/3/5",
            "5.3.2024",
            "05/03/2024",
            "03/05/2024",
            "05.03.24",
            "20240305",
            "2024年3月5日",
            "5 March 2024",
            "March 5th, 2024",
            "Mar 5, 2024",
            "the 5th of March, 2024",
            "5. März 2024",
            "le 5 mars 2024",
            "5 de marzo de 2024",
            "on 2024-03-05T10:00:00Z",
        ] {
            assert!(dates(text).contains(&(2024, 3, 5)), "{text}: {:?}", dates(text));
        }
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in ["1.2.3", "2024-13-05", "10/20", "March of the penguins 2024", "192.168.20.24"] {
            assert_eq!(dates(text), [], "{text}");
        }
    }

    #[test]
    fn a_value_is_a_date_only_as_a_whole() {
        assert_eq!(of_text("2024-03-05T10:30:00+01:00"), [(2024, 3, 5)]);
        assert_eq!(of_text("March 5, 2024"), [(2024, 3, 5)]);
        assert!(of_text("paid on March 5, 2024 in cash").is_empty());
    }
}
