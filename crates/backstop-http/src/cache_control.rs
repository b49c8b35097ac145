//! The mark at the end of what is worth caching, in the form that Anthropic made and routers pass on.

use backstop_core::CacheHint;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// The field `cache_control` of a part of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheControl(pub CacheHint);

impl Serialize for CacheControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "ephemeral")?;
        // The short one is the vendor's default.
        if self.0 == CacheHint::Long {
            map.serialize_entry("ttl", "1h")?;
        }
        map.end()
    }
}
