//! The background's side: says what this process found, and looks for what others did.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{AsyncConnectionConfig, RedisError, aio::MultiplexedConnection};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::{
    outbox::{Message, What},
    scripts::{Verdict, look},
    state::Link,
};

/// After a connection was lost, the first new attempt comes within this time, and later ones within twice the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Keeps a [`RedisState`](crate::RedisState) and Redis in step. Run it for as long as the state is used.
#[must_use = "nothing is shared until it runs: `tokio::spawn(sync.run())`"]
pub struct RedisSync {
    link: Arc<Link>,
    client: redis::Client,
}

impl RedisSync {
    pub(crate) fn new(link: Arc<Link>, client: redis::Client) -> Self {
        Self { link, client }
    }

    /// Connects, reports, polls, and connects anew when Redis was away. Ends when the
    /// [`RedisState`](crate::RedisState) is dropped, or by being dropped itself, which closes the connection; each
    /// process then decides for itself.
    pub async fn run(self) {
        let mut pause = FIRST_PAUSE;
        let mut complained = false;
        while !self.link.is_dropped() {
            let Err(trouble) = self.session(&mut pause, &mut complained).await else { return };
            if complained {
                tracing::debug!(target: "backstop::redis", error = trouble.what(), "still without Redis");
            } else {
                tracing::warn!(
                    target: "backstop::redis",
                    error = trouble.what(), "breaker state is not shared: each process decides for itself"
                );
                complained = true;
            }
            // All processes lost the connection at the same moment; they should not come back at the same moment.
            let wait = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
            pause = (pause * 2).min(LONGEST_PAUSE);
            tokio::select! {
                () = sleep(wait) => {}
                () = self.link.dropped() => {}
            }
        }
    }

    /// One connection, from beginning to end. `Ok` if the state was dropped.
    async fn session(&self, pause: &mut Duration, complained: &mut bool) -> Result<(), Trouble> {
        let link = &*self.link;
        let mut connection = self.connect().await?;
        let mut shown = None;
        loop {
            self.poll(&mut connection).await?;
            let next_poll = Instant::now() + link.options.poll_interval;
            if shown.is_none() {
                shown = Some(Shown::new(link, &connection));
                *pause = FIRST_PAUSE;
                if std::mem::take(complained) {
                    tracing::info!(target: "backstop::redis", "breaker state is shared again");
                }
            }
            loop {
                self.empty_outbox(&mut connection).await?;
                tokio::select! {
                    () = link.outbox.filled() => {}
                    () = sleep_until(next_poll) => break,
                    () = link.dropped() => return Ok(()),
                }
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, Trouble> {
        let limit = self.link.options.background_timeout();
        // One limit for all of it; the client's own would only tell a lookup from a handshake.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(Some(limit));
        within(limit, self.client.get_multiplexed_async_connection_with_config(&config)).await
    }

    async fn poll(&self, connection: &mut MultiplexedConnection) -> Result<(), Trouble> {
        let link = &*self.link;
        let in_use = link.watched.in_use();
        let looked = look(connection, in_use.iter().map(|(_, names)| &**names));
        let known = within(link.options.background_timeout(), looked).await?;
        for ((key, _), known) in in_use.iter().zip(known) {
            link.watched.learn(key, known);
        }
        Ok(())
    }

    async fn empty_outbox(&self, connection: &mut MultiplexedConnection) -> Result<(), Trouble> {
        let link = &*self.link;
        while let Some(message) = link.outbox.take(Instant::now()) {
            let sent = within(link.options.background_timeout(), self.send(connection, &message)).await;
            if let Err(trouble) = sent {
                match trouble {
                    // Said twice, it does no harm: the epoch or the token has changed by then.
                    Trouble::Unreachable(_) => link.outbox.put_back(message),
                    Trouble::Refused(_) => link.outbox.lose(),
                }
                return Err(trouble);
            }
        }
        Ok(())
    }

    async fn send(
        &self,
        connection: &mut MultiplexedConnection,
        message: &Message,
    ) -> Result<(), RedisError> {
        let link = &*self.link;
        let cooldown = message.until.saturating_duration_since(Instant::now());
        let (token, verdict) = match &message.what {
            What::Trip { seen } => {
                let names = &message.names;
                let (report, known) =
                    link.scripts.trip(connection, names, &link.options, *seen, cooldown).await?;
                tracing::debug!(target: "backstop::redis", key = %message.key, ?report, "reported an outage");
                link.watched.learn(&message.key, known);
                return Ok(());
            }
            What::Recovered { token } => (token, Verdict::Recovered),
            What::Failed { token } => (token, Verdict::Failed(cooldown)),
            What::Released { token } => (token, Verdict::Released),
        };
        let (applied, known) =
            link.scripts.done(connection, &message.names, &link.options, token, verdict).await?;
        tracing::debug!(target: "backstop::redis", key = %message.key, ?verdict, applied, "settled a lease");
        link.watched.learn(&message.key, known);
        Ok(())
    }
}

impl fmt::Debug for RedisSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSync").field("options", &self.link.options).finish_non_exhaustive()
    }
}

/// Lets calls use the connection for as long as the session lasts.
struct Shown<'a>(&'a Link);

impl<'a> Shown<'a> {
    fn new(link: &'a Link, connection: &MultiplexedConnection) -> Self {
        link.set_connection(Some(connection.clone()));
        Self(link)
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.set_connection(None);
    }
}

/// Why a session ended. Only categories: a server's message may repeat what it was sent, the password included.
#[derive(Debug)]
enum Trouble {
    Unreachable(String),
    /// Redis is there and says no: a replica, a full memory, a wrong password.
    Refused(String),
}

impl Trouble {
    fn what(&self) -> &str {
        match self {
            Self::Unreachable(what) | Self::Refused(what) => what,
        }
    }
}

async fn within<T>(
    limit: Duration,
    asked: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, Trouble> {
    match timeout(limit, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if error.is_io_error() || error.is_timeout() => {
            Err(Trouble::Unreachable(error.category().to_owned()))
        }
        Ok(Err(error)) => Err(Trouble::Refused(error.category().to_owned())),
        Err(_) => Err(Trouble::Unreachable("timeout".to_owned())),
    }
}
