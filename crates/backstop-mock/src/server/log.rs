//! What the server has seen.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;

use super::{MockError, Received, http::Head, received::Content, wait};

/// The log keeps the latest requests only, so that a long-running server does not grow without bound.
pub(super) const KEPT: usize = 10_000;

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
    requests: VecDeque<Received>,
    request_count: usize,
    disconnects: VecDeque<Disconnect>,
    disconnect_count: usize,
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
            state.request_count += 1;
            number = state.request_count;
            push_bounded(&mut state.requests, Received::new(number, Arc::clone(&content)));
        });
        Received::new(number, content)
    }

    pub(super) fn disconnect(&self, request: Option<Received>, sent: u64) {
        self.state.send_modify(|state| {
            state.disconnect_count += 1;
            push_bounded(&mut state.disconnects, Disconnect { request, sent });
        });
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.state.borrow().requests.iter().cloned().collect()
    }

    pub(super) fn disconnects(&self) -> Vec<Disconnect> {
        self.state.borrow().disconnects.iter().cloned().collect()
    }

    pub(super) fn accepted(&self) -> usize {
        self.state.borrow().accepted
    }

    pub(super) fn open(&self) -> usize {
        self.state.borrow().open
    }

    pub(super) async fn wait_for_requests(&self, wanted: usize) -> Result<(), MockError> {
        wait::for_count(&self.state, "requests", wanted, |state| state.request_count).await
    }

    pub(super) async fn wait_for_disconnects(&self, wanted: usize) -> Result<(), MockError> {
        wait::for_count(&self.state, "disconnects", wanted, |state| state.disconnect_count).await
    }

    pub(super) async fn wait_for_closed(&self, wanted: usize) -> Result<(), MockError> {
        let closed = |state: &State| state.accepted - state.open;
        wait::for_count(&self.state, "closed connections", wanted, closed).await
    }
}

fn push_bounded<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(item);
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
