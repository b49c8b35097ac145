//! Fields of a vendor's JSON without which an answer is still an answer: what has another type than it should is not
//! there, and nothing fails.
//!
//! For `#[serde(default, deserialize_with = "…")]`. Texts are `String`s, or [`Cow`]s that borrow from the JSON what
//! stands in it as it is; serde on its own copies the text of an `Option<Cow<str>>`.
//!
//! ```
//! use std::borrow::Cow;
//! use backstop_http::lenient;
//!
//! #[derive(serde::Deserialize)]
//! struct Piece<'a> {
//!     #[serde(borrow, default, deserialize_with = "lenient::text")]
//!     text: Option<Cow<'a, str>>,
//!     #[serde(default, deserialize_with = "lenient::count")]
//!     index: Option<u64>,
//! }
//!
//! let piece: Piece<'_> = serde_json::from_str(r#"{"text": "as it is", "index": [{}], "odd": 1}"#)?;
//! assert!(matches!(piece.text, Some(Cow::Borrowed("as it is"))));
//! assert_eq!(piece.index, None);
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Number;

/// A text.
///
/// # Errors
/// The JSON itself is broken; so everywhere in this module.
pub fn text<'de: 'a, 'a, D, T>(json: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<Cow<'a, str>>,
{
    Ok(Lenient(Text).deserialize(json)?.map(T::from))
}

/// A word that some servers give as a number.
///
/// # Errors
/// As for [`text`].
pub fn word<'de: 'a, 'a, D, T>(json: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<Cow<'a, str>>,
{
    Ok(Lenient(Word).deserialize(json)?.map(T::from))
}

/// A count.
///
/// # Errors
/// As for [`text`].
pub fn count<'de, D: Deserializer<'de>>(json: D) -> Result<Option<u64>, D::Error> {
    Lenient(Count { quoted: false }).deserialize(json)
}

/// A count that may stand in a text, which is how Google writes 64 bits.
///
/// # Errors
/// As for [`text`].
pub fn quoted_count<'de, D: Deserializer<'de>>(json: D) -> Result<Option<u64>, D::Error> {
    Lenient(Count { quoted: true }).deserialize(json)
}

/// A yes or no.
///
/// # Errors
/// As for [`text`].
pub fn flag<'de, D: Deserializer<'de>>(json: D) -> Result<Option<bool>, D::Error> {
    Lenient(Flag).deserialize(json)
}

/// An object. The fields of `T` are read as it says itself.
///
/// # Errors
/// As for [`text`], and what `T` does not take.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(json: D) -> Result<Option<T>, D::Error> {
    Lenient(Object(PhantomData)).deserialize(json)
}

/// A list of objects. Members of other types are passed over.
///
/// # Errors
/// As for [`object`].
pub fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(json: D) -> Result<Option<Vec<T>>, D::Error> {
    Lenient(List(PhantomData)).deserialize(json)
}

/// A text, or the texts of a list of objects that have one, put together.
///
/// # Errors
/// As for [`text`].
pub fn texts<'de: 'a, 'a, D, T>(json: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<Cow<'a, str>>,
{
    Ok(Lenient(Texts).deserialize(json)?.map(T::from))
}

