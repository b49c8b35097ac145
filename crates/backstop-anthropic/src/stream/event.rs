//! The events of a stream, with the fields of all kinds.

use std::borrow::Cow;

use backstop_http::lenient;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::response::{StopDetails, WireMessage, WireUsage};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(super) r#type: Option<Cow<'a, str>>,
    // Boxed, because few events have one and all are moved.
    #[serde(borrow, deserialize_with = "lenient::object")]
    pub(super) message: Option<Box<WireMessage<'a>>>,
    #[serde(deserialize_with = "lenient::count")]
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient::object")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<Box<WireUsage>>,
    pub(super) error: Option<Value>,
}

/// What is added to a block, or to the message as a whole.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(super) partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "lenient::text")]
    pub(super) stop_reason: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) stop_details: Option<Box<StopDetails>>,
}
