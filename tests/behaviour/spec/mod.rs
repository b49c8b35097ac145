//! The vendors' own specifications as a judge of what is sent and of what the server answers.
//!
//! They are not part of this repository. They are looked for in the folder `specs` within the folder that the
//! environment variable `BACKSTOP_SHARED` names, or else within a folder `shared` beside the workspace. Where a file is
//! missing, its checks are left out, and standard error says so.
//!
//! [`sources`] says which schema judges what, [`exceptions`] where the wire is known to be wider than its
//! specification.

mod documents;
mod exceptions;
mod sources;

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use backstop::mock::server::Format;
use jsonschema::Validator;
use serde_json::Value;

pub use sources::Role;
use sources::{SOURCES, Source};

/// Fails if the value does not follow the vendor's specification.
pub fn assert_valid(format: Format, role: Role, value: &Value) {
    for source in SOURCES.iter().filter(|source| source.format == format && source.role == role) {
        let Some(validator) = validator(source) else { continue };
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{} at `{}`", error, error.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{role:?} against {} {}:\n{}\n{value:#}",
            source.file,
            source.schema,
            errors.join("\n")
        );
    }
}

/// Compiled once per process; `None` where the file is not at hand.
fn validator(source: &'static Source) -> Option<Arc<Validator>> {
    type Compiled = HashMap<(&'static str, &'static str), Option<Arc<Validator>>>;
    static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    compiled.entry((source.file, source.schema)).or_insert_with(|| compile(source).map(Arc::new)).clone()
}

fn compile(source: &Source) -> Option<Validator> {
    let mut document = documents::load(source.file)?;
    exceptions::apply(source.file, &mut document);
    documents::null_where_nullable(&mut document);
    if !source.schema.is_empty() {
        document["$ref"] = format!("#{}", source.schema).into();
    }
    let options = jsonschema::options().should_validate_formats(false).offline();
    Some(options.build(&document).unwrap_or_else(|error| panic!("{}: {error}", source.file)))
}

#[test]
fn the_judge_finds_what_is_wrong() {
    let wrong = serde_json::json!({ "model": 7, "messages": "hello", "contents": {}, "input": 7 });
    for source in SOURCES.iter().filter(|source| source.role == Role::Request) {
        if let Some(validator) = validator(source) {
            assert!(!validator.is_valid(&wrong), "{} takes anything", source.file);
        }
    }
}

#[test]
fn every_format_has_a_judge_for_requests_answers_and_events() {
    use Format::{Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};
    for format in [OpenAiChat, OpenAiResponses, Anthropic, Gemini, Ollama] {
        for role in [Role::Request, Role::Answer, Role::Event] {
            assert!(
                SOURCES.iter().any(|source| source.format == format && source.role == role),
                "{format:?} {role:?}"
            );
        }
    }
}
