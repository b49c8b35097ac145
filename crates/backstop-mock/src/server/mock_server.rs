//! The server as a test holds it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{net::TcpListener, task::AbortHandle};

use super::{
    Disconnect, MockError, OnConnect, Received, Reply, Script,
    serve::{Shared, accept},
};

/// A loopback HTTP/1.1 server that speaks the vendors' wire formats, answers by script and plays faults.
///
/// It listens on a free port of 127.0.0.1 and stops when it is dropped: the port is free at once, and all
/// connections are closed. Base URLs with and without `/v1` work; the path decides the [`Format`](super::Format).
/// It runs on the runtime it was started on, so a test must not block that runtime's only thread, and must not pause
/// tokio's clock: sockets do not know of it.
///
/// Who answers a request: the first matching rule ([`when`](Self::when), [`on_path`](Self::on_path)) that is not over;
/// for `POST`s to a completion endpoint then the closure ([`respond_with`](Self::respond_with)), or else the queue
/// ([`push`](Self::push)); for `GET`s the list of models. Anything else is a 404 in the vendor's envelope. A request
/// for which nothing was scripted is a 400 that says so.
///
/// ```
/// use backstop_mock::server::{ApiError, MockServer, Reply};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::start().await?;
/// server.push(ApiError::overloaded()); // the first request
/// server.push(Reply::text("hello")); // the second one, and all that follow
///
/// // Give `server.url()` to the client under test; here a client by hand.
/// # let mut answers = Vec::new();
/// # for _ in 0..2 {
/// let mut client = TcpStream::connect(server.addr()).await?;
/// # let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
/// # let head = format!("connection: close\r\ncontent-length: {}", body.len());
/// # let request = format!("POST /v1/chat/completions HTTP/1.1\r\n{head}\r\n\r\n{body}");
/// client.write_all(request.as_bytes()).await?;
/// # let mut answer = String::new();
/// # client.read_to_string(&mut answer).await?;
/// # answers.push(answer);
/// # }
/// # assert!(answers[0].starts_with("HTTP/1.1 503") && answers[1].contains("hello"), "{answers:?}");
///
/// let requests = server.wait_for_requests(2).await?;
/// assert_eq!(requests[0].model(), "m");
/// assert_eq!(requests[0].last_user_text(), "hi");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MockServer {
    shared: Arc<Shared>,
    addr: SocketAddr,
    accepting: AbortHandle,
}

/// Starting, and where to find it.
impl MockServer {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// [`MockError::Bind`] if there is none.
    pub async fn start() -> Result<Self, MockError> {
        Self::start_on(0).await
    }

