//! Numbers by value, whatever their separators.

use std::collections::VecDeque;

use serde_json::Number;

use super::runs::Group;

/// Most groups of three digits that are read as one number.
const MAX_GROUPS: usize = 7;

/// A number's amount in plain digits: no sign, no leading zeros, no zeros after the last decimal.
pub(super) fn of_number(number: &Number) -> String {
    if let Some(whole) = number.as_u64() {
        return whole.to_string();
    }
    if let Some(whole) = number.as_i64() {
        return whole.unsigned_abs().to_string();
    }
    // Never in scientific notation, and the shortest text that gives the same number.
    let plain = number.as_f64().unwrap_or_default().abs().to_string();
    let (whole, decimals) = plain.split_once('.').unwrap_or((&plain, ""));
    amount(whole, decimals)
}

fn amount(whole: &str, decimals: &str) -> String {
    let (whole, decimals) = (whole.trim_start_matches('0'), decimals.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    if decimals.is_empty() { whole.to_owned() } else { format!("{whole}.{decimals}") }
}

/// A hundredth of an amount.
fn hundredth(of: &str) -> String {
    let (whole, decimals) = of.split_once('.').unwrap_or((of, ""));
    let padded = format!("{whole:0>3}");
    let (front, back) = padded.split_at(padded.len() - 2);
    amount(front, &format!("{back}{decimals}"))
}

/// Reads every amount that the groups of a text may mean: `1.234` is 1234 and 1.234 and 1 and 234.
pub(super) fn read(groups: impl Iterator<Item = Group>, mut found: impl FnMut(&str)) {
    let mut recent: VecDeque<Group> = VecDeque::with_capacity(MAX_GROUPS + 1);
    for group in groups {
        if group.separator.is_none() {
            recent.clear();
        }
        recent.push_back(group);
        if recent.len() > MAX_GROUPS {
            recent.pop_front();
        }
        ending_here(&recent, &mut found);
    }
}

/// The amounts that end with the last group.
fn ending_here(recent: &VecDeque<Group>, found: &mut impl FnMut(&str)) {
    let Some(last) = recent.back() else { return };
    let mut say = |amount: String| {
        found(&amount);
        if last.percent {
            found(&hundredth(&amount));
        }
    };
    say(amount(&last.digits, ""));
    let (Some(separator), true) = (last.separator, recent.len() > 1) else { return };
    // Thousands, joined backwards from the last group.
    let before = recent.len() - 1;
    joined(recent, recent.len(), &mut |whole| say(amount(whole, "")));
    if matches!(separator, '.' | ',') {
        if let Some(whole) = recent.get(before - 1) {
            say(amount(&whole.digits, &last.digits));
        }
        joined(recent, before, &mut |whole| say(amount(whole, &last.digits)));
    }
}

/// Whole numbers that end before group `end` and have separators for thousands.
fn joined(recent: &VecDeque<Group>, end: usize, say: &mut impl FnMut(&str)) {
    let Some(last) = end.checked_sub(1).and_then(|index| recent.get(index)) else { return };
    let Some(separator) = last.separator.filter(|c| !matches!(c, '-' | '/' | '年' | '月')) else { return };
    if last.digits.len() != 3 {
        return;
    }
    let mut whole = last.digits.clone();
    for index in (0..end - 1).rev() {
        let Some(group) = recent.get(index) else { return };
        if group.digits.len() > 3 {
            return;
        }
        whole.insert_str(0, &group.digits);
        say(&whole);
        // Groups of two are how lakhs and crores are written.
        let goes_on = group.separator == Some(separator) && group.digits.len() >= 2;
        if !goes_on {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::grounded::runs::groups;
    use serde_json::json;

    fn has(text: &str, wanted: &str) -> bool {
        let mut yes = false;
        read(groups(text), |amount| yes |= amount == wanted);
        yes
    }

    #[test]
    fn separators_of_every_kind_are_read() {
        for text in ["1234.5", "1,234.50", "1.234,50", "1 234,50", "1\u{202f}234,50", "1'234.50", "01234.500"]
        {
            assert!(has(text, "1234.5"), "{text}");
        }
        for text in ["1234567", "1,234,567", "1.234.567", "12,34,567", "１２３４５６７"] {
            assert!(has(text, "1234567"), "{text}");
        }
        assert!(has("1,234", "1234") && has("1,234", "1.234"));
        assert!(has("19 %", "19") && has("19 %", "0.19") && has("7.5%", "0.075") && has("250 %", "2.5"));
    }

    #[test]
    fn what_is_not_written_together_is_not_read_together() {
        assert!(!has("1, 234", "1234"));
        assert!(!has("1234 567", "1234567"));
        assert!(!has("5 and 6", "56"));
        assert!(!has("2024-03", "202403"));
    }

    #[test]
    fn amounts_of_numbers_have_one_form() {
        for (number, amount) in [
            (json!(-5), "5"),
            (json!(0), "0"),
            (json!(1e3), "1000"),
            (json!(0.10), "0.1"),
            (json!(1e-7), "0.0000001"),
        ] {
            assert_eq!(of_number(number.as_number().unwrap()), amount);
        }
    }
}
