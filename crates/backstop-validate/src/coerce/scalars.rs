//! Scalars into other scalars.

use serde_json::{Number, Value};

use super::schema::Type;
use super::{CoercionKind, Mode};

/// A converted value and how it was converted.
pub(super) type Converted = (Value, CoercionKind);

/// Brings a scalar to one of the types, the most telling first.
pub(super) fn convert(value: &Value, types: &[Type], mode: Mode) -> Option<Converted> {
    const ORDER: [Type; 5] = [Type::Integer, Type::Number, Type::Boolean, Type::Null, Type::String];
    let eager = mode == Mode::Eager;
    let wanted = ORDER.into_iter().filter(|t| types.contains(t));
    match value {
        Value::String(text) => {
            let text = text.trim();
            wanted
                .clone()
                .find_map(|t| from_text(text, t, types))
                .or_else(|| wanted.clone().filter(|_| eager).find_map(|t| from_likely_text(text, t)))
        }
        Value::Number(number) => wanted.clone().find_map(|t| from_number(number, t, eager)),
        _ => None,
    }
}

fn from_text(text: &str, wanted: Type, types: &[Type]) -> Option<Converted> {
    match wanted {
        Type::Integer => integer(text).or_else(|| {
            // `3.0`, where a plain number would not do.
            let whole = text
                .split_once('.')
                .filter(|(_, zeros)| zeros.bytes().all(|b| b == b'0') && !zeros.is_empty())?
                .0;
            if types.contains(&Type::Number) { None } else { integer(whole) }
        }),
        Type::Number => number(text).or_else(|| grouped(text)),
        Type::Boolean => match text {
            "true" | "True" | "TRUE" => Some((Value::Bool(true), CoercionKind::StringToBool)),
            "false" | "False" | "FALSE" => Some((Value::Bool(false), CoercionKind::StringToBool)),
            _ => None,
        },
        Type::Null => matches!(text, "null" | "None").then_some((Value::Null, CoercionKind::StringToNull)),
        Type::String | Type::Array | Type::Object => None,
    }
}

/// An integer that prints as the same text: no sign, zero or digit is lost.
fn integer(text: &str) -> Option<Converted> {
    let number: Number = match text.parse::<u64>() {
        Ok(n) => n.into(),
        Err(_) => text.parse::<i64>().ok()?.into(),
    };
    (number.to_string() == text).then_some((Value::Number(number), CoercionKind::StringToNumber))
}

/// A JSON number without exponent.
fn number(text: &str) -> Option<Converted> {
    if let Some(integer) = integer(text) {
        return Some(integer);
    }
    let (whole, fraction) = text.split_once('.')?;
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    let canonical = digits(unsigned) && (unsigned.len() == 1 || !unsigned.starts_with('0'));
    // More digits than an `f64` keeps would be lost.
    if !canonical || !digits(fraction) || unsigned.len() + fraction.trim_end_matches('0').len() > 15 {
        return None;
    }
    let number = Number::from_f64(text.parse().ok()?)?;
    Some((Value::Number(number), CoercionKind::StringToNumber))
}

fn from_number(number: &Number, wanted: Type, eager: bool) -> Option<Converted> {
    match wanted {
        Type::Integer => whole(number).map(|n| (Value::Number(n), CoercionKind::FloatToInteger)),
        Type::String if !number.is_f64() => {
            Some((Value::String(number.to_string()), CoercionKind::IntegerToString))
        }
        Type::String if eager => Some((Value::String(number.to_string()), CoercionKind::FloatToString)),
        Type::Boolean if eager => match number.as_u64() {
            Some(0) => Some((Value::Bool(false), CoercionKind::WordToBool)),
            Some(1) => Some((Value::Bool(true), CoercionKind::WordToBool)),
            _ => None,
        },
        _ => None,
    }
}

/// The integer that a float is exactly.
fn whole(number: &Number) -> Option<Number> {
    // Beyond 2^53 neighbouring integers share a float, so the text may have named another one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= EXACT)?;
    format!("{float:.0}").parse::<i64>().ok().map(Number::from)
}

/// What is likely, but an opinion.
fn from_likely_text(text: &str, wanted: Type) -> Option<Converted> {
    match wanted {
        Type::Boolean => match text.to_ascii_lowercase().as_str() {
            "yes" | "y" | "on" | "1" => Some((Value::Bool(true), CoercionKind::WordToBool)),
            "no" | "n" | "off" | "0" => Some((Value::Bool(false), CoercionKind::WordToBool)),
            _ => None,
        },
        Type::Integer => {
            let (Value::Number(number), _) = likely_number(text)? else { return None };
            let number = if number.is_f64() { whole(&number)? } else { number };
            Some((Value::Number(number), CoercionKind::TextToNumber))
        }
        Type::Number => likely_number(text).map(|(value, _)| (value, CoercionKind::TextToNumber)),
        _ => None,
    }
}

/// `$1,234.50`, `12,000`, `1/5`. Not `50%`: that may be 50 or 0.5.
fn likely_number(text: &str) -> Option<Converted> {
    if let Some((above, below)) = text.split_once('/') {
        let (above, below) = (above.trim().parse::<u32>().ok()?, below.trim().parse::<u32>().ok()?);
        let quotient = Number::from_f64(f64::from(above) / f64::from(below))?;
        return Some((Value::Number(quotient), CoercionKind::TextToNumber));
    }
    let (sign, body) = text.strip_prefix('-').map_or(("", text), |body| ("-", body));
    let body = body.trim_start_matches(['$', '€', '£', '¥']).trim_start();
    let (value, _) = ungrouped(sign, body)?;
    Some((value, CoercionKind::TextToNumber))
}

/// `-2,000.00`: with a decimal point behind, commas can only group the thousands.
fn grouped(text: &str) -> Option<Converted> {
    let (sign, body) = text.strip_prefix('-').map_or(("", text), |body| ("-", body));
    if !(body.contains(',') && body.contains('.')) {
        return None;
    }
    let (value, _) = ungrouped(sign, body)?;
    Some((value, CoercionKind::GroupedNumber))
}

/// A number whose thousands may be grouped with commas.
fn ungrouped(sign: &str, body: &str) -> Option<Converted> {
    let (whole, fraction) = body.split_once('.').map_or((body, None), |(w, f)| (w, Some(f)));
    let groups: Vec<&str> = whole.split(',').collect();
    let grouped = groups.iter().skip(1).all(|g| g.len() == 3)
        && groups.first().is_some_and(|g| !g.is_empty() && g.len() <= 3);
    if groups.len() > 1 && !grouped {
        return None;
    }
    let point = if fraction.is_some() { "." } else { "" };
    number(&format!("{sign}{}{point}{}", groups.concat(), fraction.unwrap_or_default()))
}
