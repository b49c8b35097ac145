//! Limits of our own below a vendor's, so that its 429 is not needed.

use std::{
    fmt,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use governor::{
    NotUntil, Quota, RateLimiter,
    clock::Clock as RateClock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use tokio::time::sleep;

use crate::{attempt::Overlay, clock::Clock, message::characters, request::Request, response::Usage};

/// Parts of a minute's amount that may be used at once. A bucket of a whole minute's amount would let twice the
/// amount through in a minute that begins with a full bucket.
const AT_ONCE: u32 = 6;
/// The most that is owed: so many minutes' amount. What a vendor says that an answer took may be wrong, and limits a
/// minute are over long before.
const MOST_OWED: u64 = 10;

/// What a target may use in a minute.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) requests: Option<u32>,
    pub(crate) tokens: Option<u32>,
}

impl Rates {
    /// A limit that is zero.
    pub(crate) fn zero(self) -> Option<&'static str> {
        if self.requests == Some(0) {
            Some("requests_per_minute")
        } else {
            (self.tokens == Some(0)).then_some("tokens_per_minute")
        }
    }
}

/// The limits of one target.
pub(crate) struct RateLimit {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl RateLimit {
    pub(crate) fn new(rates: Rates, clock: &Arc<dyn Clock>) -> Self {
        let bucket = |most: Option<u32>| most.and_then(|most| Bucket::new(most, clock));
        Self { requests: bucket(rates.requests), tokens: bucket(rates.tokens) }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.requests.is_none() && self.tokens.is_none()
    }

    /// Takes what a request needs, waiting for `longest` at most.
    ///
    /// # Errors
    /// How much longer it would take. What was taken of one limit before the other said no is given back.
    pub(crate) async fn take(
        &self,
        request: &Request,
        overlay: &Overlay,
        longest: Duration,
    ) -> Result<Charge, Duration> {
        let mut left = longest;
        let tokens = if self.tokens.is_some() { guess(request, overlay) } else { 0 };
        if let Some(bucket) = &self.tokens {
            bucket.take(tokens, &mut left).await?;
        }
        if let Some(bucket) = &self.requests {
            let taken = Taken { bucket: self.tokens.as_ref(), amount: tokens };
            bucket.take(1, &mut left).await?;
            taken.keep();
        }
        Ok(Charge { tokens })
    }

    /// An attempt is over: what it took beyond the guess is charged to those that follow.
    pub(crate) fn settle(&self, charge: &Charge, usage: Option<Usage>) {
        if let (Some(bucket), Some(usage)) = (&self.tokens, usage) {
            bucket.owe(usage.total().saturating_sub(charge.tokens));
        }
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = |bucket: &Option<Bucket>| bucket.as_ref().map(|bucket| bucket.at_once.get() * AT_ONCE);
        write!(f, "RateLimit({:?} requests, {:?} tokens)", most(&self.requests), most(&self.tokens))
    }
}

/// What an attempt was charged.
pub(crate) struct Charge {
    tokens: u64,
}

/// What was taken of a bucket for a request that may yet not be sent: it is given back if the other limit says no or
/// the caller goes away.
struct Taken<'a> {
    bucket: Option<&'a Bucket>,
    amount: u64,
}

impl Taken<'_> {
    fn keep(mut self) {
        self.bucket = None;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(bucket) = self.bucket {
            bucket.spare.fetch_add(self.amount, Ordering::Relaxed);
        }
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, Ticks, NoOpMiddleware<Duration>>;

/// A bucket that fills up evenly.
struct Bucket {
    limiter: Limiter,
    clock: Ticks,
    at_once: NonZeroU32,
    most_owed: u64,
    /// Taken already, but not yet charged.
    owed: AtomicU64,
    /// Charged already, but not used.
    spare: AtomicU64,
}

impl Bucket {
    fn new(a_minute: u32, clock: &Arc<dyn Clock>) -> Option<Self> {
        let at_once = NonZeroU32::new((a_minute / AT_ONCE).max(1))?;
        let most_owed = MOST_OWED * u64::from(a_minute);
        let quota = Quota::per_minute(NonZeroU32::new(a_minute)?).allow_burst(at_once);
        let clock = Ticks { origin: clock.now(), clock: Arc::clone(clock) };
        let limiter = Limiter::direct_with_clock(quota, clock.clone());
        Some(Self { limiter, clock, at_once, most_owed, owed: AtomicU64::new(0), spare: AtomicU64::new(0) })
    }

    /// Takes an amount together with what is owed. More than the bucket can hold is owed by the next.
    async fn take(&self, amount: u64, left: &mut Duration) -> Result<(), Duration> {
        loop {
            let owed = self.owed.swap(0, Ordering::Relaxed);
            let spare = self.spare.swap(0, Ordering::Relaxed);
            let wanted = amount.saturating_add(owed);
            let all = wanted.saturating_sub(spare);
            let now = u32::try_from(all).unwrap_or(u32::MAX).min(self.at_once.get());
            let wait = match NonZeroU32::new(now).map(|now| self.limiter.check_n(now)) {
                Some(Ok(Err(not_yet))) => self.until(&not_yet),
                // An amount that the bucket cannot hold is ruled out above.
                Some(Ok(Ok(())) | Err(_)) | None => {
                    self.owe(all - u64::from(now));
                    self.spare.fetch_add(spare.saturating_sub(wanted), Ordering::Relaxed);
                    return Ok(());
                }
            };
            // Whether this request is given up or its caller goes away during the wait, the debt stays.
            self.owe(owed);
            self.spare.fetch_add(spare, Ordering::Relaxed);
            if wait > *left {
                return Err(wait);
            }
            *left -= wait;
            sleep(wait).await;
        }
    }

    fn until(&self, not_yet: &NotUntil<Duration>) -> Duration {
        // Never nothing: a timer's grain must not turn this into a busy loop.
        not_yet.wait_time_from(self.clock.now()).max(Duration::from_millis(1))
    }

    fn owe(&self, amount: u64) {
        if amount > 0 {
            let more = |owed: u64| Some(owed.saturating_add(amount).min(self.most_owed));
            let _ = self.owed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }
}

/// The registry's clock as the limiter wants it: time since the beginning.
#[derive(Clone)]
struct Ticks {
    clock: Arc<dyn Clock>,
    origin: Instant,
}

impl RateClock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.origin)
    }
}