    /// Starts a server on this port of 127.0.0.1, for instance that of a server just dropped: the vendor is back.
    ///
    /// # Errors
    /// [`MockError::Bind`] if the port is taken.
    pub async fn start_on(port: u16) -> Result<Self, MockError> {
        let bind = |source| MockError::Bind { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;
        let shared = Arc::new(Shared::new(listener));
        let accepting = tokio::spawn(accept(Arc::clone(&shared))).abort_handle();
        Ok(Self { shared, addr, accepting })
    }

    /// The root URL, `http://127.0.0.1:port`, for every vendor's base URL; paths such as `/v1` may be added.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

/// What it answers.
impl MockServer {
    /// Adds a reply to the queue. Replies are given in order of arrival of the requests; the last one repeats until
    /// another is pushed.
    pub fn push(&self, reply: impl Into<Reply>) -> &Self {
        self.shared.scripts.push(reply.into());
        self
    }

    /// Adds the same reply several times.
    pub fn push_times(&self, times: usize, reply: impl Into<Reply>) -> &Self {
        let reply = reply.into();
        (0..times).for_each(|_| self.shared.scripts.push(reply.clone()));
        self
    }

    /// Answers by a closure instead of the queue. It runs on the server's task and must not block; if it panics, the
    /// request gets a 500 that says so.
    pub fn respond_with<R: Into<Reply>>(
        &self,
        respond: impl Fn(&Received) -> R + Send + Sync + 'static,
    ) -> &Self {
        self.shared.scripts.respond_with(move |request| respond(request).into());
        self
    }

    /// Answers the requests that match with a script of their own. Rules are asked in the order in which they were
    /// added, for every method and path.
    pub fn when(
        &self,
        matches: impl Fn(&Received) -> bool + Send + Sync + 'static,
        script: impl Into<Script>,
    ) -> &Self {
        self.shared.scripts.add_rule(matches, script.into());
        self
    }

    /// Answers the requests to this path (without query) with a script of their own.
    pub fn on_path(&self, path: impl Into<String>, script: impl Into<Script>) -> &Self {
        let path = path.into();
        self.when(move |request| request.path() == path, script)
    }

    /// What happens to the next connection before any request is read; called several times, to the ones after it.
    /// Connections beyond that are served as usual.
    pub fn on_connect(&self, what: OnConnect) -> &Self {
        self.shared.push_on_connect(what);
        self
    }

    /// Forgets all replies, rules and the closure.
    pub fn clear_scripts(&self) -> &Self {
        self.shared.scripts.clear();
        self
    }

    /// Asks for this API key from now on, wherever the vendors put it (`Authorization: Bearer`, `x-api-key`,
    /// `api-key`, `x-goog-api-key`, `?key=`); without it the answer is the vendor's error for a bad key.
    pub fn require_key(&self, key: impl Into<String>) -> &Self {
        self.shared.settings().key = Some(key.into());
        self
    }

    /// The models that the listing endpoints name; one called `mock-model` by default. Completions take any model.
    pub fn models<S: Into<String>>(&self, models: impl IntoIterator<Item = S>) -> &Self {
        self.shared.settings().models = models.into_iter().map(Into::into).collect();
        self
    }
}

/// What it saw.
impl MockServer {
    /// The requests so far, in order (the latest 10,000, or the latest 256 MiB of bodies). A request is there when its
    /// body is complete.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.log.requests()
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.shared.log.accepted()
    }

    /// How many connections are open now, idle ones included.
    pub fn open_connections(&self) -> usize {
        self.shared.log.open()
    }

    /// The clients that went away before their reply was complete (the latest 10,000): what dropping a call's future
    /// must lead to. A reply that fits into the operating system's buffers is complete when it is written, read or
    /// not; hold the reply at a [`Gate`](super::Gate) to see a client leave.
    pub fn disconnects(&self) -> Vec<Disconnect> {
        self.shared.log.disconnects()
    }

    /// Waits until `count` requests have come since the start, and returns all so far.
    ///
    /// # Errors
    /// [`MockError::TimedOut`] after 10 s.
    pub async fn wait_for_requests(&self, count: usize) -> Result<Vec<Received>, MockError> {
        self.shared.log.wait_for_requests(count).await?;
        Ok(self.requests())
    }

    /// Waits until a client has gone away before its reply was complete.
    ///
    /// ```
    /// use backstop_mock::server::{Gate, MockServer, Reply};
    /// # use tokio::{io::AsyncWriteExt, net::TcpStream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = MockServer::start().await?;
    /// let never = Gate::new();
    /// server.push(Reply::text("unread").after(&never));
    /// let call = async {
    ///     // A call of the client under test; here one by hand.
    ///     # let mut client = TcpStream::connect(server.addr()).await?;
    ///     # client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").await?;
    ///     # std::future::pending::<()>().await;
    ///     # Ok::<_, std::io::Error>(client)
    /// };
    /// tokio::select! {
    ///     _ = call => unreachable!(),
    ///     reached = never.reached(1) => reached?,
    /// }
    /// server.wait_for_disconnect().await?; // the call was dropped, and with it its connection
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`MockError::TimedOut`] after 10 s.
    pub async fn wait_for_disconnect(&self) -> Result<(), MockError> {
        self.wait_for_disconnects(1).await.map(drop)
    }

    /// Waits until `count` clients have gone away since the start, and returns all of them.
    ///
    /// # Errors
    /// [`MockError::TimedOut`] after 10 s.
    pub async fn wait_for_disconnects(&self, count: usize) -> Result<Vec<Disconnect>, MockError> {
        self.shared.log.wait_for_disconnects(count).await?;
        Ok(self.disconnects())
    }

    /// Waits until `count` connections have been closed since the start, by either side.
    ///
    /// # Errors
    /// [`MockError::TimedOut`] after 10 s.
    pub async fn wait_for_closed(&self, count: usize) -> Result<(), MockError> {
        self.shared.log.wait_for_closed(count).await
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        // Aborting alone would free the port only when the runtime gets round to it.
        self.shared.stop_listening();
        self.accepting.abort();
    }
}
