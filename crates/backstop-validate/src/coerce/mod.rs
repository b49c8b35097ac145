//! Values brought to the types a schema asks for, where nothing is lost: `"3"` to `3`, `"Paid"` to the enum's `paid`.
//!
//! A model that answers `{"age": "30"}` has answered. What is safe to convert is converted and listed as a
//! [`Coercion`]; what would be an opinion is left as it is, for the validator to refuse. Never done, in any mode: filling
//! in required fields, dropping items of an array, choosing among several values, truncating, clamping, reading numbers
//! out of sentences, turning an object into a string.
//!
//! A value that fits is never changed, but that keys take the spelling of the property that they mean. In unions, a
//! variant that fits as it is beats every conversion; then the variant that needs the fewest.
//!
//! ```
//! use backstop_validate::coerce::{Mode, coerce};
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {"age": {"type": "integer"}}});
//! let (value, coercions) = coerce(json!({"age": "30"}), &schema, Mode::Safe);
//! assert_eq!(value, json!({"age": 30}));
//! assert_eq!(coercions[0].to_string(), "string_to_number at /age");
//! ```

mod conforms;
mod fuel;
mod integers;
mod names;
mod objects;
mod scalars;
mod schema;
mod walk;

use std::fmt;

use serde_json::Value;

pub(crate) use integers::writes_integer_as_float;

/// How far values are converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Not at all.
    Off,
    /// Where nothing is lost and there is one reading.
    #[default]
    Safe,
    /// Also where the reading is only likely: `"yes"` to true, `"$1,234.50"` to a number, `[x]` to `x`.
    Eager,
}

macro_rules! coercion_kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $mode:ident;)*) => {
        /// The kinds of conversion. [`CoercionKind::mode`] is the least mode that does it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum CoercionKind { $($(#[$doc])* $name,)* }

        impl CoercionKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind as a word for logs and metrics, such as `string_to_number`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The least mode that does it.
            pub fn mode(self) -> Mode {
                match self { $(Self::$name => Mode::$mode,)* }
            }
        }
    };
}

coercion_kinds! {
    /// `"3"` to `3`: the text is a JSON number and nothing else.
    StringToNumber = "string_to_number", Safe;
    /// `"12,345.60"` to a number: with a decimal point behind, the commas can only group the thousands.
    GroupedNumber = "grouped_number", Safe;
    /// `3.0` or `"3.0"` to `3` where an integer is wanted.
    FloatToInteger = "float_to_integer", Safe;
    /// `3` to `"3"`. Only integers: the text of a float is lost once it is read.
    IntegerToString = "integer_to_string", Safe;
    /// `"true"` to `true`.
    StringToBool = "string_to_bool", Safe;
    /// `"null"` or `"None"` to null where no string is allowed.
    StringToNull = "string_to_null", Safe;
    /// A word to the one enum value that differs only in case, blanks, `_` or `-`.
    EnumSpelling = "enum_spelling", Safe;
    /// A value to an array of that value, if it fits the items.
    Wrapped = "wrapped", Safe;
    /// A string that holds a JSON object or array, read once.
    JsonInString = "json_in_string", Safe;
    /// Null to absent, for a property that is optional and not nullable.
    NullToAbsent = "null_to_absent", Safe;
    /// A property that the schema forbids, removed.
    UnknownProperty = "unknown_property", Safe;
    /// A key to the one property that differs only in case, `_` or `-`.
    KeySpelling = "key_spelling", Safe;
    /// `"yes"`, `"no"`, 1 or 0 to a boolean.
    WordToBool = "word_to_bool", Eager;
    /// `"$1,234.50"`, `"12,000"` or `"1/5"` to a number.
    TextToNumber = "text_to_number", Eager;
    /// `1.5` to `"1.5"`.
    FloatToString = "float_to_string", Eager;
    /// A sentence to the one enum value that occurs in it as a word.
    EnumInSentence = "enum_in_sentence", Eager;
    /// `[x]` to `x`.
    Unwrapped = "unwrapped", Eager;
    /// A scalar to the object with this one property.
    OnlyProperty = "only_property", Eager;
}

impl fmt::Display for CoercionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coercion {
    /// What was done.
    pub kind: CoercionKind,
    /// Where in the value, as a JSON pointer (RFC 6901); empty for the root. For a property that was removed or
    /// renamed, its former place.
    pub pointer: String,
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind, if self.pointer.is_empty() { "the root" } else { &self.pointer })
    }
}

/// Converts what does not fit the schema, as far as the mode allows. What cannot be converted comes back as it was; the
/// result still needs validation.
pub fn coerce(value: Value, schema: &Value, mode: Mode) -> (Value, Vec<Coercion>) {
    if mode == Mode::Off {
        return (value, Vec::new());
    }
    let mut walk = walk::Walk::new(schema, mode);
    let value = walk.value(value, schema, 0);
    (value, walk.into_log())
}
