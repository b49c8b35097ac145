//! The breakers' side: what a call may ask, and what a breaker may say. Nothing here waits for Redis, except for the
//! one question whether a call may probe.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use backstop_core::breaker::{
    Breaker, BreakerConfig, BreakerKey, Evidence, LeaseAnswer, LeaseToken, LeaseVerdict, Outcome, Reason,
    SharedState, SharedStatus, State, Transition,
};
use redis::aio::MultiplexedConnection;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::{
    RedisOptions, RedisStateError, RedisSync,
    outbox::{Message, Outbox, What},
    scripts::{Scripts, Turn},
    watched::Watched,
};

/// For how long it makes sense to give a lease back. By then it has mostly ended by itself.
const RELEASE_WITHIN: Duration = Duration::from_secs(300);

/// Breaker state that processes share through Redis; see the [crate](crate).
///
/// Does nothing until its [`RedisSync`] runs. The other way round, the sync ends when this is dropped.
pub struct RedisState {
    link: Arc<Link>,
}

/// What the two halves have in common.
pub(crate) struct Link {
    pub(crate) options: RedisOptions,
    pub(crate) scripts: Scripts,
    pub(crate) outbox: Outbox,
    pub(crate) watched: Watched,
    /// The sync's, while it has one.
    connection: Mutex<Option<MultiplexedConnection>>,
    /// Keeps calls from waiting for a Redis that does not answer.
    guard: Arc<Breaker>,
    dropped: AtomicBool,
    dropped_now: Notify,
}

impl RedisState {
    /// State in the Redis at this address (`redis://[user:password@]host[:port][/database]`), and the sync to run.
    /// Connects to nothing yet: that Redis is away when a program starts is no reason not to start.
    ///
    /// # Errors
    /// [`RedisStateError`] if the address or a setting cannot be right.
    pub fn connect(address: &str, options: RedisOptions) -> Result<(Arc<Self>, RedisSync), RedisStateError> {
        // The client's own error may repeat parts of the address.
        let client = redis::Client::open(address).map_err(|_| RedisStateError::Address)?;
        Self::with_client(client, options)
    }

    /// The same with a client that is configured by hand, such as one with certificates of its own.
    ///
    /// # Errors
    /// [`RedisStateError`] if a setting cannot be right.
    pub fn with_client(
        client: redis::Client,
        options: RedisOptions,
    ) -> Result<(Arc<Self>, RedisSync), RedisStateError> {
        options.check()?;
        #[cfg(feature = "rustls")]
        choose_cryptography(&client);
        let link = Arc::new(Link {
            scripts: Scripts::new(),
            outbox: Outbox::default(),
            watched: Watched::new(&options.prefix),
            connection: Mutex::default(),
            guard: guard(),
            dropped: AtomicBool::new(false),
            dropped_now: Notify::new(),
            options,
        });
        Ok((Arc::new(Self { link: Arc::clone(&link) }), RedisSync::new(link, client)))
    }

    /// How many reports and verdicts never reached Redis, because it was away for too long.
    pub fn lost_messages(&self) -> u64 {
        self.link.outbox.lost()
    }
}

/// The client takes the process's default and panics if there is none.
#[cfg(feature = "rustls")]
fn choose_cryptography(client: &redis::Client) {
    use rustls::crypto::{CryptoProvider, aws_lc_rs};
    let encrypted = matches!(client.get_connection_info().addr(), redis::ConnectionAddr::TcpTls { .. });
    if encrypted && CryptoProvider::get_default().is_none() {
        // An error says that somebody else has just chosen.
        let _ = aws_lc_rs::default_provider().install_default();
    }
}

/// Three timeouts in a row, and calls no longer ask for 5 s, at most 30 s if it goes on.
fn guard() -> Arc<Breaker> {
    let config = BreakerConfig::builder()
        .consecutive_failures(3)
        .cooldown(Duration::from_secs(5))
        .cooldown_cap(Duration::from_secs(30))
        .probe_lease(Duration::from_secs(10))
        .build();
    // A test makes sure that the default never has to step in.
    Breaker::builder(BreakerKey::new("redis", "lease")).config(config.unwrap_or_default()).build()
}

#[async_trait]
impl SharedState for RedisState {
    fn attached(&self, breaker: &Arc<Breaker>) {
        self.link.watched.attach(breaker);
    }

    async fn lease(&self, key: &BreakerKey, token: LeaseToken, lease: Duration) -> LeaseAnswer {
        let link = &*self.link;
        let Some(mut connection) = link.connection() else { return LeaseAnswer::Unknown };
        let Ok(permit) = link.guard.try_acquire() else { return LeaseAnswer::Unknown };
        let (names, text) = (link.watched.names(key), link.token(token));
        let asked = link.scripts.probe(&mut connection, &names, &link.options, &text, lease);
        let answer = match timeout(link.options.timeout, asked).await {
            Ok(Ok(turn)) => {
                permit.settle(Outcome::Success);
                return match turn {
                    Turn::Yours => LeaseAnswer::Granted,
                    Turn::Wait(wait) => LeaseAnswer::Refused { wait },
                    Turn::NothingOpen => LeaseAnswer::Unknown,
                };
            }
            Ok(Err(error)) => error.category().to_owned(),
            Err(_) => "timeout".to_owned(),
        };
        permit.settle(Outcome::FAILURE);
        tracing::debug!(target: "backstop::redis", %key, error = answer, "no answer about a lease");
        // It may have been granted nevertheless, to a call that no longer knows of it.
        link.say(key, Instant::now() + RELEASE_WITHIN, What::Released { token: text });
        LeaseAnswer::Unknown
    }

