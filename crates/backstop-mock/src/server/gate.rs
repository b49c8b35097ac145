//! A point at which a reply waits until the test lets it go on.

use std::sync::Arc;

use tokio::sync::watch;

use super::{MockError, wait};

/// A gate in a reply: the server stops there until the test calls [`release`](Self::release). Order instead of
/// time, so tests with gates are neither slow nor flaky. Clones are the same gate.
///
/// ```
/// use backstop_mock::server::{Gate, MockServer, Reply};
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::start().await?;
/// let gate = Gate::new();
/// server.push(Reply::text("late").close_after().after(&gate));
///
/// let mut client = TcpStream::connect(server.addr()).await?;
/// client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").await?;
/// gate.reached(1).await?; // the request is there, the answer is not
/// gate.release();
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert!(answer.contains("late"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    permits: usize,
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Opens the gate for good: everyone who waits goes on, and nobody waits any more.
    pub fn release(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Lets one waiter through, the next one to come if nobody waits. This is how a test steps through a stream.
    pub fn release_one(&self) {
        self.state.send_modify(|state| state.permits += 1);
    }

    /// Waits until replies have arrived at this gate `times` times since it was made.
    ///
    /// # Errors
    /// [`MockError::TimedOut`] after 10 s.
    pub async fn reached(&self, times: usize) -> Result<(), MockError> {
        wait::for_count(&self.state, "arrivals at a gate", times, |state| state.arrived).await
    }

    /// What the server does: arrive, then wait. Dropping the future takes no permit.
    pub(super) async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut receiver = self.state.subscribe();
        while !self.try_pass() {
            if receiver.changed().await.is_err() {
                return;
            }
        }
    }

    fn try_pass(&self) -> bool {
        let mut passed = false;
        self.state.send_if_modified(|state| {
            passed = state.open || state.permits > 0;
            if passed && !state.open {
                state.permits -= 1;
            }
            false
        });
        passed
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_permit_lets_exactly_one_waiter_through() {
        let gate = Gate::new();
        gate.release_one();
        assert!(gate.pass().now_or_never().is_some());
        assert!(gate.pass().now_or_never().is_none());
        gate.release();
        assert!(gate.pass().now_or_never().is_some());
        assert!(gate.pass().now_or_never().is_some());
        gate.reached(4).await.unwrap();
    }

    #[tokio::test]
    async fn a_waiter_that_gives_up_takes_no_permit() {
        let gate = Gate::new();
        assert!(gate.pass().now_or_never().is_none());
        gate.release_one();
        assert!(gate.pass().now_or_never().is_some());
    }
}
