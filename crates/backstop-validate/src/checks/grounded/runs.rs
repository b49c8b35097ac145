//! Groups of digits with what stands between them: numbers and numeric dates are read from these.

use super::normal::plain;

/// Some digits, and the character before them if only that one separates them from the group before.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) digits: String,
    /// `None` at the start of a run.
    pub(super) separator: Option<char>,
    /// A percent sign follows.
    pub(super) percent: bool,
}

/// Longest group that is kept. Longer ones are no numbers that anybody extracts.
const MAX_DIGITS: usize = 40;

/// All groups of a text, in order.
pub(super) fn groups(text: &str) -> impl Iterator<Item = Group> + '_ {
    let mut chars = text.chars().map(plain).peekable();
    // What has come since the last group: nothing, one separator, or too much.
    let (mut between, mut first) = (Vec::<char>::new(), true);
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            if !c.is_ascii_digit() {
                if between.len() < 2 {
                    between.push(c);
                }
                continue;
            }
            let mut digits = String::from(c);
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            let separator = match between.as_slice() {
                [one] if !first && is_separator(*one) => Some(*one),
                _ => None,
            };
            between.clear();
            first = false;
            let blank = chars.next_if(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}'));
            let percent = chars.next_if(|c| matches!(c, '%' | '٪'));
            between.extend(blank);
            between.extend(percent);
            if digits.len() <= MAX_DIGITS {
                return Some(Group { digits, separator, percent: percent.is_some() });
            }
            first = true;
        }
    })
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '-' | '/' | '年' | '月')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_know_what_separates_them() {
        let found: Vec<_> =
            groups("EUR 1.234,50 on 2024-03-05, 19 %").map(|g| (g.digits, g.separator, g.percent)).collect();
        let expected = [
            ("1", None, false),
            ("234", Some('.'), false),
            ("50", Some(','), false),
            ("2024", None, false),
            ("03", Some('-'), false),
            ("05", Some('-'), false),
            ("19", None, true),
        ];
        assert_eq!(
            found,
            expected.map(|(digits, separator, percent)| (digits.to_owned(), separator, percent))
        );
    }
}
