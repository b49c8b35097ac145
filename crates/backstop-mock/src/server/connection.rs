//! One client connection: reads requests, writes bytes, and notices at any moment when the client goes away.

use std::{future::Future, io, time::Duration};

use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::http::{BadRequest, BodyLength, ChunkStep, Head, MAX_BODY, next_chunk};

/// How much of a pipelined request is read while a reply is under way. Beyond it the server stops reading, and with
/// that stops noticing whether the client is still there.
const MAX_AHEAD: usize = 1024 * 1024;
const READ_SIZE: usize = 16 * 1024;

/// The client closed or reset the connection. A client that only closes its sending half counts as gone, as with
/// most HTTP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// What comes in on a connection.
pub(super) enum Incoming {
    Request(Head, Vec<u8>),
    /// The client left between two requests, as it may.
    End,
    /// The client left in the middle of a request.
    Broken,
    Bad(BadRequest),
}

/// What ends the reading of a request early.
enum Stop {
    Gone,
    Bad(BadRequest),
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<BadRequest> for Stop {
    fn from(why: BadRequest) -> Self {
        Self::Bad(why)
    }
}

pub(super) struct Connection {
    socket: TcpStream,
    /// Bytes that were read and not yet used.
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream) -> Self {
        // Without it small writes would be merged, and the borders a test asked for would vanish. A socket that
        // refuses is closed already, which the first read will show.
        let _ = socket.set_nodelay(true);
        Self { socket, buffer: Vec::new() }
    }

    /// Reads the next request.
    pub(super) async fn next_request(&mut self) -> Incoming {
        match self.read_request().await {
            Ok((head, body)) => Incoming::Request(head, body),
            Err(Stop::Bad(why)) => Incoming::Bad(why),
            Err(Stop::Gone) if self.buffer.is_empty() => Incoming::End,
            Err(Stop::Gone) => Incoming::Broken,
        }
    }

    async fn read_request(&mut self) -> Result<(Head, Vec<u8>), Stop> {
        let (head, length) = loop {
            match Head::parse(&self.buffer)? {
                Some(found) => break found,
                None => self.read_more().await?,
            }
        };
        let body_length = head.body_length()?;
        // The head stays in the buffer until the body is complete: a client that leaves meanwhile left mid-request.
        if head.expects_continue() {
            self.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let (body, end) = match body_length {
            BodyLength::Known(wanted) => self.read_known(length, wanted).await?,
            BodyLength::Chunked => self.read_chunked(length).await?,
        };
        self.buffer.drain(..end.min(self.buffer.len()));
        Ok((head, body))
    }

    /// The body and the offset at which it ends.
    async fn read_known(&mut self, start: usize, wanted: usize) -> Result<(Vec<u8>, usize), Stop> {
        let end = start + wanted;
        loop {
            if let Some(body) = self.buffer.get(start..end) {
                return Ok((body.to_vec(), end));
            }
            self.read_more().await?;
        }
    }

    async fn read_chunked(&mut self, start: usize) -> Result<(Vec<u8>, usize), Stop> {
        let (mut body, mut at) = (Vec::new(), start);
        loop {
            let rest = self.buffer.get(at..).unwrap_or_default();
            match next_chunk(rest)? {
                ChunkStep::More => self.read_more().await?,
                ChunkStep::Chunk { start, end, next } => {
                    body.extend_from_slice(rest.get(start..end).unwrap_or_default());
                    at += next;
                }
                ChunkStep::End(length) => return Ok((body, at + length)),
            }
            if body.len() > MAX_BODY {
                return Err(BadRequest::TooLarge.into());
            }
        }
    }

    async fn read_more(&mut self) -> Result<(), Gone> {
        loop {
            self.socket.readable().await.map_err(|_| Gone)?;
            match read_some(&self.socket, &mut self.buffer) {
                Ok(0) => return Err(Gone),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(Gone),
            }
        }
    }

    /// Waits for the future, unless the client goes away first.
    pub(super) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::select! {
            biased;
            () = gone(&self.socket, &mut self.buffer) => Err(Gone),
            output = future => Ok(output),
        }
    }

    pub(super) async fn until_gone(&mut self) {
        gone(&self.socket, &mut self.buffer).await;
    }

    /// Reads and drops everything until the client goes away.
    pub(super) async fn swallow(&mut self) {
        while self.read_more().await.is_ok() {
            self.buffer.clear();
        }
    }

    pub(super) async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Gone> {
        while !bytes.is_empty() {
            let writable = tokio::select! {
                biased;
                () = gone(&self.socket, &mut self.buffer) => return Err(Gone),
                writable = self.socket.writable() => writable,
            };
            match writable.and_then(|()| self.socket.try_write(bytes)) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(Gone),
            }
        }
        Ok(())
    }

    /// Resets the connection (RST).
    pub(super) fn reset(self) {
        // `set_zero_linger` says the same but needs a newer tokio than the workspace asks for. A linger time of zero
        // does not block, which is what the deprecation is about.
        #[allow(deprecated)]
        let _ = self.socket.set_linger(Some(Duration::ZERO));
    }

    /// Closes the connection in good order although the client may still be sending. Closing with unread bytes would
    /// reset it, and the client would lose the answer.
    pub(super) async fn close_gently(mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        let _ = self.socket.shutdown().await;
        let _ = tokio::time::timeout(PATIENCE, self.swallow()).await;
    }
}

/// Resolves when the client is gone. What it sends meanwhile is kept for the next request.
async fn gone(socket: &TcpStream, buffer: &mut Vec<u8>) {
    while buffer.len() < MAX_AHEAD {
        if socket.readable().await.is_err() {
            return;
        }
        match read_some(socket, buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
    std::future::pending().await
}

fn read_some(socket: &TcpStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.reserve(READ_SIZE);
    socket.try_read_buf(buffer)
}
