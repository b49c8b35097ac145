//! Numbers. An integer is never squeezed through a float: what fits neither `i64`, `u64` nor a float *exactly* keeps
//! its digits as text, and the caller hears of it.

use serde_json::{Number, Value};

/// What the text of a number stands for.
#[derive(Debug, PartialEq)]
pub(crate) enum Numeral {
    Exact(Number),
    /// An integer that no [`Number`] holds without loss: its digits.
    Wide(String),
    /// A float beyond the range of `f64`.
    Overflow,
}

impl Numeral {
    /// The value, and whether it needs a repair entry because the type had to change.
    pub(crate) fn into_value(self) -> Option<(Value, bool)> {
        match self {
            Self::Exact(number) => Some((Value::Number(number), false)),
            Self::Wide(digits) => Some((Value::String(digits), true)),
            Self::Overflow => None,
        }
    }
}

/// The end of the longest JSON number at the start of `bytes`, and whether it has a fraction or an exponent.
/// `None` if no number is there or it breaks off (`-`, `1.`, `2e`).
pub(crate) fn json_number(bytes: &[u8]) -> Option<(usize, bool)> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at = match bytes.get(at)? {
        b'0' => at + 1,
        b'1'..=b'9' => digits(bytes, at),
        _ => return None,
    };
    let mut float = false;
    if bytes.get(at) == Some(&b'.') {
        let end = digits(bytes, at + 1);
        if end == at + 1 {
            return None;
        }
        (at, float) = (end, true);
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(bytes, at + 1 + sign);
        if end == at + 1 + sign {
            return None;
        }
        (at, float) = (end, true);
    }
    Some((at, float))
}

fn digits(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Reads a text that [`json_number`] has accepted as a whole.
pub(crate) fn read_json_number(text: &str, float: bool) -> Numeral {
    if float { read_float(text) } else { read_integer(text) }
}

fn read_integer(text: &str) -> Numeral {
    // As serde_json does: an integer type has no negative zero.
    if text == "-0" {
        return read_float(text);
    }
    if let Ok(n) = text.parse::<u64>() {
        return Numeral::Exact(n.into());
    }
    if let Ok(n) = text.parse::<i64>() {
        return Numeral::Exact(n.into());
    }
    wide_integer(text)
}

fn wide_integer(text: &str) -> Numeral {
    // 10^308 is the largest power of ten an `f64` reaches, so longer texts need no look.
    if text.len() <= 310 {
        if let Ok(float) = text.parse::<f64>() {
            if format!("{float:.0}") == text {
                if let Some(number) = Number::from_f64(float) {
                    return Numeral::Exact(number);
                }
            }
        }
    }
    Numeral::Wide(text.to_owned())
}

fn read_float(text: &str) -> Numeral {
    text.parse::<f64>().ok().and_then(Number::from_f64).map_or(Numeral::Overflow, Numeral::Exact)
}

/// How a bare word of a messy document reads as a number.
#[derive(Debug, PartialEq)]
pub(crate) enum Loose {
    /// A JSON number.
    Plain(Numeral),
    /// A number in a form JSON does not know: `+1`, `.5`, `5.`, `1_000`.
    Form(Numeral),
    /// A number that breaks off: `2e`, `1.5e-`, `-`. The part before the break, if any.
    Broken(Option<Numeral>),
    /// Not a number: dates, versions, fractions, identifiers with leading zeros.
    Word,
}

/// Reads a bare word as a number, if it is one in a form with a single reading.
pub(crate) fn read_loose(word: &str) -> Loose {
    if let Some((end, float)) = json_number(word.as_bytes()) {
        if end == word.len() {
            return Loose::Plain(read_json_number(word, float));
        }
    }
    if !word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'_' | b'e' | b'E')) {
        return Loose::Word;
    }
    let Some(normal) = normal_form(word) else { return Loose::Word };
    if let Some((end, float)) = json_number(normal.as_bytes()) {
        if end == normal.len() {
            // `5.` at the very end of a text is a cut; the caller knows where the word ends.
            return Loose::Form(read_json_number(&normal, float));
        }
    }
    broken(&normal)
}

