//! Checks made of checks.

use std::{borrow::Cow, fmt};

use async_trait::async_trait;
use backstop_core::{Candidate, Check, ConfigError, FailureKind, Rejection};

/// Combines checks. All of them that a chain or a validator has must pass anyway; this is for the rest.
///
/// ```
/// use backstop_core::{Chain, ChainBuilder};
/// use backstop_validate::{CheckExt, Grounded, MinLength, Refusal};
/// # fn add(builder: ChainBuilder, judge: backstop_validate::Judge) -> ChainBuilder {
///
/// // Cheap first: the judge is asked only where words of the answer are not in the input.
/// builder.check(Grounded::new().or(judge)).check(MinLength(20).and(Refusal::default()))
/// # }
/// ```
pub trait CheckExt: Check + Sized {
    /// Passes what both pass. The second is not asked if the first rejects.
    fn and<C: Check>(self, other: C) -> And<Self, C> {
        And { name: format!("{} and {}", self.name(), other.name()), first: self, second: other }
    }

    /// Passes what either passes. The second is not asked if the first passes.
    fn or<C: Check>(self, other: C) -> Or<Self, C> {
        Or { name: format!("{} or {}", self.name(), other.name()), first: self, second: other }
    }

    /// Passes what this one rejects, and rejects what it passes for the reason given, which also tells the model what
    /// to do. Take care with checks that reject when they cannot judge.
    fn inverted(self, reason: impl Into<Cow<'static, str>>) -> Inverted<Self> {
        Inverted { name: format!("not {}", self.name()), check: self, reason: reason.into() }
    }
}

impl<C: Check> CheckExt for C {}

/// See [`CheckExt::and`].
pub struct And<A, B> {
    name: String,
    first: A,
    second: B,
}

/// See [`CheckExt::or`].
pub struct Or<A, B> {
    name: String,
    first: A,
    second: B,
}

/// See [`CheckExt::inverted`].
pub struct Inverted<C> {
    name: String,
    check: C,
    reason: Cow<'static, str>,
}

#[async_trait]
impl<A: Check, B: Check> Check for And<A, B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.first.ready()?;
        self.second.ready()
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        self.first.check(candidate).await.map_err(|rejection| rejection.with_check(self.first.name()))?;
        self.second.check(candidate).await.map_err(|rejection| rejection.with_check(self.second.name()))
    }

    fn check_head(&self, head: &str) -> Result<(), Rejection> {
        self.first.check_head(head).map_err(|rejection| rejection.with_check(self.first.name()))?;
        self.second.check_head(head).map_err(|rejection| rejection.with_check(self.second.name()))
    }
}

#[async_trait]
impl<A: Check, B: Check> Check for Or<A, B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.first.ready()?;
        self.second.ready()
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        let Err(first) = self.first.check(candidate).await else { return Ok(()) };
        let Err(second) = self.second.check(candidate).await else { return Ok(()) };
        Err(neither(&first, &second))
    }

    fn check_head(&self, head: &str) -> Result<(), Rejection> {
        match (self.first.check_head(head), self.second.check_head(head)) {
            (Err(first), Err(second)) => Err(neither(&first, &second)),
            _ => Ok(()),
        }
    }
}

/// Both reasons. The kind is kept where both agree on it.
fn neither(first: &Rejection, second: &Rejection) -> Rejection {
    let kind = if first.kind() == second.kind() { first.kind() } else { FailureKind::Rejected };
    let rejection = Rejection::of(kind, format!("{}; and {}", first.reason(), second.reason()))
        .with_feedback(format!("{}\n{}", first.feedback(), second.feedback()));
    let score = match (first.score(), second.score()) {
        (Some(first), Some(second)) => Some(first.max(second)),
        (first, second) => first.or(second),
    };
    let rejection = match score {
        Some(score) => rejection.with_score(score),
        None => rejection,
    };
    match first.remedy().or(second.remedy()) {
        Some(remedy) => rejection.with_remedy(remedy),
        None => rejection,
    }
}

#[async_trait]
impl<C: Check> Check for Inverted<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn ready(&self) -> Result<(), ConfigError> {
        self.check.ready()
    }

    async fn check(&self, candidate: Candidate<'_>) -> Result<(), Rejection> {
        match self.check.check(candidate).await {
            Ok(()) => Err(Rejection::new(self.reason.clone())),
            Err(_) => Ok(()),
        }
    }
}

macro_rules! debug_by_name {
    ($($name:ident<$($param:ident),*>;)*) => {$(
        impl<$($param),*> fmt::Debug for $name<$($param),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "Check({})", self.name)
            }
        }
    )*};
}

debug_by_name! {
    And<A, B>;
    Or<A, B>;
    Inverted<C>;
}
