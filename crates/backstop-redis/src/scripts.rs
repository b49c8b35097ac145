//! The three scripts: each one atomic, each one a single round trip.

use std::time::Duration;

use redis::{ErrorKind, RedisResult, ServerErrorKind, aio::MultiplexedConnection};

use crate::{RedisOptions, names::Names};

/// How long a state is remembered after the deadline in it. Long enough for every process to hear of it, short
/// enough for names that are no longer used to disappear.
const KEEP: Duration = Duration::from_secs(600);

macro_rules! script {
    ($file:literal) => {
        Script::new(concat!(include_str!("lua/common.lua"), include_str!($file)))
    };
}

pub(crate) struct Scripts {
    trip: Script,
    probe: Script,
    done: Script,
}

/// What a script says: what it did, the epoch, and how things stand.
pub(crate) type Reply = (i64, u64, i64);

/// What is known of a breaker in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) epoch: u64,
    pub(crate) circuit: Circuit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Circuit {
    Closed,
    /// Open, and a probe is due.
    Due,
    Open(Duration),
}

impl Known {
    fn of((_, epoch, left): Reply) -> Self {
        let circuit = match u64::try_from(left) {
            Err(_) => Circuit::Closed,
            Ok(0) => Circuit::Due,
            Ok(left) => Circuit::Open(Duration::from_millis(left)),
        };
        Self { epoch, circuit }
    }
}

/// The answer to who wants to probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Yours,
    Wait(Duration),
    NothingOpen,
}

/// What happened to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Opened,
    /// Too few witnesses yet.
    Noted,
    /// The state had moved on since the instance last looked.
    Late,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self { trip: script!("lua/trip.lua"), probe: script!("lua/probe.lua"), done: script!("lua/done.lua") }
    }

    /// Reports an outage that was found by somebody who knew the state of epoch `seen`.
    pub(crate) async fn trip(
        &self,
        connection: &mut MultiplexedConnection,
        names: &Names,
        options: &RedisOptions,
        seen: u64,
        cooldown: Duration,
    ) -> RedisResult<(Report, Known)> {
        let args = [
            seen.to_string(),
            millis(cooldown),
            options.instance.clone(),
            options.quorum.to_string(),
            millis(options.report_window),
        ];
        let reply = self.trip.call(connection, names, options, &args).await?;
        let report = match reply.0 {
            0 => Report::Late,
            1 => Report::Opened,
            _ => Report::Noted,
        };
        Ok((report, Known::of(reply)))
    }

    /// Asks for the right to probe.
    pub(crate) async fn probe(
        &self,
        connection: &mut MultiplexedConnection,
        names: &Names,
        options: &RedisOptions,
        token: &str,
        lease: Duration,
    ) -> RedisResult<Turn> {
        let args = [token.to_owned(), millis(lease)];
        let (what, _, wait) = self.probe.call(connection, names, options, &args).await?;
        Ok(match what {
            0 => Turn::Wait(Duration::from_millis(u64::try_from(wait).unwrap_or(0))),
            1 => Turn::Yours,
            _ => Turn::NothingOpen,
        })
    }

    /// Gives a lease back. False if it was no longer the token's.
    pub(crate) async fn done(
        &self,
        connection: &mut MultiplexedConnection,
        names: &Names,
        options: &RedisOptions,
        token: &str,
        verdict: Verdict,
    ) -> RedisResult<(bool, Known)> {
        let (word, cooldown) = match verdict {
            Verdict::Recovered => ("recovered", Duration::ZERO),
            Verdict::Failed(cooldown) => ("failed", cooldown),
            Verdict::Released => ("released", Duration::ZERO),
        };
        let args = [
            token.to_owned(),
            word.to_owned(),
            millis(cooldown),
            options.instance.clone(),
            options.quorum.to_string(),
            millis(options.report_window),
        ];
        let reply = self.done.call(connection, names, options, &args).await?;
        Ok((reply.0 == 1, Known::of(reply)))
    }
}

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Recovered,
    Failed(Duration),
    Released,
}

/// Looks at many breakers at once. Runs no script: what it reads need not be of one moment.
pub(crate) async fn look<'a>(
    connection: &mut MultiplexedConnection,
    names: impl Iterator<Item = &'a Names>,
) -> RedisResult<Vec<Known>> {
    let mut pipe = redis::pipe();
    // Of the same clock as the deadlines, and read before them: what is left may come out too long, never too short.
    pipe.cmd("TIME");
    for names in names {
        pipe.cmd("HMGET").arg(&names.state).arg("e").arg("u");
    }
    let replies: Vec<(Option<u64>, Option<u64>)> = pipe.query_async(connection).await?;
    let mut replies = replies.into_iter();
    let now = match replies.next() {
        Some((Some(seconds), Some(micros))) => seconds.saturating_mul(1000).saturating_add(micros / 1000),
        _ => 0,
    };
    let known = |(epoch, until): (Option<u64>, Option<u64>)| {
        let circuit = match until.unwrap_or(0) {
            0 => Circuit::Closed,
            until if until <= now => Circuit::Due,
            until => Circuit::Open(Duration::from_millis(until - now)),
        };
        Known { epoch: epoch.unwrap_or(0), circuit }
    };
    Ok(replies.map(known).collect())
}

struct Script {
    source: &'static str,
    script: redis::Script,
}

impl Script {
    fn new(source: &'static str) -> Self {
        Self { source, script: redis::Script::new(source) }
    }

    /// By its hash; with its text if the server does not know it, which teaches it.
    async fn call(
        &self,
        connection: &mut MultiplexedConnection,
        names: &Names,
        options: &RedisOptions,
        args: &[String],
    ) -> RedisResult<Reply> {
        let command = |name: &str, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(3).arg(&names.state).arg(&names.lease).arg(&names.reporters);
            command.arg(millis(options.cooldown_cap)).arg(millis(KEEP)).arg(args);
            command
        };
        match command("EVALSHA", self.script.get_hash()).query_async(connection).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                command("EVAL", self.source).query_async(connection).await
            }
            answer => answer,
        }
    }
}

/// At least 1, for Redis takes no expiry of 0.
fn millis(duration: Duration) -> String {
    duration.as_millis().max(1).to_string()
}

#[cfg(test)]
mod tests;