/// The word with `_` between digits, a leading `+`, and bare points put right. `None` if `_` lies elsewhere.
fn normal_form(word: &str) -> Option<String> {
    let (sign, body) = match word.as_bytes().first() {
        Some(b'+') => ("", word.get(1..)?),
        Some(b'-') => ("-", word.get(1..)?),
        _ => ("", word),
    };
    let bytes = body.as_bytes();
    let mut out = String::with_capacity(word.len() + 2);
    out.push_str(sign);
    if bytes.first() == Some(&b'.') && bytes.get(1).is_some_and(u8::is_ascii_digit) {
        out.push('0');
    }
    for (i, c) in body.char_indices() {
        let before = i.checked_sub(1).and_then(|j| bytes.get(j));
        let after = bytes.get(i + 1);
        let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
        match c {
            '_' if digit(before) && digit(after) => {}
            '_' => return None,
            '.' if digit(before) && !digit(after) => {
                if !matches!(after, None | Some(b'e' | b'E')) {
                    return None;
                }
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

fn broken(normal: &str) -> Loose {
    if normal == "-" || normal.is_empty() {
        return Loose::Broken(None);
    }
    let stem = normal.trim_end_matches(['+', '-']);
    let stem = stem.strip_suffix(['e', 'E']).unwrap_or(stem);
    if stem.len() == normal.len() {
        return Loose::Word;
    }
    match json_number(stem.as_bytes()) {
        Some((end, float)) if end == stem.len() && !stem.is_empty() => {
            Loose::Broken(Some(read_json_number(stem, float)))
        }
        _ => Loose::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(loose: Loose) -> Value {
        match loose {
            Loose::Plain(n) | Loose::Form(n) => n.into_value().unwrap().0,
            other => panic!("not a number: {other:?}"),
        }
    }

    #[test]
    fn integers_keep_every_digit() {
        assert_eq!(value(read_loose("18446744073709551615")), json!(u64::MAX));
        assert_eq!(value(read_loose("-9223372036854775808")), json!(i64::MIN));
        assert_eq!(value(read_loose("9007199254740993")), json!(9_007_199_254_740_993_u64));
        assert_eq!(value(read_loose("18446744073709551617")), json!("18446744073709551617"));
        assert_eq!(value(read_loose("100000000000000000000")), json!(1e20));
        assert_eq!(read_loose(&"9".repeat(400)), Loose::Plain(Numeral::Wide("9".repeat(400))));
    }

    #[test]
    fn odd_forms_with_one_reading_are_numbers() {
        for (text, number) in [
            ("+1", json!(1)),
            (".5", json!(0.5)),
            ("-.5e2", json!(-50.0)),
            ("5.", json!(5)),
            ("1_000.2_5", json!(1000.25)),
        ] {
            assert!(matches!(read_loose(text), Loose::Form(_)), "{text}");
            assert_eq!(value(read_loose(text)), number, "{text}");
        }
    }

    #[test]
    fn words_that_only_look_like_numbers_stay_words() {
        for text in [
            "007",
            "-05",
            "1.1.1",
            "10-20",
            "1/3",
            "2024-01-02",
            "1__0",
            "_1",
            "12a",
            "0x10",
            "e5",
            "-e5",
            "+",
        ] {
            assert!(
                matches!(read_loose(text), Loose::Word | Loose::Broken(None)),
                "{text}: {:?}",
                read_loose(text)
            );
        }
    }

    #[test]
    fn a_number_that_breaks_off_is_no_number() {
        assert_eq!(read_loose("2e"), Loose::Broken(Some(Numeral::Exact(2.into()))));
        assert_eq!(read_loose("2e+"), Loose::Broken(Some(Numeral::Exact(2.into()))));
        assert_eq!(read_loose("-"), Loose::Broken(None));
    }

    #[test]
    fn floats_are_read_to_the_nearest_value_and_never_become_infinite() {
        assert_eq!(value(read_loose("0.1")), json!(0.1));
        assert_eq!(value(read_loose("5.7777")).as_f64(), Some(5.7777));
        assert_eq!(read_loose("1e999"), Loose::Plain(Numeral::Overflow));
    }
}
