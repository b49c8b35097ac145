//! The `backstop` command.
//!
//! Exit codes stand in the help of the subcommands. Where whoever reads the output has enough of it, the command ends
//! with 0 and says nothing.

mod failure;
mod jsonl;
mod parse_cmd;
mod refusal_cmd;
mod schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// See what backstop makes of a model's text.
///
/// The text is read from standard input: `backstop parse < answer.txt`.
#[derive(Parser)]
#[command(name = "backstop", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Parse(parse_cmd::Args),
    Refusal(refusal_cmd::Args),
}

/// The same for every subcommand, which says what 0 and 1 mean there.
const EXIT_CODES: &str = "Exit codes: 0 the text gave an answer; 1 it gave none, or is a refusal; 2 wrong usage, a missing \
file, a bad schema or unreadable input.";

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Parse(args) => parse_cmd::run(&args),
        Command::Refusal(args) => refusal_cmd::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The outcome of a subcommand.
type Outcome = Result<ExitCode, Failure>;
