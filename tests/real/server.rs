//! A running server.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::environment::environment;

/// The key that it asks for.
pub(crate) const KEY: &str = "sk-local-0123456789";
/// The tokens of its context, unless a test says otherwise.
pub(crate) const CONTEXT: u32 = 1_024;

/// A server on a free port. It has one slot: further requests wait. Dropping stops it.
pub(crate) struct RealServer {
    child: Child,
    port: u16,
}

impl RealServer {
    /// A server that answers, or `None` if there can be none here.
    pub(crate) fn ready(context: u32) -> Option<Self> {
        let mut server = Self::start(context)?;
        let give_up = Instant::now() + Duration::from_secs(60);
        while server.get("/health").is_none_or(|answer| !answer.starts_with("HTTP/1.1 200")) {
            assert!(Instant::now() < give_up, "the server does not get ready");
            assert!(matches!(server.child.try_wait(), Ok(None)), "the server has stopped");
            thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// A server that has only just been started.
    pub(crate) fn start(context: u32) -> Option<Self> {
        let environment = environment()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let child = Command::new(&environment.python)
            .arg(&environment.script)
            .arg(port.to_string())
            .env("MODEL", &environment.model)
            .env("API_KEY", KEY)
            .env("N_CTX", context.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Some(Self { child, port })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether it is working on an answer.
    pub(crate) fn is_busy(&self) -> bool {
        self.get("/slots").unwrap().contains("\"is_processing\":true")
    }

    /// The whole response, head included; `None` while nobody listens.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
