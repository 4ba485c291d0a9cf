//! Stops a server under load.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Program, until_blocking};

/// The environment variable for the number of stops. Defaults to [`STOPS`].
const VARIABLE: &str = "STOPS";
/// Default number of stops, kept low so that tests stay short.
const STOPS: u32 = 2;
/// Number of clients of each kind. One kind keeps its connections open, while the other opens a new
/// one for each request.
const CLIENTS: usize = 4;
/// How long to wait for a response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts and stops a program's server `STOPS` times, while clients send requests over persistent
/// and new connections. Checks that every request gets a complete response, and none gets a 5xx.
///
/// ```no_run
/// use testkit::Program;
///
/// let program = Program::new("target/debug/passwords");
/// testkit::stop_under_load(&program, "/range/5BAA6", &[("user-agent", "tests")]);
/// ```
///
/// # Panics
/// Panics if a request is lost, or if the server doesn't exit with code 0.
#[track_caller]
pub fn stop_under_load(program: &Program, path: &str, headers: &[(&str, &str)]) {
    let stops = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(STOPS);
    let mut request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n");
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    let request: Arc<str> = (request + "\r\n").into();
    let mut total = 0;
    for stop in 1..=stops {
        let served = program.serve(&["--drain-seconds", "1", "--access-log", "off"]);
        let answered = Arc::new(AtomicU64::new(0));
        let clients: Vec<_> = (0..2 * CLIENTS)
            .map(|number| {
                let client = Client {
                    address: served.http(),
                    request: Arc::clone(&request),
                    keeps: number % 2 == 0,
                    answered: Arc::clone(&answered),
                };
                std::thread::spawn(move || client.run())
            })
            .collect();
        until_blocking("the clients are under way", || answered.load(Ordering::Relaxed) > 50);
        assert_eq!(served.stop(), Some(0), "stop {stop}");
        let lost: Vec<_> = clients.into_iter().filter_map(loss).collect();
        assert!(lost.is_empty(), "stop {stop} of {stops}: requests are lost: {lost:?}");
        total += answered.load(Ordering::Relaxed);
    }
    println!("{stops} stops, {total} requests, none lost");
}

/// Returns the error of a client that failed.
fn loss(client: JoinHandle<Result<(), String>>) -> Option<String> {
    match client.join() {
        Ok(result) => result.err(),
        Err(_) => Some("the client panicked".to_owned()),
    }
}

/// Sends requests until the server stops listening.
struct Client {
    address: SocketAddr,
    request: Arc<str>,
    keeps: bool,
    answered: Arc<AtomicU64>,
}

impl Client {
    fn run(&self) -> Result<(), String> {
        // If connecting fails, no request has been sent, so none was lost.
        while let Ok(stream) = TcpStream::connect(self.address) {
            let kind = if self.keeps { "kept" } else { "fresh" };
            self.ask(stream).map_err(|error| format!("on a {kind} connection: {error}"))?;
        }
        Ok(())
    }

    /// Sends requests over a connection until the server asks to close it. A client that doesn't
    /// keep connections sends just one.
    fn ask(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut stream = BufReader::new(stream);
        loop {
            stream.get_mut().write_all(self.request.as_bytes())?;
            let closes = read_answer(&mut stream)?;
            self.answered.fetch_add(1, Ordering::Relaxed);
            if closes || !self.keeps {
                return Ok(());
            }
        }
    }
}

/// Reads a response, and returns whether it is the last one on the connection.
fn read_answer(stream: &mut BufReader<TcpStream>) -> io::Result<bool> {
    let (mut length, mut chunked, mut closes) = (0, false, false);
    let mut line = String::new();
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    if stream.read_line(&mut line)? == 0 {
        return Err(cut());
    }
    if line.split(' ').nth(1).is_none_or(|status| status.starts_with('5')) {
        return Err(io::Error::other(line));
    }
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(cut());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => chunked = true,
            "connection" => closes = value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    if chunked {
        return read_chunks(stream).map(|()| closes);
    }
    stream.read_exact(&mut vec![0; length]).map(|()| closes)
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        stream.read_exact(&mut vec![0; length + 2])?;
        if length == 0 {
            return Ok(());
        }
    }
}