    fn changed(&self, transition: &Transition) {
        let link = &*self.link;
        let (State::Open, Some(cooldown)) = (transition.to, transition.cooldown) else { return };
        // The lease's verdict has said it, or it is no longer wanted.
        if transition.from == State::HalfOpen && link.watched.take_spoken_for(&transition.key) {
            return;
        }
        let tells_others = match transition.evidence {
            Some(Evidence::Provider) => true,
            Some(Evidence::Local) => link.options.report_local,
            _ => false,
        };
        if tells_others && transition.reason != Reason::Shared {
            let seen = link.watched.epoch(&transition.key);
            link.say(&transition.key, Instant::now() + cooldown, What::Trip { seen });
        }
    }

    fn settled(&self, key: &BreakerKey, token: LeaseToken, verdict: LeaseVerdict) {
        let link = &*self.link;
        let (now, token) = (Instant::now(), link.token(token));
        match verdict {
            LeaseVerdict::Recovered => link.say(key, now + RELEASE_WITHIN, What::Recovered { token }),
            LeaseVerdict::Failed { cooldown } => {
                link.watched.speak_for(key);
                link.say(key, now + cooldown, What::Failed { token });
            }
            _ => link.say(key, now + RELEASE_WITHIN, What::Released { token }),
        }
    }

    fn status(&self) -> SharedStatus {
        let answers = self.link.guard.snapshot().state == State::Closed;
        if answers && self.link.connection().is_some() {
            SharedStatus::Connected
        } else {
            SharedStatus::Degraded
        }
    }
}

impl Drop for RedisState {
    fn drop(&mut self) {
        self.link.dropped.store(true, Ordering::Release);
        self.link.dropped_now.notify_one();
    }
}

impl fmt::Debug for RedisState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisState")
            .field("options", &self.link.options)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Link {
    pub(crate) fn connection(&self) -> Option<MultiplexedConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_connection(&self, connection: Option<MultiplexedConnection>) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }

    pub(crate) async fn dropped(&self) {
        self.dropped_now.notified().await;
    }

    fn say(&self, key: &BreakerKey, until: Instant, what: What) {
        let names = self.watched.names(key);
        self.outbox.put(Message { key: key.clone(), names, until, what });
    }

    /// Registries with the same seed draw the same tokens; the instance's name tells them apart.
    fn token(&self, token: LeaseToken) -> String {
        format!("{}:{token}", self.options.instance)
    }
}

#[cfg(test)]
mod tests {
    use backstop_core::breaker::Admission;
    use backstop_core::clock::{Clock, ManualClock};

    use super::*;

    #[test]
    fn the_guards_settings_are_right() {
        assert_eq!(guard().config().cooldown(), Duration::from_secs(5));
    }

    #[test]
    fn a_password_is_in_no_error_and_no_debug_output() {
        let wrong = RedisState::connect("redis://:hunter2@[", RedisOptions::new()).unwrap_err();
        assert_eq!(wrong, RedisStateError::Address);
        let (state, sync) = RedisState::connect("redis://:hunter2@localhost", RedisOptions::new()).unwrap();
        let text = format!("{wrong} {wrong:?} {state:?} {sync:?}");
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[test]
    fn processes_with_the_same_seed_hold_different_leases() {
        let tokens = ["one", "other"].map(|name| {
            let options = RedisOptions::new().instance(name);
            let (state, _sync) = RedisState::connect("redis://localhost", options).unwrap();
            let shared: Arc<dyn SharedState> = Arc::clone(&state) as _;
            let clock = ManualClock::new();
            let breaker = Breaker::builder(BreakerKey::new("p", "m")).seed(7).clock(clock.clone());
            let breaker = breaker.shared_state(shared).build();
            breaker.shared_open(Duration::from_secs(1));
            clock.advance(Duration::from_secs(1));
            let Admission::NeedsLease(request) = breaker.admit_at(clock.now()) else { panic!() };
            (request.token(), state.link.token(request.token()))
        });
        let [(drawn, one), (drawn_too, other)] = tokens;
        assert_eq!(drawn, drawn_too);
        assert_ne!(one, other);
    }

    #[tokio::test]
    async fn without_a_sync_each_process_is_on_its_own() {
        let (state, _sync) = RedisState::connect("redis://localhost", RedisOptions::new()).unwrap();
        let breaker = Breaker::builder(BreakerKey::new("p", "m")).shared_state(state).build();
        assert_eq!(breaker.snapshot().shared, Some(SharedStatus::Degraded));
        for _ in 0..5 {
            breaker.acquire().await.unwrap().settle(Outcome::FAILURE);
        }
        assert_eq!(breaker.snapshot().state, State::Open);
    }
}
