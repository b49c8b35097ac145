//! Texts of others as people may be shown them.

use std::borrow::Cow;

/// A text on one line, without what makes a terminal or a viewer do something: each control character (line breaks and
/// the beginnings of escape sequences among them), line separator and mark of writing direction becomes a blank. The
/// words of [`ProviderError`](super::ProviderError)s and [`Rejection`](super::Rejection)s are such texts, whoever makes
/// them.
///
/// ```
/// assert_eq!(backstop_core::error::plain("no\u{1b}[2J such\nmodel"), "no [2J such model");
/// ```
#[must_use]
pub fn plain<'a>(text: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    let text = text.into();
    if text.chars().any(acts) {
        return Cow::Owned(text.chars().map(|c| if acts(c) { ' ' } else { c }).collect());
    }
    text
}

/// Unicode's explicit directional formatting (UAX #9) can make a line read otherwise than it is.
fn acts(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_becomes_a_blank_and_the_rest_stays() {
        for acting in [
            "\0", "\n", "\u{7f}", "\u{85}", "\u{9b}", "\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}",
            "\u{2028}",
        ] {
            assert_eq!(plain(format!("a{acting}b")), "a b", "{acting:?}");
        }
        for fine in ["", "naïve", "日本語 🙂", "שלום", "a\u{200d}b"] {
            assert!(matches!(plain(fine), Cow::Borrowed(same) if same == fine), "{fine}");
        }
    }
}
