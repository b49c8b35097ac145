//! The servers, in a process of their own.

use std::{
    error::Error,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use backstop::mock::server::{ApiError, Completion, End, MockServer, OnConnect, Received, Reply, Streaming};

use super::facts::{Ticket, asked, story};

/// Names of the servers, in the chain's order, with the share of their replies that is bad.
pub(crate) const SERVERS: [(&str, f64); 4] = [("ada", 0.6), ("bob", 0.5), ("cleo", 0.3), ("dan", 0.1)];

/// The child process. It ends with its standard input.
pub(crate) struct Servers {
    child: Child,
    urls: Vec<String>,
    _open: ChildStdin,
}

impl Servers {
    pub(crate) fn start(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--serve", &seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let open = child.stdin.take().ok_or("the servers have no input")?;
        let output = child.stdout.take().ok_or("the servers have no output")?;
        let urls = BufReader::new(output).lines().take(SERVERS.len()).collect::<Result<Vec<_>, _>>()?;
        if urls.len() < SERVERS.len() {
            return Err("the servers did not start".into());
        }
        Ok(Self { child, urls, _open: open })
    }

    pub(crate) fn urls(&self) -> &[String] {
        &self.urls
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The child's work: prints the URLs and serves until standard input ends.
pub(crate) fn serve(seed: u64) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut servers = Vec::new();
        for (position, (name, bad)) in SERVERS.into_iter().enumerate() {
            let server = MockServer::start().await?;
            let dice = Mutex::new(fastrand::Rng::with_seed(seed + position as u64));
            server.respond_with(move |request| {
                let mut dice = dice.lock().unwrap_or_else(PoisonError::into_inner);
                reply(name, bad, request, &mut dice)
            });
            println!("{}", server.url());
            servers.push(server);
        }
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        tokio::pin!(ended);
        let mut dice = fastrand::Rng::with_seed(seed);
        loop {
            tokio::select! {
                _ = &mut ended => return Ok(()),
                () = tokio::time::sleep(Duration::from_millis(200)) => {
                    if let Some(server) = servers.get(dice.usize(..servers.len())) {
                        server.on_connect(bad_connection(&mut dice));
                    }
                }
            }
        }
    })
}

fn bad_connection(dice: &mut fastrand::Rng) -> OnConnect {
    match dice.u8(..4) {
        0 => OnConnect::End(End::Close),
        1 => OnConnect::End(End::Reset),
        2 => OnConnect::End(End::Hang),
        _ => OnConnect::Garbage(b"SSH-2.0-OpenSSH\r\n".to_vec()),
    }
}

fn reply(name: &str, bad: f64, request: &Received, dice: &mut fastrand::Rng) -> Reply {
    let Some(number) = asked(&request.last_user_text()) else {
        return ApiError::invalid_request().into();
    };
    let text = match request.is_stream() {
        true => story(name, number),
        false => serde_json::to_string_pretty(&Ticket::of(number)).unwrap_or_default(),
    };
    let streaming = Streaming::new().piece_chars(dice.usize(1..60)).keep_alives(dice.usize(..3));
    let streaming = if dice.bool() { streaming } else { streaming.write_bytes(dice.usize(7..400)) };
    if dice.f64() < bad {
        faulty(text, streaming, dice)
    } else {
        let wait = Duration::from_millis(dice.u64(..20));
        Reply::from(Completion::text(text)).streamed(streaming).delay(wait)
    }
}

fn faulty(text: String, streaming: Streaming, dice: &mut fastrand::Rng) -> Reply {
    let end = [End::Close, End::Reset, End::Hang][dice.usize(..3)];
    let part: String = text.chars().take(dice.usize(..text.len())).collect();
    let good = || Reply::from(Completion::text(text.clone())).streamed(streaming.clone());
    match dice.u8(..22) {
        0 => ApiError::server().into(),
        1 => ApiError::overloaded().into(),
        2 => Reply::from(ApiError::rate_limited()).retry_after(1),
        3 => ApiError::status([408, 425, 502, 504, 520, 529][dice.usize(..6)]).into(),
        4 => Reply::in_band(ApiError::overloaded()),
        5 => Reply::html(200, "<html><body>Please sign in.</body></html>"),
        6 => Reply::garbage(vec![dice.u8(..); dice.usize(..2_000)]),
        7 => Reply::nothing(end),
        8 => Reply::filler("application/json", 1 << 20),
        9 => good().cut_at(dice.u64(..text.len() as u64), end),
        10 => good().cut_at(dice.u64(..2_000), end),
        11 => good().cut_at(dice.u64(..text.len() as u64 + 200), End::Close).until_close(),
        12 => good().content_length(dice.u64(..4_000)),
        13 => good().slow_body(dice.usize(1..200), Duration::from_millis(dice.u64(1..200))),
        14 => good().delay(Duration::from_millis(dice.u64(200..2_000))),
        15 => good().close_unannounced(),
        16 => Completion::refusal("I'm sorry, but I can't help with that.").into(),
        17 => Completion::empty().into(),
        18 => Completion::truncated(part).into(),
        // Without a word of it being cut: as free text nobody could know.
        19 if text.starts_with('{') => Completion::text(part).into(),
        20 => Reply::from(Completion::text(text)).streamed(streaming.no_end()),
        21 => Reply::from(Completion::text(text))
            .streamed(streaming.error_after(dice.usize(..8), ApiError::server())),
        _ => Completion::filtered(String::new()).into(),
    }
}
