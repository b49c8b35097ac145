//! What a target has turned out not to take, so that the calls that follow need not find out again.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    attempt::Overlay,
    policy::Remedy,
    request::{Output, Request},
};

/// After so long it is tried again: servers are updated, and models replaced under their name.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// Schemas may be made up at run time, so what is known of them is bounded. The oldest is forgotten.
const MOST: usize = 64;

/// What one target does not take.
#[derive(Debug, Default)]
pub(crate) struct Learnt(Mutex<Vec<Lesson>>);

#[derive(Debug)]
struct Lesson {
    until: Instant,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    /// This schema, by its hash: others may be simple enough for the vendor.
    Schema(u64),
    /// Any format for answers.
    Formats,
    Param(Cow<'static, str>),
}

impl Learnt {
    /// Begins a visit with what earlier visits have come to.
    pub(crate) fn apply(
        &self,
        request: &Request,
        now: impl FnOnce() -> Instant,
        overlay: &mut Overlay,
        remedies: &mut Vec<Remedy>,
    ) {
        let mut lessons = self.lessons();
        if lessons.is_empty() {
            return;
        }
        let now = now();
        lessons.retain(|lesson| lesson.until > now);
        let schema = schema_of(request);
        for lesson in &*lessons {
            match &lesson.what {
                What::Schema(hash) if schema == Some(*hash) => {
                    overlay.json_mode = true;
                    remedies.push(Remedy::JsonMode);
                }
                What::Formats if request.output != Output::Text => {
                    (overlay.json_mode, overlay.prompt_only) = (true, true);
                    remedies.push(Remedy::PromptOnly);
                }
                What::Param(param) if has(request, param) => {
                    overlay.dropped.push(param.clone());
                    remedies.push(Remedy::DropParam);
                }
                What::Schema(_) | What::Formats | What::Param(_) => {}
            }
        }
    }

    /// A request that was changed in this way has been answered.
    pub(crate) fn answered(&self, request: &Request, now: Instant, overlay: &Overlay) {
        let format = match (overlay.prompt_only, overlay.json_mode) {
            (true, _) => Some(What::Formats),
            (false, true) => schema_of(request).map(What::Schema),
            (false, false) => None,
        };
        let params = overlay.dropped.iter().cloned().map(What::Param);
        for what in format.into_iter().chain(params) {
            self.learn(what, now);
        }
    }

    fn learn(&self, what: What, now: Instant) {
        let Some(until) = now.checked_add(KEPT) else { return };
        let mut lessons = self.lessons();
        // What is known is not prolonged by being heeded, or it would never be tried again.
        if lessons.iter().any(|lesson| lesson.what == what) {
            return;
        }
        if lessons.len() >= MOST {
            lessons.remove(0);
        }
        lessons.push(Lesson { until, what });
    }

    fn lessons(&self) -> MutexGuard<'_, Vec<Lesson>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn schema_of(request: &Request) -> Option<u64> {
    let Output::Schema(wanted) = &request.output else { return None };
    let mut hasher = DefaultHasher::new();
    wanted.schema.to_string().hash(&mut hasher);
    Some(hasher.finish())
}

/// Whether a parameter is in the request, as far as that can be told here: those of vendors' own options cannot.
fn has(request: &Request, param: &str) -> bool {
    match param {
        "temperature" => request.temperature.is_some(),
        "top_p" => request.top_p.is_some(),
        "seed" => request.seed.is_some(),
        "stop" => !request.stop.is_empty(),
        "max_tokens" | "max_completion_tokens" => request.max_tokens.is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn begun(learnt: &Learnt, request: &Request, now: Instant) -> (Overlay, Vec<Remedy>) {
        let (mut overlay, mut remedies) = (Overlay::new(), Vec::new());
        learnt.apply(request, || now, &mut overlay, &mut remedies);
        (overlay, remedies)
    }

    #[test]
    fn a_refused_schema_is_remembered_for_itself_and_refused_formats_for_all() {
        let (learnt, now) = (Learnt::default(), Instant::now());
        let one = Request::new("x").json_schema("one", json!({"type": "object"}));
        let other = Request::new("x").json_schema("other", json!({"type": "array"}));
        let json_mode = Overlay { json_mode: true, ..Overlay::new() };
        learnt.answered(&one, now, &json_mode);
        assert_eq!(begun(&learnt, &one, now), (json_mode, vec![Remedy::JsonMode]));
        assert_eq!(begun(&learnt, &other, now), (Overlay::new(), Vec::new()));

        let prompt_only = Overlay { json_mode: true, prompt_only: true, ..Overlay::new() };
        learnt.answered(&one, now, &prompt_only);
        assert_eq!(begun(&learnt, &other, now), (prompt_only, vec![Remedy::PromptOnly]));
        assert_eq!(begun(&learnt, &Request::new("x"), now).1, [], "text needs no format");
    }

    #[test]
    fn a_refused_parameter_is_left_out_where_it_would_be_sent_and_tried_again_after_a_while() {
        let (learnt, now) = (Learnt::default(), Instant::now());
        let request = Request::new("x").temperature(0.5);
        let dropped = Overlay { dropped: vec!["temperature".into()], ..Overlay::new() };
        learnt.answered(&request, now, &dropped);
        assert_eq!(begun(&learnt, &request, now), (dropped.clone(), vec![Remedy::DropParam]));
        assert_eq!(begun(&learnt, &Request::new("x"), now).1, []);
        learnt.answered(&request, now + KEPT / 2, &dropped);
        assert_eq!(begun(&learnt, &request, now + KEPT).1, [], "heeding it does not prolong it");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (learnt, now) = (Learnt::default(), Instant::now());
        let overlay = Overlay { json_mode: true, ..Overlay::new() };
        for n in 0..3 * MOST {
            learnt.answered(&Request::new("x").json_schema("s", json!({ "const": n })), now, &overlay);
        }
        assert_eq!(learnt.lessons().len(), MOST);
    }
}
