//! The fields of a request's JSON object, as serde writes them.

use backstop_core::Attempt;
use serde::{Serialize, ser::SerializeMap};
use serde_json::{Map, Value};

/// Writes the fields of a JSON object, and leaves out what the caller sets in its place or the vendor has refused
/// before. [`end`](Self::end) writes what the caller sets.
///
/// ```
/// use backstop_core::{Attempt, Request};
/// use backstop_http::Fields;
/// use serde::{Serialize, Serializer};
///
/// struct Body<'a>(&'a Attempt<'a>);
///
/// impl Serialize for Body<'_> {
///     fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
///         let mut fields = Fields::of_body(serializer.serialize_map(None)?, self.0);
///         fields.put("model", self.0.model)?;
///         fields.maybe("seed", self.0.request.seed)?;
///         fields.end()
///     }
/// }
/// # use serde::ser::SerializeMap;
///
/// let request = Request::new("x").seed(7).extra_body("mine", "seed", 8).for_target("mine", "m");
/// let body = serde_json::to_string(&Body(&Attempt::new("m", &request))).unwrap();
/// assert_eq!(body, r#"{"model":"m","seed":8}"#);
/// ```
#[must_use = "the object is complete when it was ended"]
pub struct Fields<'a, M> {
    map: M,
    attempt: &'a Attempt<'a>,
    over: Option<&'a Map<String, Value>>,
    names: &'static [(&'static str, &'static str)],
    merged: Option<&'static str>,
}

impl<'a, M: SerializeMap> Fields<'a, M> {
    /// The fields of the whole body, over which the request's `extra_body` is laid.
    pub fn of_body(map: M, attempt: &'a Attempt<'a>) -> Self {
        let over = Some(&attempt.request.extra_body);
        Self { map, attempt, over, names: &[], merged: None }
    }

    /// The fields of an object that the caller cannot reach.
    pub fn plain(map: M, attempt: &'a Attempt<'a>) -> Self {
        Self { map, attempt, over: None, names: &[], merged: None }
    }

    /// The fields of the object that stands in the body under `key`. Over it is laid what `extra_body` has there.
    pub fn of_object(map: M, attempt: &'a Attempt<'a>, key: &str) -> Self {
        let over = attempt.request.extra_body.get(key).and_then(Value::as_object);
        Self { map, attempt, over, names: &[], merged: None }
    }

    /// Names of fields on the wire, and of the parameters that they are in requests and options, where these differ.
    pub fn with_names(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.names = names;
        self
    }

    /// A field.
    ///
    /// # Errors
    /// The serializer's.
    pub fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), M::Error> {
        let param = self.names.iter().find(|(wire, _)| *wire == key).map_or(key, |(_, param)| param);
        if self.over.is_some_and(|over| over.contains_key(key)) || self.attempt.is_dropped(param) {
            return Ok(());
        }
        self.map.serialize_entry(key, value)
    }

    /// A field, if there is a value.
    ///
    /// # Errors
    /// The serializer's.
    pub fn maybe<T: Serialize>(&mut self, key: &str, value: Option<T>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.put(key, &value))
    }

    /// A field whose value is written with [`of_object`](Self::of_object): an object of the caller's is laid over ours
    /// field by field, anything else takes its place. One such field in a body.
    ///
    /// # Errors
    /// The serializer's.
    pub fn object<T: Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), M::Error> {
        if self.over.and_then(|over| over.get(key)).is_some_and(|over| !over.is_object()) {
            return Ok(());
        }
        self.merged = Some(key);
        self.map.serialize_entry(key, value)
    }

    /// Writes what the caller sets, and ends the object.
    ///
    /// # Errors
    /// The serializer's.
    pub fn end(mut self) -> Result<M::Ok, M::Error> {
        for (key, value) in self.over.into_iter().flatten() {
            if self.merged != Some(key) {
                self.map.serialize_entry(key, value)?;
            }
        }
        self.map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use backstop_core::{Overlay, Request};
    use serde::Serializer;
    use serde_json::json;

    use super::*;

    struct Body<'a>(&'a Attempt<'a>);
    struct Inner<'a>(&'a Attempt<'a>);

    impl Serialize for Body<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = Fields::of_body(serializer.serialize_map(None)?, self.0);
            fields.put("model", self.0.model)?;
            fields.object("options", &Inner(self.0))?;
            fields.maybe("format", None::<bool>)?;
            fields.end()
        }
    }

    impl Serialize for Inner<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let map = serializer.serialize_map(None)?;
            let mut fields = Fields::of_object(map, self.0, "options").with_names(&[("topK", "top_k")]);
            fields.put("topK", &1)?;
            fields.put("seed", &2)?;
            fields.end()
        }
    }

    fn written(request: &Request, dropped: &[&str]) -> Value {
        let mut overlay = Overlay::new();
        overlay.dropped = dropped.iter().map(|name| Cow::Owned((*name).to_owned())).collect();
        let request = request.for_target("p", "m");
        let mut attempt = Attempt::new("m", &request);
        attempt.overlay = &overlay;
        serde_json::to_value(Body(&attempt)).unwrap()
    }

    #[test]
    fn the_callers_fields_take_the_place_of_ours() {
        let request = Request::new("x");
        assert_eq!(written(&request, &[]), json!({ "model": "m", "options": { "topK": 1, "seed": 2 } }));
        let other = request.clone().extra_body("p", "model", "n").extra_body("p", "more", 3);
        assert_eq!(
            written(&other, &[]),
            json!({ "model": "n", "options": { "topK": 1, "seed": 2 }, "more": 3 })
        );
        let merged = request.clone().extra_body("p", "options", json!({ "seed": 9, "more": 3 }));
        assert_eq!(
            written(&merged, &[]),
            json!({ "model": "m", "options": { "topK": 1, "seed": 9, "more": 3 } })
        );
        let replaced = request.extra_body("p", "options", json!(null));
        assert_eq!(written(&replaced, &[]), json!({ "model": "m", "options": null }));
    }

    #[test]
    fn what_was_refused_is_left_out_by_the_callers_name_for_it() {
        let request = Request::new("x");
        assert_eq!(written(&request, &["top_k"]), json!({ "model": "m", "options": { "seed": 2 } }));
        assert_eq!(written(&request, &["seed"]), json!({ "model": "m", "options": { "topK": 1 } }));
    }
}
