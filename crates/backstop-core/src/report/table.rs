//! The report as a table that a person can read.

use std::fmt;

use super::{AttemptOutcome, AttemptRecord, Report, Skip, SkipRecord};
use crate::{error::plain, human::Human, policy::Remedy};

const HEAD: [&str; 6] = ["at", "target", "try", "took", "outcome", "then"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.table();
        let widths: Vec<usize> = HEAD
            .iter()
            .enumerate()
            .map(|(column, head)| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).chain([head.len()]).max().unwrap_or_default()
            })
            .collect();
        write!(f, "call {}", self.call_id)?;
        if self.canary {
            f.write_str(" (canary)")?;
        }
        match &self.served_by {
            Some(target) if self.used_fallback => writeln!(f, ": served by {target} (fallback)")?,
            Some(target) => writeln!(f, ": served by {target}")?,
            None => writeln!(f, ": not served")?,
        }
        line(f, &HEAD.map(str::to_owned), &widths)?;
        for row in &rows {
            line(f, row, &widths)?;
        }
        write!(f, "{} attempt(s), {} skip(s)", self.attempts.len(), self.skips.len())?;
        write!(f, ", {}", Human(self.elapsed))?;
        let usage = self.usage;
        let about = if usage.estimated { "about " } else { "" };
        write!(f, "; {about}{} tokens in, {} out", usage.input_tokens, usage.output_tokens)?;
        if !self.check_usage.is_zero() {
            let checks = self.check_usage;
            write!(f, ", and {} in, {} out for checks", checks.input_tokens, checks.output_tokens)?;
        }
        match self.retry_in {
            Some(wait) => write!(f, "; a target may be back in {}", Human(wait)),
            None => Ok(()),
        }
    }
}

impl Report {
    /// Attempts and skips in the order of time, and of one time in the order in which they came.
    fn table(&self) -> Vec<[String; 6]> {
        let skips = self.skips.iter().map(|skip| ((skip.at, skip.attempts_before), skip.row()));
        let attempts = self.attempts.iter().enumerate().map(|(n, attempt)| ((attempt.at, n), attempt.row()));
        // The sort is stable: a skip comes before the attempt that followed it.
        let mut rows: Vec<_> = skips.chain(attempts).collect();
        rows.sort_by_key(|(order, _)| *order);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

impl AttemptRecord {
    fn row(&self) -> [String; 6] {
        let remedies: String = self.remedies.iter().fold(String::new(), |all, remedy| match remedy {
            Remedy::Nothing => all,
            remedy => format!("{all} +{remedy}"),
        });
        let outcome = match &self.outcome {
            AttemptOutcome::Served => "served".to_owned(),
            AttemptOutcome::Failed { message, .. } => shorten(message, 90),
            AttemptOutcome::Cancelled => "cancelled".to_owned(),
        };
        let member = self.member.map(|member| format!("#{member}")).unwrap_or_default();
        let hedge = match (self.hedge, self.continued) {
            (true, _) => " hedge",
            (_, true) => " continued",
            _ => "",
        };
        let then = self.decision.map(|decision| decision.to_string()).unwrap_or_default();
        let alert = if self.alert { " [alert]" } else { "" };
        [
            Human(self.at).to_string(),
            format!("{}{member}", self.target),
            format!("{}{remedies}{hedge}", self.number),
            Human(self.latency).to_string(),
            outcome,
            then + alert,
        ]
    }
}

impl SkipRecord {
    fn row(&self) -> [String; 6] {
        let none = || "-".to_owned();
        let outcome = format!("skipped: {}", self.reason);
        [Human(self.at).to_string(), self.target.to_string(), none(), none(), outcome, "next".to_owned()]
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BreakerOpen { retry_in: Some(wait) } => write!(f, "breaker open, for {}", Human(*wait)),
            Self::BreakerOpen { retry_in: None } => f.write_str("breaker open"),
            Self::GateClosed { retry_in } => write!(f, "gate closed, for {}", Human(*retry_in)),
            Self::CredentialLatched => f.write_str("credential was rejected"),
            Self::Deadline => f.write_str("deadline"),
            Self::Disabled => f.write_str("switched off"),
            Self::Quality { retry_in: Some(wait) } => {
                write!(f, "too many useless answers to this task, for {}", Human(*wait))
            }
            Self::Quality { retry_in: None } => f.write_str("too many useless answers to this task"),
            Self::BulkheadFull { waited } => write!(f, "full, waited {}", Human(*waited)),
            Self::OwnRateLimit { retry_in } => write!(f, "own rate limit, for {}", Human(*retry_in)),
            Self::HedgeNotPaid => f.write_str("no hedge, retry budget empty"),
            Self::Unsupported { what } => write!(f, "does not support {what}"),
            Self::ContextTooSmall { window: Some(tokens) } => {
                write!(f, "context of {tokens} tokens too small")
            }
            Self::ContextTooSmall { window: None } => f.write_str("context window unknown, one was tried"),
            Self::NotAsked => f.write_str("not asked for"),
        }
    }
}

fn line(f: &mut fmt::Formatter<'_>, cells: &[String; 6], widths: &[usize]) -> fmt::Result {
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let last = column + 1 == cells.len();
        match (column, last) {
            (0, _) => write!(f, "  {cell:>width$}")?,
            (_, true) => write!(f, "  {cell}")?,
            _ => write!(f, "  {cell:<width$}")?,
        }
    }
    writeln!(f)
}

fn shorten(text: &str, most: usize) -> String {
    // A report may have been read from a file.
    let flat = plain(text);
    if flat.chars().count() <= most {
        return flat.into_owned();
    }
    flat.chars().take(most - 1).chain(['…']).collect()
}