/// Tokens that a request will take, roughly: four characters of text are about one token of English, and the whole
/// token limit may be used. Media are left out; what they took is charged afterwards.
fn guess(request: &Request, overlay: &Overlay) -> u64 {
    let characters = characters(request.messages.iter().chain(&overlay.feedback));
    let answer = overlay.max_tokens.or(request.max_tokens).unwrap_or_default();
    let characters = characters + request.system.as_deref().map_or(0, |text| text.chars().count());
    (characters as u64).div_ceil(4) + u64::from(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TokioClock;
    use tokio::time::Instant as TokioInstant;

    const SECOND: Duration = Duration::from_secs(1);

    fn limit(rates: Rates) -> RateLimit {
        RateLimit::new(rates, &(Arc::new(TokioClock) as Arc<dyn Clock>))
    }

    async fn take(limit: &RateLimit, text: &str, longest: Duration) -> Result<Charge, Duration> {
        limit.take(&Request::new(text), &Overlay::new(), longest).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_sixth_goes_at_once_and_the_rest_is_spread_evenly() {
        let limit = limit(Rates { requests: Some(60), tokens: None });
        let started = TokioInstant::now();
        for _ in 0..10 {
            assert!(take(&limit, "x", Duration::ZERO).await.is_ok());
        }
        let wait = take(&limit, "x", Duration::ZERO).await.err().unwrap();
        assert!(wait <= SECOND && wait > SECOND / 2, "{wait:?}");
        let mut sent = 0;
        while started.elapsed() < 60 * SECOND {
            assert!(take(&limit, "x", 2 * SECOND).await.is_ok());
            sent += 1;
        }
        assert!((59..=61).contains(&sent), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_are_guessed_and_what_was_taken_beyond_the_guess_is_charged_to_the_next() {
        let limit = limit(Rates { requests: None, tokens: Some(600) });
        let charge = take(&limit, &"x".repeat(200), Duration::ZERO).await.unwrap();
        assert_eq!(charge.tokens, 50);
        limit.settle(&charge, Some(Usage::new(60, 40)));
        let wait = take(&limit, "xxxx", Duration::ZERO).await.err().unwrap();
        assert!(wait > Duration::ZERO && wait <= SECOND, "50 left, 51 needed: {wait:?}");
        let started = TokioInstant::now();
        assert!(take(&limit, "xxxx", 2 * SECOND).await.is_ok());
        assert!(started.elapsed() > Duration::ZERO, "the debt outlived the refusal");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_no_bucket_holds_is_sent_and_paid_for_by_those_that_follow() {
        let limit = limit(Rates { requests: None, tokens: Some(60) });
        assert!(take(&limit, &"x".repeat(80), Duration::ZERO).await.is_ok());
        let started = TokioInstant::now();
        assert!(take(&limit, "x", 60 * SECOND).await.is_ok());
        assert!(started.elapsed() >= 9 * SECOND, "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn an_absurd_usage_holds_others_back_for_ten_minutes_and_not_for_ever() {
        let limit = limit(Rates { requests: None, tokens: Some(600) });
        for _ in 0..3 {
            limit.settle(&Charge { tokens: 0 }, Some(Usage::new(u64::MAX, u64::MAX)));
        }
        let started = TokioInstant::now();
        let mut owing = 0;
        while limit.tokens.as_ref().unwrap().owed.load(Ordering::Relaxed) > 0 {
            assert!(take(&limit, "xxxx", 60 * SECOND).await.is_ok());
            owing += 1;
        }
        let took = started.elapsed();
        assert!(took > 590 * SECOND && took < 620 * SECOND, "{owing} requests in {took:?}");
    }

    #[test]
    fn a_limit_of_zero_is_named() {
        assert_eq!(Rates { requests: Some(0), tokens: None }.zero(), Some("requests_per_minute"));
        assert_eq!(Rates { requests: Some(1), tokens: Some(0) }.zero(), Some("tokens_per_minute"));
        assert_eq!(Rates::default().zero(), None);
    }
}
