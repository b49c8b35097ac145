//! One adapter connected to a server of its own, and the loop over all adapters.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use backstop::{
    Chunk, FinishReason,
    mock::{
        MockServer,
        server::{Received, Reply},
    },
    prelude::*,
};
use futures_util::{FutureExt, StreamExt};

use crate::{
    adapters::{ADAPTERS, Adapter},
    spec,
};

/// A key that must appear nowhere but in the header that is meant for it.
pub const KEY: &str = "key-0a1b2c3d4e5f-HUSH";

/// An adapter and the server it talks to.
pub struct Bench {
    pub adapter: &'static Adapter,
    pub server: MockServer,
    pub provider: Arc<dyn Provider>,
    checked: AtomicUsize,
}

/// Runs a behaviour with every adapter, and fails with the names of those that do not have it.
pub async fn every(behaviour: impl AsyncFn(&Bench)) {
    let mut failures = Vec::new();
    for adapter in ADAPTERS {
        let bench = Bench::start(adapter).await;
        if let Err(panic) = AssertUnwindSafe(behaviour(&bench)).catch_unwind().await {
            failures.push(format!("{}: {}", adapter.name, words(&*panic)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} adapters fail\n{}",
        failures.len(),
        ADAPTERS.len(),
        failures.join("\n")
    );
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

impl Bench {
    async fn start(adapter: &'static Adapter) -> Self {
        let server = MockServer::start().await.unwrap();
        server.require_key(KEY);
        let provider = (adapter.connect)(server.url());
        Self { adapter, server, provider, checked: AtomicUsize::new(0) }
    }

    /// From now on the server answers with this alone.
    pub fn answers(&self, reply: impl Into<Reply>) -> &Self {
        self.server.clear_scripts().push(reply);
        self
    }

    /// One attempt.
    pub async fn complete(&self, request: &Request) -> Result<Response, ProviderError> {
        let result = self.provider.complete(&self.attempt(request)).await;
        self.check_requests();
        result
    }

    /// One attempt whose answer comes as a stream, to its end.
    pub async fn stream(&self, request: &Request) -> Streamed {
        let mut streamed = Streamed::default();
        match self.provider.stream(&self.attempt(request)).await {
            Err(error) => streamed.error = Some(error),
            Ok(mut stream) => {
                while let Some(chunk) = stream.next().await {
                    match chunk {
                        Ok(chunk) => streamed.chunks.push(chunk),
                        Err(error) => streamed.error = Some(error),
                    }
                }
            }
        }
        self.check_requests();
        streamed
    }

    /// A plain question that is answered with `reply`.
    pub async fn answered(&self, reply: impl Into<Reply>) -> Result<Response, ProviderError> {
        self.answers(reply).complete(&Request::new("Name a colour.")).await
    }

    /// The same as a stream.
    pub async fn streamed(&self, reply: impl Into<Reply>) -> Streamed {
        self.answers(reply).stream(&Request::new("Name a colour.")).await
    }

    pub fn attempt<'a>(&self, request: &'a Request) -> Attempt<'a> {
        Attempt::new(self.adapter.model, request)
    }

    /// A chain of this adapter alone, which retries without much ado.
    pub fn chain(&self) -> Chain {
        let retry = RetryPolicy::default().base(Duration::from_millis(1));
        let target = Target::new(Arc::clone(&self.provider), self.adapter.model).retry(retry);
        Chain::builder().target(target).build().unwrap()
    }

    /// The latest request.
    pub fn received(&self) -> Received {
        self.server.requests().pop().expect("a request was sent")
    }

    fn check_requests(&self) {
        let requests = self.server.requests();
        let seen = self.checked.swap(requests.len(), Ordering::Relaxed);
        for request in requests.iter().skip(seen) {
            let format = request.format().expect("the path of a completion endpoint");
            assert_eq!(format, self.adapter.format, "{}", request.path());
            spec::assert_valid(format, spec::Role::Request, request.json());
        }
    }
}

/// What came of a stream.
#[derive(Debug, Default)]
pub struct Streamed {
    pub chunks: Vec<Chunk>,
    pub error: Option<ProviderError>,
}

impl Streamed {
    pub fn text(&self) -> String {
        let text = |chunk: &Chunk| match chunk {
            Chunk::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.chunks.iter().filter_map(text).collect()
    }

    pub fn reasoning(&self) -> String {
        let text = |chunk: &Chunk| match chunk {
            Chunk::Reasoning(text) => Some(text.clone()),
            _ => None,
        };
        self.chunks.iter().filter_map(text).collect()
    }

    /// Id, name and arguments of each tool call, put together from its pieces.
    pub fn tool_calls(&self) -> Vec<(String, String, String)> {
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for chunk in &self.chunks {
            if let Chunk::ToolCall { index, id, name, arguments, .. } = chunk {
                if *index == calls.len() {
                    calls.push((id.clone().unwrap(), name.clone().unwrap(), String::new()));
                }
                calls[*index].2.push_str(arguments);
            }
        }
        calls
    }

    pub fn usage(&self) -> Option<Usage> {
        self.chunks.iter().rev().find_map(|chunk| match chunk {
            Chunk::Usage(usage) => Some(*usage),
            _ => None,
        })
    }

    /// Model and request id.
    pub fn meta(&self) -> (Option<&str>, Option<&str>) {
        let mut known = (None, None);
        for chunk in &self.chunks {
            if let Chunk::Meta { model, request_id } = chunk {
                known = (known.0.or(model.as_deref()), known.1.or(request_id.as_deref()));
            }
        }
        known
    }

    /// How it ended; `None` if it was cut.
    pub fn end(&self) -> Option<&FinishReason> {
        match self.chunks.last() {
            Some(Chunk::End(finish)) if self.error.is_none() => Some(finish),
            _ => None,
        }
    }
}
