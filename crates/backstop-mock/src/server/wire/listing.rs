//! The `GET` endpoints that clients use to see whether a server lives and what it serves.

use serde_json::{Value, json};

use super::encoding::{CREATED, CREATED_TEXT};

/// The answer to a `GET`, `None` for a path that has none.
pub(in super::super) fn listing(path: &str, models: &[String]) -> Option<Value> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/v1beta/models") {
        let list: Value = models.iter().map(|model| json!({ "name": format!("models/{model}") })).collect();
        return Some(json!({ "models": list }));
    }
    if path.ends_with("/api/tags") {
        let tag = |model: &String| json!({ "name": model, "model": model, "modified_at": CREATED_TEXT });
        return Some(json!({ "models": models.iter().map(tag).collect::<Value>() }));
    }
    if path.ends_with("/api/version") {
        return Some(json!({ "version": "0.0.0-mock" }));
    }
    if path.ends_with("/models") {
        let list: Value = models.iter().map(openai_model).collect();
        return Some(json!({ "object": "list", "data": list }));
    }
    let (rest, id) = path.rsplit_once('/')?;
    let model = models.iter().find(|model| *model == id).filter(|_| rest.ends_with("/models"))?;
    Some(openai_model(model))
}

fn openai_model(model: &String) -> Value {
    json!({ "id": model, "object": "model", "created": CREATED, "owned_by": "mock" })
}
