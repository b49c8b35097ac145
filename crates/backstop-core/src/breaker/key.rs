//! What a breaker is about.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// The thing that can be down: a group of models behind one provider instance.
///
/// Never per tenant, prompt or credential: an outage is the endpoint's, and a key with many values would give
/// each breaker too few calls to judge by. Both parts end up in logs and metric labels, so neither may hold a
/// secret.
///
/// ```
/// use backstop_core::breaker::BreakerKey;
/// let key = BreakerKey::new("openai@https://api.openai.com", "gpt-4o");
/// assert_eq!(key.to_string(), "openai@https://api.openai.com/gpt-4o");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct BreakerKey {
    /// The provider instance: adapter and base URL.
    pub provider: Arc<str>,
    /// The model, or the name of a family of models that fail together.
    pub group: Arc<str>,
}

impl BreakerKey {
    /// A key of its two parts.
    pub fn new(provider: impl Into<Arc<str>>, group: impl Into<Arc<str>>) -> Self {
        Self { provider: provider.into(), group: group.into() }
    }
}

impl fmt::Display for BreakerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.group)
    }
}
