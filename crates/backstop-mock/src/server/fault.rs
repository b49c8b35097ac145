//! What goes wrong with a reply on its way, apart from what it says.

use std::time::Duration;

use super::Gate;

/// How a reply, or a connection, comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// The connection is closed in good order (FIN): the client reads an end of file.
    Close,
    /// The connection is reset (RST): the client gets an error. What was sent before arrives as long as it fits into
    /// the client's receive buffer.
    Reset,
    /// Nothing more comes, and the connection stays open until the client goes away or the server is dropped.
    Hang,
}

/// What happens to a new connection before any request is read. See
/// [`MockServer::on_connect`](super::MockServer::on_connect).
///
/// ```
/// use backstop_mock::server::{End, MockServer, OnConnect};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::start().await?;
/// server.on_connect(OnConnect::End(End::Reset)).on_connect(OnConnect::Garbage(b"SSH-2.0\r\n".to_vec()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OnConnect {
    /// The connection ends so at once; with [`End::Hang`] it is open and dead.
    End(End),
    /// These bytes are sent without being asked, then the connection is closed.
    Garbage(Vec<u8>),
    /// The connection is served as usual: lets a script leave connections out.
    Serve,
}

/// So many bytes at a time, then a pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) bytes: usize,
    pub(super) pause: Duration,
}

/// Where a reply is cut, counted in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cut {
    /// Of the body, without the framing of chunks.
    Body(u64),
    /// Of everything that is sent, head included.
    Whole(u64),
}

/// How the client learns the body's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Framing {
    /// Chunked for streams, else a content-length.
    #[default]
    Natural,
    Chunked,
    UntilClose,
    /// A content-length that may be a lie.
    Claimed(u64),
}

/// What happens to the connection after a complete reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum After {
    #[default]
    KeepAlive,
    /// Closed, and announced.
    Close,
    /// Closed, although the head promised otherwise.
    CloseUnannounced,
}

/// All faults of one reply. They compose: each acts on its own part of the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// Before the first byte, in order.
    pub(super) before: Vec<Hold>,
    pub(super) head_pace: Option<Pace>,
    pub(super) body_pace: Option<Pace>,
    /// Gates in the body, ascending by offset.
    pub(super) body_gates: Vec<(u64, Gate)>,
    pub(super) cut: Option<(Cut, End)>,
    pub(super) framing: Framing,
    pub(super) after: After,
}

/// Something to wait for.
#[derive(Clone, Debug)]
pub(super) enum Hold {
    Gate(Gate),
    Time(Duration),
}
