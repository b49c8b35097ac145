//! What the server has seen.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;

use super::{MockError, Received, http::Head, received::Content, wait};

/// The log keeps the latest requests only, so that a long-running server does not grow without bound.
const KEPT_COUNT: usize = 10_000;
/// The latest one is kept even if its body alone is larger.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

/// A client that went away before its reply was complete, or before its request was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Disconnect {
    /// The request that lost its client; `None` if the client left before it was complete.
    pub request: Option<Received>,
    /// How many bytes of the reply had been handed to the operating system.
    pub sent: u64,
}

#[derive(Debug, Default)]
struct State {
    requests: Latest<Received>,
    disconnects: Latest<Disconnect>,
    accepted: usize,
    open: usize,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    state: watch::Sender<State>,
}

impl Log {
    /// Counts a connection as open until the guard is dropped.
    pub(super) fn open_connection(&self) -> OpenConnection<'_> {
        let mut number = 0;
        self.state.send_modify(|state| {
            state.accepted += 1;
            state.open += 1;
            number = state.accepted;
        });
        OpenConnection { log: self, number }
    }

    pub(super) fn request(&self, connection: usize, head: Head, body: Vec<u8>) -> Received {
        let content = Content::new(connection, head, body);
        let mut number = 0;
        self.state.send_modify(|state| {
            number = state.requests.count + 1;
            let received = Received::new(number, Arc::clone(&content));
            let bytes = received.body().len();
            state.requests.push(received, bytes);
        });
        Received::new(number, content)
    }

    pub(super) fn disconnect(&self, request: Option<Received>, sent: u64) {
        let bytes = request.as_ref().map_or(0, |request| request.body().len());
        self.state.send_modify(|state| state.disconnects.push(Disconnect { request, sent }, bytes));
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.state.borrow().requests.to_vec()
    }

    pub(super) fn disconnects(&self) -> Vec<Disconnect> {
        self.state.borrow().disconnects.to_vec()
    }

    pub(super) fn accepted(&self) -> usize {
        self.state.borrow().accepted
    }

    pub(super) fn open(&self) -> usize {
        self.state.borrow().open
    }

    pub(super) async fn wait_for_requests(&self, wanted: usize) -> Result<(), MockError> {
        wait::for_count(&self.state, "requests", wanted, |state| state.requests.count).await
    }

    pub(super) async fn wait_for_disconnects(&self, wanted: usize) -> Result<(), MockError> {
        wait::for_count(&self.state, "disconnects", wanted, |state| state.disconnects.count).await
    }

    pub(super) async fn wait_for_closed(&self, wanted: usize) -> Result<(), MockError> {
        let closed = |state: &State| state.accepted - state.open;
        wait::for_count(&self.state, "closed connections", wanted, closed).await
    }
}

/// The latest of many items, and how many there were.
#[derive(Debug)]
struct Latest<T> {
    /// Each with the bytes it holds.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    count: usize,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), bytes: 0, count: 0 }
    }
}

impl<T: Clone> Latest<T> {
    fn push(&mut self, item: T, bytes: usize) {
        self.count += 1;
        self.bytes += bytes;
        self.items.push_back((item, bytes));
        while self.items.len() > KEPT_COUNT || (self.bytes > KEPT_BYTES && self.items.len() > 1) {
            let freed = self.items.pop_front().map_or(0, |(_, bytes)| bytes);
            self.bytes -= freed;
        }
    }

    fn to_vec(&self) -> Vec<T> {
        self.items.iter().map(|(item, _)| item.clone()).collect()
    }
}

/// A connection that is counted as open.
pub(super) struct OpenConnection<'a> {
    log: &'a Log,
    pub(super) number: usize,
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.log.state.send_modify(|state| state.open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_within_count_and_bytes() {
        let mut latest = Latest::default();
        (0..KEPT_COUNT + 5).for_each(|item| latest.push(item, 1));
        assert_eq!(
            (latest.count, latest.items.len(), latest.bytes),
            (KEPT_COUNT + 5, KEPT_COUNT, KEPT_COUNT)
        );
        assert_eq!(latest.to_vec().first(), Some(&5));
        latest.push(1, KEPT_BYTES / 2);
        latest.push(2, KEPT_BYTES / 2);
        latest.push(3, KEPT_BYTES / 2);
        assert_eq!(latest.to_vec(), [2, 3]);
        latest.push(4, KEPT_BYTES * 2);
        assert_eq!((latest.to_vec(), latest.bytes), (vec![4], KEPT_BYTES * 2));
    }
}
