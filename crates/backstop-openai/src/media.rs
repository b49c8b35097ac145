//! Pictures and documents on the wire.

use std::fmt;

use backstop_core::{Media, MediaSource};
use serde::{Serialize, Serializer};

/// An address, or the bytes as a `data:` address, written without putting them together first.
pub(crate) struct DataUrl<'a>(pub(crate) &'a Media);

impl fmt::Display for DataUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            MediaSource::Base64(data) => write!(f, "data:{};base64,{data}", self.0.media_type),
            MediaSource::Url(url) => f.write_str(url),
            _ => Ok(()),
        }
    }
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
