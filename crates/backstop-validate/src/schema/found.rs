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
        Value::String(text) if text.chars().count() > MAX_QUOTE => {
            let start: String = text.chars().take(MAX_QUOTE).collect();
            format!("{} (cut, {} characters)", Value::String(start), text.chars().count())
        }
        scalar => scalar.to_string(),
    }
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
