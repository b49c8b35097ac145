//! A text with variables.
//!
//! ```text
//! {{name}}  {{ name }}   the value of `name`
//! \{{name}}              {{name}}
//! \\{{name}}             \ and the value
//! {{{name}}}             { the value }
//! }}  {  \n              themselves
//! ```
//!
//! A name begins with a letter or `_`; digits, `-` and `.` may follow. A value is put in as it is: nothing in it is
//! read again.

use std::collections::BTreeMap;

/// A text that has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Variable(String),
}

impl Text {
    /// Reads a text, or says at which byte a `{{` begins no variable.
    pub(crate) fn parse(source: &str) -> Result<Self, usize> {
        let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), source);
        while let Some(open) = rest.find("{{") {
            let (before, after) = rest.split_at(open);
            let plain = before.trim_end_matches('\\');
            let backslashes = before.len() - plain.len();
            let braces = after.len() - after.trim_start_matches('{').len();
            literal.push_str(plain);
            literal.extend(std::iter::repeat_n('\\', backslashes / 2));
            let (run, inside) = after.split_at(braces);
            if backslashes % 2 == 1 {
                literal.push_str(run);
                rest = inside;
                continue;
            }
            // Of more than two, the last two belong to the variable.
            literal.push_str(run.get(2..).unwrap_or_default());
            let Some((name, behind)) = variable(inside) else {
                return Err(source.len() - after.len());
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Variable(name.to_owned()));
            rest = behind;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self(pieces))
    }

    /// The names in the order of the text.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            Piece::Literal(_) => None,
        })
    }

    /// The text with its values, or the variable that has none.
    pub(crate) fn fill(&self, values: &BTreeMap<String, String>) -> Result<String, &str> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Variable(name) => filled.push_str(values.get(name).ok_or(name.as_str())?),
            }
        }
        Ok(filled)
    }
}

/// The name at the beginning of what follows `{{`, and what follows its `}}`.
fn variable(inside: &str) -> Option<(&str, &str)> {
    let inside = inside.trim_start();
    if !inside.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return None;
    }
    let end = inside.find(|next: char| !(next.is_alphanumeric() || matches!(next, '_' | '-' | '.')))?;
    let (name, rest) = inside.split_at(end);
    Some((name, rest.trim_start().strip_prefix("}}")?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> BTreeMap<String, String> {
        let values = [("a", "1"), ("b_2.x-y", "two"), ("größe", "{{a}} \\{{a}}")];
        values.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn variables_are_filled_and_everything_else_stays() {
        let cases = [
            ("", ""),
            ("no variable", "no variable"),
            ("{{a}}", "1"),
            ("{{ a }}{{a}} {{\n b_2.x-y }}", "11 two"),
            (r#"{"a": {"b": 1}} {} }} { \n \\"#, r#"{"a": {"b": 1}} {} }} { \n \\"#),
            (r"\{{a}}", "{{a}}"),
            (r"\\{{a}}", r"\1"),
            (r"\\\{{a}}", r"\{{a}}"),
            ("{{{a}}}", "{1}"),
            (r"\{{{a}}}", "{{{a}}}"),
            ("{{größe}}!", r"{{a}} \{{a}}!"),
            ("ä{{a}}é", "ä1é"),
        ];
        for (source, expected) in cases {
            let text = Text::parse(source).unwrap();
            assert_eq!(text.fill(&values()).unwrap(), expected, "{source}");
        }
    }

    #[test]
    fn braces_that_begin_no_variable_are_found() {
        let cases = [
            ("{{", 0),
            ("a {{ }}", 2),
            ("é{{1a}}", 2),
            ("{{a", 0),
            ("{{a} }", 0),
            ("{{a b}}", 0),
            ("{{a}} {{-}}", 6),
        ];
        for (source, offset) in cases {
            assert_eq!(Text::parse(source), Err(offset), "{source}");
        }
    }

    #[test]
    fn a_variable_without_a_value_is_named() {
        let text = Text::parse("{{a}} {{other}}").unwrap();
        assert_eq!(text.fill(&values()), Err("other"));
        assert_eq!(text.variables().collect::<Vec<_>>(), ["a", "other"]);
    }

    proptest! {
        #[test]
        fn a_text_whose_braces_are_escaped_comes_out_as_it_went_in(text in r"[a\\{} \néß]{0,40}") {
            let mut escaped = String::new();
            let mut rest = text.as_str();
            while let Some(open) = rest.find("{{") {
                let (before, after) = rest.split_at(open);
                let plain = before.trim_end_matches('\\');
                escaped.push_str(before);
                escaped.extend(std::iter::repeat_n('\\', before.len() - plain.len() + 1));
                let inside = after.trim_start_matches('{');
                escaped.push_str(&after[..after.len() - inside.len()]);
                rest = inside;
            }
            escaped.push_str(rest);
            let read = Text::parse(&escaped).unwrap();
            prop_assert_eq!(read.fill(&BTreeMap::new()).unwrap(), text);
        }

        #[test]
        fn values_are_put_in_as_they_are(value in any::<String>()) {
            let values = BTreeMap::from([("v".to_owned(), value.clone())]);
            let filled = Text::parse("<{{v}}>{{v}}").unwrap().fill(&values).unwrap();
            prop_assert_eq!(filled, format!("<{value}>{value}"));
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = Text::parse(&text);
        }
    }
}
