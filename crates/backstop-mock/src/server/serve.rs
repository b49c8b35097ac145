//! The server's tasks: one that accepts, one for each connection.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard},
    task::Poll,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::sleep,
};

use super::{
    ApiError, End, OnConnect, Received, Reply,
    api_error::Problem,
    connection::{Connection, Incoming},
    http::BadRequest,
    log::Log,
    plan::Plan,
    player::{Outcome, Player, finish},
    script::{Scripts, lock},
    wire,
};

/// What the test and the tasks share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) log: Log,
    pub(super) scripts: Scripts,
    settings: Mutex<Settings>,
    on_connect: Mutex<VecDeque<OnConnect>>,
    /// `None` once the server was dropped.
    listener: Mutex<Option<TcpListener>>,
}

pub(super) struct Settings {
    pub(super) key: Option<String>,
    pub(super) models: Vec<String>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("models", &self.models).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            log: Log::default(),
            scripts: Scripts::default(),
            settings: Mutex::new(Settings { key: None, models: vec!["mock-model".to_owned()] }),
            on_connect: Mutex::default(),
            listener: Mutex::new(Some(listener)),
        }
    }

    pub(super) fn settings(&self) -> MutexGuard<'_, Settings> {
        lock(&self.settings)
    }

    pub(super) fn push_on_connect(&self, what: OnConnect) {
        lock(&self.on_connect).push_back(what);
    }

    pub(super) fn stop_listening(&self) {
        drop(lock(&self.listener).take());
    }

    /// The next connection, `None` once the server was dropped.
    async fn next_connection(&self) -> Option<io::Result<TcpStream>> {
        poll_fn(|context| match lock(&self.listener).as_ref() {
            Some(listener) => {
                listener.poll_accept(context).map(|accepted| Some(accepted.map(|(socket, _)| socket)))
            }
            None => Poll::Ready(None),
        })
        .await
    }

    /// Decides who answers. The test's closures run in here.
    fn reply_to(&self, request: &Received) -> Reply {
        let wrong_key = self.settings().key.as_deref().is_some_and(|key| !request.shows_key(key));
        if wrong_key {
            return ApiError::bad_key().into();
        }
        if let Some(reply) = self.scripts.by_rule(request) {
            return reply;
        }
        match request.method() {
            "POST" if request.format().is_some() => {
                self.scripts.by_default(request).unwrap_or_else(|| nothing_scripted().into())
            }
            "GET" => match wire::listing(request.path(), &self.settings().models) {
                Some(listing) => Reply::json(&listing),
                None => no_such_path(request).into(),
            },
            _ => no_such_path(request).into(),
        }
    }
}

fn nothing_scripted() -> ApiError {
    let message = "the mock server has no reply: call push(), respond_with() or when() first";
    ApiError::invalid_request().code("mock_no_reply").message(message)
}

fn closure_panicked() -> ApiError {
    let message = "a closure given to the mock server panicked: see the test's output";
    ApiError::server().code("mock_closure_panicked").message(message)
}

fn no_such_path(request: &Received) -> ApiError {
    let message = format!("Invalid URL ({} {})", request.method(), request.path());
    ApiError::of(Problem::NoSuchPath).message(message)
}

/// Accepts until the server is dropped. Dropping this future ends all connections.
pub(super) async fn accept(shared: Arc<Shared>) {
    const RECOVERY: Duration = Duration::from_millis(10);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = shared.next_connection() => match accepted {
                Some(Ok(socket)) => {
                    connections.spawn(serve(Arc::clone(&shared), socket));
                }
                // Out of file descriptors, or the client was faster: neither ends the server.
                Some(Err(_)) => sleep(RECOVERY).await,
                None => return,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(shared: Arc<Shared>, socket: TcpStream) {
    let open = shared.log.open_connection();
    let mut connection = Connection::new(socket);
    let what = lock(&shared.on_connect).pop_front();
    match what {
        Some(OnConnect::End(End::Hang)) => {
            connection.swallow().await;
            return shared.log.disconnect(None, 0);
        }
        Some(OnConnect::End(End::Reset)) => return connection.reset(),
        Some(OnConnect::End(End::Close)) => return,
        Some(OnConnect::Garbage(bytes)) => {
            // The client is about to be cut off; whether it stayed for the last byte is of no interest.
            let _ = connection.write_all(&bytes).await;
            return connection.close_gently().await;
        }
        Some(OnConnect::Serve) | None => {}
    }
    loop {
        match connection.next_request().await {
            Incoming::End => return,
            Incoming::Broken => return shared.log.disconnect(None, 0),
            Incoming::Bad(why) => return refuse(connection, why).await,
            Incoming::Request(head, body) => {
                let keep_alive = head.keep_alive;
                let request = shared.log.request(open.number, head, body);
                match answer(&shared, connection, request, keep_alive).await {
                    Some(same) => connection = same,
                    None => return,
                }
            }
        }
    }
}

/// Answers one request; gives the connection back if it may be used again.
async fn answer(
    shared: &Shared,
    mut connection: Connection,
    request: Received,
    keep_alive: bool,
) -> Option<Connection> {
    let reply = catch_unwind(AssertUnwindSafe(|| shared.reply_to(&request)));
    let reply = reply.unwrap_or_else(|_| closure_panicked().into());
    let plan = Plan::new(&reply, &request, keep_alive);
    let (outcome, sent) = Player::new(&mut connection, &reply.faults).play(&plan).await;
    let client_left = match outcome {
        Outcome::Complete if plan.keep_alive => return Some(connection),
        Outcome::Complete => false,
        Outcome::Cut(end) => finish(connection, end).await,
        Outcome::Gone => true,
    };
    if client_left {
        shared.log.disconnect(Some(request), sent);
    }
    None
}

async fn refuse(mut connection: Connection, why: BadRequest) {
    let status = match why {
        BadRequest::Malformed => "400 Bad Request",
        BadRequest::TooLarge => "413 Content Too Large",
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    if connection.write_all(head.as_bytes()).await.is_ok() {
        connection.close_gently().await;
    }
}
