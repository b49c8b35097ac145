//! Values for property tests.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Any JSON value; strings hold what trips up extractors.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z ]{0,12}",
        "\\PC{0,12}",
        Just("```json\n{\"a\": 1}\n```".to_owned()),
        Just("<think>{</think>".to_owned()),
        Just("a // b /* c */ # d, \"e\": [1,]".to_owned()),
        Just("\u{0}\u{1f}\t\r\n\\\"'“”\u{feff}\u{2028}😀".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