/// What is made of a value, by its type: nothing, unless it says otherwise.
trait Make<'de>: Sized {
    type Made;

    fn text(self, _: Cow<'de, str>) -> Option<Self::Made> {
        None
    }

    fn number(self, _: Number) -> Option<Self::Made> {
        None
    }

    fn flag(self, _: bool) -> Option<Self::Made> {
        None
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Self::Made>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Option<Self::Made>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

struct Text;

impl<'de> Make<'de> for Text {
    type Made = Cow<'de, str>;

    fn text(self, text: Cow<'de, str>) -> Option<Self::Made> {
        Some(text)
    }
}

struct Word;

impl<'de> Make<'de> for Word {
    type Made = Cow<'de, str>;

    fn text(self, text: Cow<'de, str>) -> Option<Self::Made> {
        Some(text)
    }

    fn number(self, number: Number) -> Option<Self::Made> {
        Some(Cow::Owned(number.to_string()))
    }
}

struct Count {
    quoted: bool,
}

impl<'de> Make<'de> for Count {
    type Made = u64;

    fn text(self, text: Cow<'de, str>) -> Option<u64> {
        if self.quoted { text.parse().ok() } else { None }
    }

    fn number(self, number: Number) -> Option<u64> {
        number.as_u64()
    }
}

struct Flag;

impl<'de> Make<'de> for Flag {
    type Made = bool;

    fn flag(self, flag: bool) -> Option<bool> {
        Some(flag)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Make<'de> for Object<T> {
    type Made = T;

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

struct List<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Make<'de> for List<T> {
    type Made = Vec<T>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Vec<T>>, A::Error> {
        let mut made = Vec::new();
        while let Some(member) = list.next_element_seed(Lenient(Object(PhantomData)))? {
            made.extend(member);
        }
        Ok(Some(made))
    }
}

struct Texts;

impl<'de> Make<'de> for Texts {
    type Made = Cow<'de, str>;

    fn text(self, text: Cow<'de, str>) -> Option<Self::Made> {
        Some(text)
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Option<Self::Made>, A::Error> {
        #[derive(Deserialize)]
        struct Piece<'a> {
            #[serde(borrow, default, deserialize_with = "text")]
            text: Option<Cow<'a, str>>,
        }
        let pieces = List::<Piece<'_>>(PhantomData).list(list)?.unwrap_or_default();
        Ok(Some(Cow::Owned(pieces.into_iter().filter_map(|piece| piece.text).collect())))
    }
}

struct Lenient<M>(M);

impl<'de, M: Make<'de>> DeserializeSeed<'de> for Lenient<M> {
    type Value = Option<M::Made>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, M: Make<'de>> Visitor<'de> for Lenient<M> {
    type Value = Option<M::Made>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON of any type")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(self.0.text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.0.text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(self.0.text(Cow::Owned(text)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.0.number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.0.number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).and_then(|number| self.0.number(number)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(self.0.flag(flag))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        self.0.object(object)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct All<'a> {
        #[serde(borrow, deserialize_with = "text")]
        text: Option<Cow<'a, str>>,
        #[serde(borrow, deserialize_with = "word")]
        word: Option<Cow<'a, str>>,
        #[serde(deserialize_with = "count")]
        count: Option<u64>,
        #[serde(deserialize_with = "quoted_count")]
        quoted_count: Option<u64>,
        #[serde(deserialize_with = "flag")]
        flag: Option<bool>,
        #[serde(borrow, deserialize_with = "object")]
        object: Option<Inner<'a>>,
        #[serde(borrow, deserialize_with = "list")]
        list: Option<Vec<Inner<'a>>>,
        #[serde(borrow, deserialize_with = "texts")]
        texts: Option<Cow<'a, str>>,
    }

    const FIELDS: [&str; 8] = ["text", "word", "count", "quoted_count", "flag", "object", "list", "texts"];

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default, deserialize_with = "text")]
        text: Option<Cow<'a, str>>,
    }

    fn inner(text: &str) -> Inner<'_> {
        Inner { text: Some(Cow::Borrowed(text)) }
    }

    #[test]
    fn a_value_counts_only_as_what_it_should_be() {
        let cases: Vec<(Value, All<'_>)> = vec![
            (
                json!("7"),
                All {
                    text: Some("7".into()),
                    word: Some("7".into()),
                    quoted_count: Some(7),
                    texts: Some("7".into()),
                    ..All::default()
                },
            ),
            (
                json!(7),
                All { word: Some("7".into()), count: Some(7), quoted_count: Some(7), ..All::default() },
            ),
            (json!(-7), All { word: Some("-7".into()), ..All::default() }),
            (json!(7.0), All { word: Some("7.0".into()), ..All::default() }),
            (json!(true), All { flag: Some(true), ..All::default() }),
            (json!(null), All::default()),
            (json!({ "text": "in" }), All { object: Some(inner("in")), ..All::default() }),
            (json!({ "text": 7 }), All { object: Some(Inner { text: None }), ..All::default() }),
            (
                json!([{ "text": "a" }, 1, null, ["x"], { "text": "b" }]),
                All { list: Some(vec![inner("a"), inner("b")]), texts: Some("ab".into()), ..All::default() },
            ),
        ];
        for (value, expected) in cases {
            let whole = FIELDS.map(|field| (field.to_owned(), value.clone())).into_iter().collect();
            let json = Value::Object(whole).to_string();
            assert_eq!(serde_json::from_str::<All<'_>>(&json).unwrap(), expected, "{value}");
            assert_eq!(All::deserialize(&serde_json::from_str::<Value>(&json).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn a_text_is_copied_only_where_it_was_escaped() {
        let all: All<'_> = serde_json::from_str(r#"{"text": "plain", "word": "a\nb"}"#).unwrap();
        assert!(matches!(all.text, Some(Cow::Borrowed("plain"))));
        assert!(matches!(all.word, Some(Cow::Owned(word)) if word == "a\nb"));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|flag| json!(flag)),
            any::<i64>().prop_map(|number| json!(number)),
            any::<f64>().prop_map(|number| json!(number)),
            ".{0,6}".prop_map(|text| json!(text)),
        ];
        leaf.prop_recursive(3, 12, 4, |value| {
            prop_oneof![
                proptest::collection::vec(value.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map("text|[a-c]", value, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_json_fails(value in values()) {
            for field in FIELDS {
                let json = json!({ field: value, "after": 1 }).to_string();
                prop_assert!(serde_json::from_str::<All<'_>>(&json).is_ok(), "{json}");
            }
        }
    }
}
