//! The events of a stream, with the fields of all kinds.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::response::{StopDetails, WireMessage, WireUsage, lenient};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) message: Option<WireMessage<'a>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<Value>,
}

/// What is added to a block, or to the message as a whole.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) stop_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) stop_details: Option<StopDetails>,
}
