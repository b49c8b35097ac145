//! A JSON Schema in the dialect that a vendor accepts.
//!
//! Every vendor takes another subset of JSON Schema and answers the rest with a 400, or ignores it. [`render`] turns
//! a caller's schema into a [`Dialect`]. Dialects are data: lists of keywords, and switches for what differs.
//!
//! - What the dialect lacks is left out or moved into a description, and reported as a [`Note`]. Constraints may get
//!   weaker on the way, never stronger than the caller's, apart from objects that are closed and optional properties
//!   that become nullable: [`Rendered::restore`] turns their nulls back. The answer is meant to be validated against
//!   the caller's own schema in any case.
//! - What cannot be weakened without making right answers impossible, such as a map in a dialect of closed objects,
//!   is [`Unsupported`]: the caller of this module then chooses a wider dialect or puts the schema into the prompt.
//! - A `$ref` is only ever resolved within the schema. Depth and size are limited.
//!
//! ```
//! use backstop_http::schema::{self, Dialect};
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": { "name": {"type": "string", "minLength": 1}, "age": {"type": "integer"} },
//!     "required": ["name"],
//! });
//! let rendered = schema::render(&schema, &Dialect::OPENAI_STRICT)?;
//! assert_eq!(rendered.schema, json!({
//!     "type": "object",
//!     "properties": {
//!         "name": {"type": "string", "description": "minLength: 1"},
//!         "age": {"type": ["integer", "null"]},
//!     },
//!     "required": ["name", "age"],
//!     "additionalProperties": false,
//! }));
//! assert_eq!(rendered.restore(&schema, r#"{"name":"Ann","age":null}"#.into()), r#"{"name":"Ann"}"#);
//! # Ok::<(), schema::Unsupported>(())
//! ```

mod dialect;
mod flatten;
mod form;
mod keywords;
mod limits;
mod memo;
mod object;
mod path;
mod refs;
mod restore;
mod rewrite;
mod typed;
mod walk;
mod wire;
mod wrap;

use std::{borrow::Cow, fmt};

use serde_json::Value;
use thiserror::Error;

pub use dialect::{Additional, Dialect, Enums, Limits, Patterns, Recursion, Refs, Rules, Types};
pub use form::Form;
pub use memo::render_shared;
pub use wire::Wire;

/// The property under which a root that is not an object goes over the wire.
pub const WRAPPER: &str = "value";

/// Schemas nested deeper than this are not rendered: recursion here must end somewhere.
pub const MAX_DEPTH: usize = 64;

/// JSON levels: a schema within a schema takes two or three.
const MAX_JSON_DEPTH: usize = 4 * MAX_DEPTH;

/// Schemas that come to more sub-schemas than this, references inlined, are not rendered.
pub const MAX_NODES: usize = 20_000;

/// Turns `schema` into what `dialect` accepts.
///
/// # Errors
/// [`Unsupported`] names the first place that the dialect cannot express.
pub fn render(schema: &Value, dialect: &Dialect) -> Result<Rendered, Unsupported> {
    // Copying and comparing JSON recurses, so this is asked before anything else.
    if walk::is_deeper_than(schema, MAX_JSON_DEPTH) {
        return Err(Unsupported::new("", "is nested too deeply"));
    }
    let rendered = match &dialect.rules {
        Some(rules) => rewrite::rewrite(schema, dialect, rules)?,
        None => wrap::as_is(schema, dialect)?,
    };
    limits::check(&rendered.schema, &dialect.limits)?;
    Ok(rendered)
}

/// A schema in a vendor's dialect, and what it took to get there.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The schema to send; [`wire`](Self::wire) sends its properties in the order of `required`.
    pub schema: Value,
    /// What was left out, moved or changed, in the order of the walk.
    pub notes: Vec<Note>,
    /// The root is not an object, so it was put under [`WRAPPER`].
    pub wrapped: bool,
    /// Optional properties became required and nullable.
    pub widened: bool,
}

impl Rendered {
    /// A schema that is sent as the caller has it, whatever it holds.
    pub fn unchanged(schema: Value) -> Self {
        Self { schema, notes: Vec::new(), wrapped: false, widened: false }
    }

    /// Whether answers need [`restore`](Self::restore) before they follow the caller's schema.
    pub fn changes_answers(&self) -> bool {
        self.wrapped || self.widened
    }

    /// Turns an answer's text back into the form of the caller's `original` schema: takes it out of the
    /// [`WRAPPER`], and removes the nulls of properties that the original has as optional but not nullable.
    ///
    /// A text that is not JSON, a cut one for example, comes back unchanged.
    pub fn restore(&self, original: &Value, text: String) -> String {
        if self.changes_answers() { restore::restore(self, original, text) } else { text }
    }

    /// The schema for `serde`, with properties in the order of `required`: models fill them in that order, and
    /// derived schemas list `required` in the order of declaration.
    pub fn wire(&self) -> Wire<'_> {
        Wire(&self.schema)
    }
}

/// One thing in which a rendered schema differs from the original.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Where, as a JSON pointer into the original.
    pub pointer: String,
    /// What was done there.
    pub what: Change,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.pointer, self.what)
    }
}

/// What was done to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A keyword that the dialect lacks was left out.
    Dropped(String),
    /// A constraint that the dialect lacks stands in the description now.
    Described(String),
    /// An object takes no properties beside its own any more.
    Closed,
    /// An optional property became required and nullable.
    Nullable,
    /// A required property became optional.
    Optional,
    /// `oneOf` became `anyOf`.
    AnyOf,
    /// Tuple positions became one list of alternatives.
    Tuple,
    /// Branches of an `allOf`, or a reference and its siblings, were merged.
    Merged,
    /// The root was put under [`WRAPPER`].
    Wrapped,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped(keyword) => write!(f, "`{keyword}` was left out"),
            Self::Described(keyword) => write!(f, "`{keyword}` was moved into the description"),
            Self::Closed => f.write_str("the object was closed to other properties"),
            Self::Nullable => f.write_str("the optional property became required and nullable"),
            Self::Optional => f.write_str("the required property became optional"),
            Self::AnyOf => f.write_str("`oneOf` became `anyOf`"),
            Self::Tuple => f.write_str("tuple positions became alternatives"),
            Self::Merged => f.write_str("`allOf` or a reference was merged in"),
            Self::Wrapped => write!(f, "the root was put under `{WRAPPER}`"),
        }
    }
}

/// A schema has something that a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the schema at {pointer:?} {why}")]
#[non_exhaustive]
pub struct Unsupported {
    /// Where, as a JSON pointer into the original; into the rendered schema if one of its totals is over a limit.
    pub pointer: String,
    /// Why it cannot be expressed.
    pub why: Cow<'static, str>,
}

impl Unsupported {
    fn new(pointer: impl Into<String>, why: impl Into<Cow<'static, str>>) -> Self {
        Self { pointer: pointer.into(), why: why.into() }
    }
}
