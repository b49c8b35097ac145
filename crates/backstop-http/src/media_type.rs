//! What a body is said to be.

use crate::header::{CONTENT_TYPE, HeaderMap};

/// Whether the headers name this media type, with whatever parameters.
pub(crate) fn is(headers: &HeaderMap, media_type: &str) -> bool {
    let named = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let named = named.and_then(|value| value.split(';').next()).map(str::trim);
    named.is_some_and(|named| named.eq_ignore_ascii_case(media_type))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::HeaderValue;

    #[test]
    fn parameters_and_case_do_not_matter() {
        let table = [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            (" application/json ;", true),
            ("application/jsonl", false),
            ("text/html", false),
        ];
        for (value, expected) in table {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is(&headers, "application/json"), expected, "{value}");
        }
        assert!(!is(&HeaderMap::new(), "application/json"));
    }
}
