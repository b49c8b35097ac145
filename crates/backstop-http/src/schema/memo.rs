//! Schemas rendered once however often they are sent.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use serde_json::Value;

use super::{Dialect, Rendered, Unsupported, render};

/// Most renderings that are kept. A program with more schemas in use renders those again that it used longest ago.
const MAX_KEPT: usize = 64;

type Outcome = Result<Arc<Rendered>, Unsupported>;

/// As [`render`], for a schema that is shared, as those of requests are: the same `Arc` in the same dialect is rendered
/// once. Rendering takes longer than everything else that an adapter does to a request.
///
/// # Errors
/// As [`render`].
pub fn render_shared(schema: &Arc<Value>, dialect: &Dialect) -> Result<Arc<Rendered>, Unsupported> {
    static MEMO: Mutex<Memo> = Mutex::new(Memo::new());
    let memo = || MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(outcome) = memo().get(schema, dialect) {
        return outcome;
    }
    // Outside the lock: it may take long. Two callers may both do it, once.
    let outcome = render(schema, dialect).map(Arc::new);
    memo().put(schema, *dialect, outcome.clone());
    outcome
}

/// The renderings used last, the latest at the back.
struct Memo(VecDeque<Kept>);

struct Kept {
    /// Keeps the address from being used for another schema, not the schema itself.
    schema: Weak<Value>,
    dialect: Dialect,
    outcome: Outcome,
}

impl Memo {
    const fn new() -> Self {
        Self(VecDeque::new())
    }

    fn get(&mut self, schema: &Arc<Value>, dialect: &Dialect) -> Option<Outcome> {
        let same =
            |kept: &Kept| std::ptr::eq(kept.schema.as_ptr(), Arc::as_ptr(schema)) && kept.dialect == *dialect;
        let index = self.0.iter().rposition(same)?;
        let found = self.0.remove(index)?;
        let outcome = found.outcome.clone();
        self.0.push_back(found);
        Some(outcome)
    }

    fn put(&mut self, schema: &Arc<Value>, dialect: Dialect, outcome: Outcome) {
        self.0.retain(|kept| kept.schema.strong_count() > 0);
        while self.0.len() >= MAX_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Kept { schema: Arc::downgrade(schema), dialect, outcome });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_schema_in_the_same_dialect_is_rendered_once() {
        let schema = Arc::new(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        let first = render_shared(&schema, &Dialect::OPENAI_STRICT).unwrap();
        let again = render_shared(&schema, &Dialect::OPENAI_STRICT).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = render_shared(&schema, &Dialect::OPENAI_LOOSE).unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
        assert_eq!(*other, render(&schema, &Dialect::OPENAI_LOOSE).unwrap());
    }

    #[test]
    fn what_a_dialect_cannot_express_stays_an_error() {
        let map = Arc::new(json!({"type": "object", "additionalProperties": {"type": "string"}}));
        let expected = render(&map, &Dialect::OPENAI_STRICT).unwrap_err();
        for _ in 0..2 {
            assert_eq!(render_shared(&map, &Dialect::OPENAI_STRICT).unwrap_err(), expected);
        }
    }

    #[test]
    fn schemas_that_are_gone_are_forgotten_and_those_used_longest_ago_make_room() {
        let mut memo = Memo::new();
        let dialect = Dialect::OPENAI_LOOSE;
        let keep = |memo: &mut Memo, schema: &Arc<Value>| {
            memo.put(schema, dialect, render(schema, &dialect).map(Arc::new));
        };
        keep(&mut memo, &Arc::new(json!({"type": "object", "title": "gone"})));
        let schemas: Vec<_> =
            (0..=MAX_KEPT).map(|n| Arc::new(json!({"type": "object", "title": n.to_string()}))).collect();
        schemas.iter().for_each(|schema| keep(&mut memo, schema));
        assert_eq!(memo.0.len(), MAX_KEPT);
        assert!(memo.get(&schemas[0], &dialect).is_none());
        assert!(
            memo.get(&schemas[1], &dialect).is_some() && memo.get(&schemas[MAX_KEPT], &dialect).is_some()
        );
    }
}
