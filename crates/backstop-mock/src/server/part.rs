//! What a body is made of: stretches of bytes, and places at which the server waits.

use super::fault::Hold;

/// A stretch of body.
#[derive(Clone, Debug)]
pub(super) enum Chunk {
    Bytes(Vec<u8>),
    /// So many times the letter `a`.
    Fill(u64),
}

impl Chunk {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Fill(length) => *length,
        }
    }

    /// The text, with every `marker` replaced by filler if there is any.
    pub(super) fn fill_in(text: String, marker: &str, filler: Option<u64>) -> Vec<Self> {
        let Some(length) = filler else { return vec![Self::Bytes(text.into_bytes())] };
        let mut chunks = Vec::new();
        for (index, stretch) in text.split(marker).enumerate() {
            if index > 0 {
                chunks.push(Self::Fill(length));
            }
            chunks.push(Self::Bytes(stretch.as_bytes().to_vec()));
        }
        chunks
    }
}

/// A part of a body: what is written at once, or what is waited for.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Data(Vec<Chunk>),
    Hold(Hold),
}
