//! What was found instead, in words: with its value for the model, without it for everybody else.

use serde_json::Value;

/// Longest value that is quoted, in characters.
const MAX_QUOTE: usize = 60;

/// The type of a value: `a string`, `an array of 3`, …
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) if number.is_f64() => "a number".to_owned(),
        Value::Number(_) => "an integer".to_owned(),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A scalar as JSON, shortened; a container by its type.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => kind(value),
        Value::String(text) => match text.char_indices().nth(MAX_QUOTE) {
            Some((end, _)) => {
                let start = text.get(..end).unwrap_or_default();
                format!("{} (cut, {} characters)", Value::String(start.to_owned()), text.chars().count())
            }
            None => value.to_string(),
        },
        scalar => scalar.to_string(),
    }
}

/// A text up to so many characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A name in backticks, shortened.
pub(super) fn name(name: &str) -> String {
    format!("`{}`", shortened(name, MAX_QUOTE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_are_quoted_and_shortened() {
        assert_eq!(quoted(&json!("a\"b")), r#""a\"b""#);
        assert_eq!(quoted(&json!([1, 2])), "an array of 2");
        assert!(quoted(&json!("é".repeat(100))).ends_with("(cut, 100 characters)"));
    }
}
