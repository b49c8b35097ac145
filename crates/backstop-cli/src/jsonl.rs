//! Lines of JSON on standard input, one line of output for each.

use std::io::{self, BufRead, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::failure::{Failure, complain};

/// Answers line by line; a bad one is reported with its number and skipped. `form` is what a line looks like. Tells
/// whether every line could be read.
pub(crate) fn answer_lines<L: DeserializeOwned, A: Serialize>(
    form: &str,
    out: &mut impl Write,
    answer: impl Fn(L) -> Result<A, String>,
) -> Result<bool, Failure> {
    let mut all_read = true;
    // Bytes, so that a line that is not UTF-8 is one bad line and not the end of the input.
    for (number, line) in (1..).zip(io::stdin().lock().split(b'\n')) {
        let line = line?;
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = serde_json::from_slice(line).map_err(|error| format!("expected {form}: {error}"));
        match read.and_then(&answer) {
            Ok(answer) => print_line(out, &answer)?,
            Err(why) => {
                all_read = false;
                complain(&format!("line {number}: {why}"));
            }
        }
    }
    Ok(all_read)
}

pub(crate) fn print_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value).map_err(Failure::new)?;
    writeln!(out, "{line}")?;
    Ok(())
}
