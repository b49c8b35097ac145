//! `backstop refusal`: an answer on standard input, the verdict on it on standard output.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::process::ExitCode;

use backstop_validate::refusal::{Detector, Kind, Signals, Verdict};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Outcome;
use crate::failure::Failure;
use crate::jsonl::{answer_lines, print_line};

/// Tell whether a text on standard input is a refusal, and why
///
/// Reads a model's answer from standard input (`backstop refusal < answer.txt`) and prints whether it is a refusal, and
/// why, as one line: {"refusal": …, "kind": "…", "points": …, "evidence": […], "language": "…"}.
#[derive(clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// How readily a text is called a refusal.
    #[arg(long, value_enum, default_value_t = Preset::Balanced)]
    preset: Preset,
    /// A phrase that is no refusal; may be given several times.
    #[arg(long, value_name = "PHRASE")]
    allow: Vec<String>,
    /// A phrase that is a refusal wherever it occurs; may be given several times.
    #[arg(long, value_name = "PHRASE")]
    deny: Vec<String>,
    /// JSON was asked for, so that prose is suspicious.
    #[arg(long)]
    json_expected: bool,
    /// Read lines of {"id": …, "text": "…"} and print {"id", "refusal", "points", "kind"} for each, in order. A line
    /// that cannot be read gives {"id": …, "line": …, "error": "…"}; blank ones are skipped.
    #[arg(long)]
    jsonl: bool,
    /// A file that was meant to be read.
    #[arg(hide = true)]
    files: Vec<OsString>,
}

const EXIT_CODES: &str = "Exit codes: 0 it is none (with --jsonl: every line was read, whatever the verdicts); 1 it is one \
(with --jsonl: a line could not be read); 2 wrong usage or unreadable input.";

#[derive(Clone, Copy, ValueEnum)]
enum Preset {
    /// Plain declines only: for chats and role-play.
    Strict,
    /// For prose.
    Balanced,
    /// For structured answers.
    Sensitive,
}

/// One line of `--jsonl`, as it is written.
const LINE: &str = "{\"id\": …, \"text\": \"…\"}";

/// One line of `--jsonl`.
#[derive(Deserialize)]
struct Line {
    id: Value,
    text: String,
}

/// What `--jsonl` prints for a line.
#[derive(Serialize)]
struct Answer {
    id: Value,
    refusal: bool,
    points: i32,
    kind: Kind,
}

pub(crate) fn run(args: &Args) -> Outcome {
    Failure::if_named("refusal", &args.files)?;
    let judge = Judge::new(args);
    let mut out = BufWriter::new(io::stdout().lock());
    let success = if args.jsonl {
        answer_lines(LINE, &mut out, |line| Ok(judge.line(line)))?
    } else {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text)?;
        let verdict = judge.verdict(&text);
        print_line(&mut out, &verdict)?;
        !verdict.refusal
    };
    out.flush()?;
    Ok(if success { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

struct Judge {
    detector: Detector,
    signals: Signals,
}

impl Judge {
    fn new(args: &Args) -> Self {
        let preset = match args.preset {
            Preset::Strict => Detector::strict(),
            Preset::Balanced => Detector::balanced(),
            Preset::Sensitive => Detector::sensitive(),
        };
        let allowing = args.allow.iter().fold(preset, |detector, phrase| detector.allow(phrase));
        let detector = args.deny.iter().fold(allowing, |detector, phrase| detector.deny(phrase));
        Self { detector, signals: Signals::new().json_expected(args.json_expected) }
    }

    fn verdict(&self, text: &str) -> Verdict {
        self.detector.detect_with(self.signals, text)
    }

    fn line(&self, Line { id, text }: Line) -> Answer {
        let Verdict { refusal, points, kind, .. } = self.verdict(&text);
        Answer { id, refusal, points, kind }
    }
}
