//! Texts as they are compared.

use super::super::script::has_no_word_edges;

/// Lower case, full-width forms as plain ones, and one blank for whatever is neither letter nor digit. None at the ends.
pub(super) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars().map(plain).filter(|c| !is_invisible(*c)) {
        if !c.is_alphanumeric() && !is_mark(c) {
            blank = true;
            continue;
        }
        if std::mem::take(&mut blank) && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Full-width letters and digits stand apart by a fixed distance.
pub(super) fn plain(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Accents that follow their letter.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036f)
}

/// Soft hyphens and zero-width characters, which PDFs leave inside words.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Whether a normal text stands in another as whole words.
pub(super) fn occurs(haystack: &str, needle: &str) -> bool {
    let finder = memchr::memmem::Finder::new(needle);
    finder.find_iter(haystack.as_bytes()).any(|at| {
        let end = at + needle.len();
        let before = haystack.get(..at).and_then(|text| text.chars().next_back());
        let after = haystack.get(end..).and_then(|text| text.chars().next());
        is_edge(before, needle.chars().next()) && is_edge(needle.chars().next_back(), after)
    })
}

/// Whether a word may end between two characters.
fn is_edge(left: Option<char>, right: Option<char>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return true };
    left == ' ' || right == ' ' || has_no_word_edges(left) || has_no_word_edges(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_blanks_and_punctuation_are_evened_out() {
        assert_eq!(normal("  ACME\u{a0}Co.,\n Ltd. "), "acme co ltd");
        assert_eq!(normal("ＡＢＣ１２"), "abc12");
        assert_eq!(normal("Rech\u{ad}nung"), "rechnung");
        assert_eq!(normal("—"), "");
    }

    #[test]
    fn only_whole_words_occur_where_words_have_edges() {
        assert!(occurs("the party of art", "art"));
        assert!(!occurs("the party", "art"));
        assert!(occurs("東京都の天気", "天気"));
        assert!(occurs("서울에서 만나요", "서울"));
        assert!(!occurs("müller", "ller"));
    }
}
