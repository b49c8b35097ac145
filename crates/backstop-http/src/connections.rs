//! Counts the connections that a client opens, to tell a reset of a reused connection from one of a new one.
//!
//! A server closes a connection that has been idle for its taste just as the next request goes out: that says
//! nothing about its health. HTTP clients do not tell whether a failed request used an old connection. But if the
//! client opened none while the request ran, it must have.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

/// How many connections a client has begun to open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connections(Arc<AtomicU64>);

impl Connections {
    pub(crate) fn opened(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl<S> Layer<S> for Connections {
    type Service = Counted<S>;

    fn layer(&self, connector: S) -> Counted<S> {
        Counted { connector, connections: self.clone() }
    }
}

/// A connector that counts its calls.
#[derive(Clone, Debug)]
pub(crate) struct Counted<S> {
    connector: S,
    connections: Connections,
}

impl<S: Service<R>, R> Service<R> for Counted<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, target: R) -> S::Future {
        self.connections.0.fetch_add(1, Ordering::AcqRel);
        self.connector.call(target)
    }
}
