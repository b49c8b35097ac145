//! Reading JSON that servers write with a free hand.

use serde::{Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// A field without which an answer is still an answer: if it has another type than it should, it is not there.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    use serde::Deserialize;
    Ok(T::deserialize(Value::deserialize(deserializer)?).ok())
}
