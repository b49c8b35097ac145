//! A target inside a chain: its members, its limits, and whether it is switched on.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    bulkhead::{Bulkhead, Gauge},
    learnt::Learnt,
    member::{Entry, Member},
};
use crate::{
    capabilities::Capabilities,
    error::FailureKind,
    message::Part,
    registry::Registry,
    report::{LimitedBy, Skip},
    request::Request,
    target::{Target, TargetId},
};

pub(crate) struct Slot {
    pub(crate) id: TargetId,
    pub(crate) target: Target,
    pub(crate) capabilities: Capabilities,
    /// More than one for a pool, never none.
    pub(crate) members: Box<[Member]>,
    pub(crate) load: Arc<Gauge>,
    pub(crate) bulkhead: Option<Bulkhead>,
    #[cfg(feature = "rate-limit")]
    pub(crate) rates: crate::rate_limit::RateLimit,
    #[cfg(feature = "adaptive")]
    pub(crate) latencies: Option<crate::latency::Latencies>,
    pub(crate) learnt: Learnt,
    off: AtomicBool,
    turn: AtomicUsize,
    registry: Registry,
}

impl Slot {
    pub(crate) fn new(target: Target, registry: &Registry, watched: bool) -> Self {
        let known =
            target.providers.first().map_or(Capabilities::unknown(), |it| it.capabilities(&target.model));
        let members = target.providers.iter().map(|provider| Member::new(provider, &target, registry));
        let _ = watched;
        Self {
            id: target.id(),
            capabilities: known.overlaid(target.capabilities),
            members: members.collect(),
            load: Arc::default(),
            bulkhead: target.max_in_flight.map(Bulkhead::new),
            #[cfg(feature = "rate-limit")]
            rates: crate::rate_limit::RateLimit::new(target.rates, registry.clock()),
            #[cfg(feature = "adaptive")]
            latencies: (watched || target.adaptive.is_some())
                .then(|| crate::latency::Latencies::new(Arc::clone(registry.clock()))),
            learnt: Learnt::default(),
            off: AtomicBool::new(false),
            turn: AtomicUsize::new(0),
            registry: registry.clone(),
            target,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.registry.now()
    }

    /// The model's own limit, if the request asks for more: most vendors refuse that.
    pub(crate) fn lowered(&self, request: &Request) -> Option<u32> {
        let most = self.capabilities.max_output_tokens?;
        (request.max_tokens? > most).then_some(most)
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.off.load(Ordering::Relaxed)
    }

    pub(crate) fn switch(&self, on: bool) {
        self.off.store(!on, Ordering::Relaxed);
    }

    /// A permit of the member with the fewest attempts under way among those that may be asked.
    pub(crate) fn enter(&self, now: Instant, choice: &Choice) -> Result<(&Member, Entry), Skip> {
        if let ([only], false) = (&*self.members, choice.is_spent(0)) {
            return match only.enter(now) {
                Entry::Skip(skip) => Err(skip),
                entry => Ok((only, entry)),
            };
        }
        let mut soonest = None;
        for index in self.by_load(choice) {
            let Some(member) = self.members.get(index) else { continue };
            match member.enter(now) {
                Entry::Skip(skip) => soonest = Some(sooner(soonest, skip)),
                entry => return Ok((member, entry)),
            }
        }
        Err(soonest.unwrap_or(Skip::BreakerOpen { retry_in: None }))
    }

    /// Whether any member may be asked, without taking anything.
    pub(crate) fn admits(&self, now: Instant) -> Result<(), Skip> {
        let mut soonest = None;
        for member in &self.members {
            match member.admits(now) {
                Ok(()) => return Ok(()),
                Err(skip) => soonest = Some(sooner(soonest, skip)),
            }
        }
        Err(soonest.unwrap_or(Skip::BreakerOpen { retry_in: None }))
    }

    /// Members in the order of being asked.
    fn by_load(&self, choice: &Choice) -> Vec<usize> {
        let count = self.members.len();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut order: Vec<_> = (0..count).map(|step| turn.wrapping_add(step) % count.max(1)).collect();
        order.retain(|index| !choice.is_spent(*index));
        order.sort_by_key(|index| {
            let load = self.members.get(*index).map_or(usize::MAX, |member| member.load.now());
            (choice.failed == Some(*index), load)
        });
        order
    }

    /// Whether another member than the one that failed should be asked before the next target is.
    pub(crate) fn has_better(
        &self,
        now: Instant,
        choice: &Choice,
        failed: &Member,
        kind: FailureKind,
    ) -> bool {
        let unspent = self.members.iter().enumerate().filter(|(index, _)| !choice.is_spent(*index));
        unspent.into_iter().any(|(_, other)| other.may_do_better(failed, kind) && other.admits(now).is_ok())
    }

    /// Where a member stands in the pool.
    pub(crate) fn position(&self, member: &Member) -> Option<usize> {
        self.members.iter().position(|other| std::ptr::eq(other, member))
    }

    /// When it may be asked again, if something keeps all members away now and that ends by itself.
    pub(crate) fn back_in(&self, now: Instant) -> Option<Duration> {
        if !self.is_on() || self.admits(now).is_ok() {
            return None;
        }
        self.members.iter().filter_map(|member| member.back_in(now)).min()
    }

    /// The longest time for one attempt, and which setting says so.
    pub(crate) fn timeout(&self, task: Option<&str>) -> (Duration, LimitedBy) {
        let _ = task;
        #[cfg(feature = "adaptive")]
        if let (Some(adaptive), Some(latencies)) = (&self.target.adaptive, &self.latencies) {
            if let Some(timeout) = adaptive.of(latencies, task, self.target.timeout) {
                return (timeout, LimitedBy::AdaptiveTimeout);
            }
        }
        (self.target.timeout, LimitedBy::Timeout)
    }

    /// Notes how long an answer took, or how long one was waited for in vain.
    pub(crate) fn took(&self, task: Option<&str>, latency: Duration) {
        let _ = (task, latency);
        #[cfg(feature = "adaptive")]
        if let Some(latencies) = &self.latencies {
            latencies.record(task, latency);
        }
    }

    /// What the request needs and the model is known not to have.
    pub(crate) fn lacks(&self, request: &Request) -> Option<Cow<'static, str>> {
        let no = Some(false);
        let has = |wanted: fn(&Part) -> bool| {
            request.messages.iter().flat_map(|message| &message.parts).any(wanted)
        };
        if self.capabilities.images == no && has(|part| matches!(part, Part::Image(_))) {
            return Some("images".into());
        }
        if self.capabilities.documents == no && has(|part| matches!(part, Part::Document(_))) {
            return Some("documents".into());
        }
        if self.capabilities.tools == no && !request.tools.is_empty() {
            return Some("tools".into());
        }
        None
    }
}

/// What a call knows against the members of a pool.
#[derive(Default)]
pub(crate) struct Choice {
    /// Not to be asked again.
    pub(crate) spent: Vec<usize>,
    /// Failed last, so any other comes before it.
    pub(crate) failed: Option<usize>,
}

impl Choice {
    fn is_spent(&self, index: usize) -> bool {
        self.spent.contains(&index)
    }
}

/// The reason that ends sooner stands for the whole pool.
fn sooner(one: Option<Skip>, other: Skip) -> Skip {
    let wait = |skip: &Skip| match skip {
        Skip::BreakerOpen { retry_in } => retry_in.unwrap_or(Duration::MAX),
        Skip::GateClosed { retry_in } => *retry_in,
        _ => Duration::MAX,
    };
    match one {
        Some(one) if wait(&one) <= wait(&other) => one,
        _ => other,
    }
}
