//! A Redis of a test's own: on a free loopback port, in memory only, gone when dropped.
#![allow(dead_code)]

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct RedisServer {
    port: u16,
    process: Child,
}

impl RedisServer {
    /// A running server, or `None`, said loudly, where there is no `redis-server`.
    pub(crate) fn start() -> Option<Self> {
        if let Err(error) = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status() {
            // Written directly, for the test harness hides what a passing test prints.
            let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED: no redis-server to test with ({error})\n");
            return None;
        }
        // Somebody else may take the port between the look and the start.
        (0..5).find_map(|_| {
            let port = free_port();
            let mut process = spawn(port);
            if came_up(port, &mut process) {
                return Some(Self { port, process });
            }
            stop(&mut process);
            None
        })
    }

    pub(crate) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let client = redis::Client::open(self.address()).expect("an address");
        let mut connection = client.get_connection().expect("a connection");
        let (name, args) = words.split_first().expect("a command");
        redis::cmd(name).arg(args).query(&mut connection).expect("an answer")
    }

    /// Goes away without a word.
    pub(crate) fn kill(&mut self) {
        stop(&mut self.process);
    }

    /// Comes back at the same place, with nothing in memory.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.process = spawn(self.port);
        assert!(came_up(self.port, &mut self.process), "the server did not come back");
    }

    /// Takes connections and answers nothing.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(status.expect("kill").success());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

fn spawn(port: u16) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server starts")
}

/// By its id, and waits for the end.
fn stop(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

fn came_up(port: u16, process: &mut Child) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if !matches!(process.try_wait(), Ok(None)) {
            return false;
        }
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
