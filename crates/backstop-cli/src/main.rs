//! The `backstop` command.
//!
//! Exit codes, the same for every subcommand: 0 success; 1 the input yielded no answer (or, with `--jsonl`, some line
//! could not be read); 2 the command was called wrongly: unknown option, missing file, bad schema. Where whoever reads
//! the output has enough of it, the command ends with 0 and says nothing.

mod failure;
mod jsonl;
mod parse_cmd;
mod refusal_cmd;
mod schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// See what backstop makes of a model's text.
#[derive(Parser)]
#[command(name = "backstop", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Get the JSON out of a text: prose, fences, reasoning, repairs, schema.
    Parse(parse_cmd::Args),
    /// Tell whether a text is a refusal, and why.
    Refusal(refusal_cmd::Args),
}

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
