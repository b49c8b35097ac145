//! Lines of JSON on standard input, one line of output for each.

use std::io::{self, BufRead, Write};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::failure::Failure;

/// Answers line by line, blank ones aside; the answer to a bad one is what is wrong with it. `form` is what a line looks
/// like. Tells whether every line could be read.
pub(crate) fn answer_lines<L: DeserializeOwned, A: Serialize>(
    form: &str,
    out: &mut impl Write,
    answer: impl Fn(L) -> Result<A, String>,
) -> Result<bool, Failure> {
    let mut all_read = true;
    // Bytes, so that a line that is not UTF-8 is one bad line and not the end of the input.
    for (number, line) in (1_u64..).zip(io::stdin().lock().split(b'\n')) {
        let line = line?;
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = serde_json::from_slice(line).map_err(|error| format!("expected {form}: {error}"));
        match read.and_then(&answer) {
            Ok(answer) => print_line(out, &answer)?,
            Err(error) => {
                all_read = false;
                print_line(out, &json!({"id": id(line), "line": number, "error": error}))?;
            }
        }
    }
    Ok(all_read)
}

/// The id of a line that is JSON, but not as it should be.
fn id(line: &[u8]) -> Value {
    let id = serde_json::from_slice::<Value>(line).ok().and_then(|mut line| Some(line.get_mut("id")?.take()));
    id.unwrap_or_default()
}

pub(crate) fn print_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value).map_err(Failure::new)?;
    writeln!(out, "{line}")?;
    Ok(())
}
