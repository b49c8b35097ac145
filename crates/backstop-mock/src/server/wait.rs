//! Bounded waiting for a count, the only kind of waiting a test needs.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use super::MockError;

/// Long enough for a loaded build machine; a wait that succeeds never takes it.
pub(super) const WAIT_LIMIT: Duration = Duration::from_secs(10);

/// Waits until `count` of the watched state is at least `wanted`.
pub(super) async fn for_count<T>(
    watched: &watch::Sender<T>,
    what: &'static str,
    wanted: usize,
    count: impl Fn(&T) -> usize,
) -> Result<(), MockError> {
    let mut receiver = watched.subscribe();
    let reached = timeout(WAIT_LIMIT, receiver.wait_for(|state| count(state) >= wanted)).await;
    match reached {
        Ok(Ok(_)) => Ok(()),
        // The sender is borrowed, so the channel cannot be closed; time is the only way to fail.
        Ok(Err(_)) | Err(_) => {
            let seen = count(&watched.borrow());
            Err(MockError::TimedOut { what, wanted, seen, limit: WAIT_LIMIT })
        }
    }
}
