//! An address at which nobody listens.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

use super::MockError;

/// A port of 127.0.0.1 that refuses connections, and that nobody else can take while this lives: a vendor that is
/// down, or an Ollama that was not started.
///
/// ```
/// use backstop_mock::server::ClosedPort;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let down = ClosedPort::reserve()?;
/// assert!(tokio::net::TcpStream::connect(down.addr()).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClosedPort {
    // Bound but not listening: the port is taken, and connections to it are refused.
    _socket: TcpSocket,
    addr: SocketAddr,
}

impl ClosedPort {
    /// Takes a free port. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`MockError::Bind`] if there is none.
    pub fn reserve() -> Result<Self, MockError> {
        let bind = |source| MockError::Bind { source };
        let socket = TcpSocket::new_v4().map_err(bind)?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).map_err(bind)?;
        let addr = socket.local_addr().map_err(bind)?;
        Ok(Self { _socket: socket, addr })
    }

    /// The root URL, `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}
