//! Scripts that put no blanks between words.

/// Whether words in this character's script stand next to each other, or carry their particles (Hangul), so that the
/// edge of a word cannot be seen.
pub(super) fn has_no_word_edges(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff // Thai, Lao
        | 0x1000..=0x109f // Myanmar
        | 0x1780..=0x17ff // Khmer
        | 0x3040..=0x30ff // Hiragana, Katakana
        | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff // Han
        | 0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7ff // Hangul
    )
}
