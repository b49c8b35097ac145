//! `backstop parse`: a text on standard input, its JSON on standard output.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use backstop_validate::coerce::{Coercion, Mode};
use backstop_validate::json::{ExtractError, Extracted, Extractor, Policy, Repair};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::failure::Failure;
use crate::jsonl::{answer_lines, print_line};
use crate::schema::Schema;

/// Get the JSON out of a text on standard input: prose, fences, reasoning, repairs, schema
///
/// Reads a model's text from standard input (`backstop parse < answer.txt`) and prints the JSON in it as one line:
/// {"value": …, "repairs": […], "coercions": […]} or {"error": "…", "kind": "…"}, with the kinds of the library:
/// not_json, schema_mismatch, truncated, ambiguous, ….
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// A JSON Schema that the value must match.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// How much may be repaired.
    #[arg(long, value_enum, default_value_t = PolicyName::Tolerant)]
    policy: PolicyName,
    /// How far values are converted to match the schema.
    #[arg(long, value_enum, default_value_t = ModeName::Safe)]
    coerce: ModeName,
    /// Read lines of {"id": …, "input": "…", "schema": …} and print one line for each, in order; `schema` may be left
    /// out. A line that cannot be read gives {"id": …, "line": …, "error": "…"}; blank ones are skipped.
    #[arg(long)]
    jsonl: bool,
    /// A file that was meant to be read.
    #[arg(hide = true)]
    files: Vec<OsString>,
}

const EXIT_CODES: &str = "Exit codes: 0 a value was found (with --jsonl: every line was read, whatever is in them); 1 \
there is none (with --jsonl: a line could not be read); 2 wrong usage, a missing file, a bad schema or unreadable input.";

#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    /// The JSON must be valid; only what surrounds it is removed.
    Strict,
    /// Cosmetic and structural repairs.
    Tolerant,
    /// Guesses and partial values too.
    Salvage,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    /// Not at all.
    Off,
    /// Where nothing is lost and there is one reading.
    Safe,
    /// Also where the reading is only likely.
    Eager,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Off => Self::Off,
            ModeName::Safe => Self::Safe,
            ModeName::Eager => Self::Eager,
        }
    }
}

/// One line of `--jsonl`, as it is written.
const LINE: &str = "{\"id\": …, \"input\": \"…\"}";

/// One line of `--jsonl`.
#[derive(Deserialize)]
struct Line {
    id: Value,
    input: String,
    #[serde(default)]
    schema: Value,
}

pub(crate) fn run(args: &Args) -> Outcome {
    Failure::if_named("parse", &args.files)?;
    let schema = args.schema.as_deref().map(|path| Schema::read(path, args.coerce.into())).transpose()?;
    let parser = Parser::new(args);
    let mut out = BufWriter::new(io::stdout().lock());
    let all_well = if args.jsonl {
        answer_lines(LINE, &mut out, |line| parser.line(line, schema.as_ref()))?
    } else {
        let text = io::read_to_string(io::stdin().lock())
            .map_err(|error| Failure::new(format!("cannot read the text from standard input: {error}")))?;
        let (answer, found) = parser.parse(&text, schema.as_ref());
        print_line(&mut out, &answer)?;
        found
    };
    out.flush()?;
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

struct Parser {
    extractor: Extractor,
    mode: Mode,
}

impl Parser {
    fn new(args: &Args) -> Self {
        let policy = match args.policy {
            PolicyName::Strict => Policy::Strict,
            PolicyName::Tolerant => Policy::Tolerant,
            PolicyName::Salvage => Policy::Salvage,
        };
        Self { extractor: Extractor::new().policy(policy), mode: args.coerce.into() }
    }

    fn line(&self, line: Line, schema: Option<&Schema>) -> Result<Map<String, Value>, String> {
        let own = match line.schema {
            Value::Null => None,
            source => Some(Schema::new(source, self.mode).map_err(|why| format!("bad schema: {why}"))?),
        };
        let (mut answer, _) = self.parse(&line.input, own.as_ref().or(schema));
        answer.insert("id".to_owned(), line.id);
        Ok(answer)
    }

    /// The answer for one text, and whether it is a value.
    fn parse(&self, text: &str, schema: Option<&Schema>) -> (Map<String, Value>, bool) {
        let Some(schema) = schema else {
            return match self.extractor.extract(text) {
                Ok(found) => (answer(found, Vec::new()), true),
                Err(error) => (refusal(&error), false),
            };
        };
        match self.extractor.extract_fitting(text, schema) {
            Ok(mut found) => {
                let (value, coercions) = schema.convert(found.value);
                found.value = value;
                (answer(found, coercions), true)
            }
            Err(error) => {
                let mut refused = refusal(&error);
                if let ExtractError::Mismatch(would_be) = &error {
                    refused.insert("mismatches".to_owned(), json!(schema.complaints(&would_be.value)));
                    refused.insert("would_be".to_owned(), would_be.value.clone());
                }
                (refused, false)
            }
        }
    }
}

fn answer(found: Extracted, coercions: Vec<Coercion>) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("repairs".to_owned(), found.repairs.iter().map(repair).collect());
    if found.unlisted_repairs > 0 {
        out.insert("unlisted_repairs".to_owned(), found.unlisted_repairs.into());
    }
    out.insert("coercions".to_owned(), coercions.iter().map(coercion).collect());
    if let Some(cut) = &found.truncated {
        out.insert("truncated".to_owned(), json!({"pointer": cut.pointer, "state": cut.state.to_string()}));
    }
    out.insert("value".to_owned(), found.value);
    out
}

fn refusal(error: &ExtractError) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("error".to_owned(), error.to_string().into());
    out.insert("kind".to_owned(), error.as_str().into());
    out.insert("repairs".to_owned(), json!([]));
    if let ExtractError::Truncated(cut) = error {
        out.insert("truncated".to_owned(), json!({"pointer": cut.pointer, "state": cut.state.to_string()}));
    }
    out
}

fn repair(repair: &Repair) -> Value {
    json!({"kind": repair.kind.as_str(), "risk": repair.risk, "offset": repair.offset, "pointer": repair.pointer})
}

fn coercion(coercion: &Coercion) -> Value {
    json!({"kind": coercion.kind.as_str(), "pointer": coercion.pointer})
}
