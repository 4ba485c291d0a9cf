//! Processes that are killed when a test ends.

use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use reqwest::{Client, Method, RequestBuilder};

use crate::must::must;
use crate::server::client;

/// How long a process can run before it counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Pause between two polls of a process.
const PAUSE: Duration = Duration::from_millis(2);

/// A running process, which is killed on drop.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a command.
    ///
    /// # Panics
    /// Panics if the command can't be started.
    #[track_caller]
    pub fn spawn(command: &mut Command) -> Self {
        Self { child: must("start the program", command.spawn()) }
    }

    /// Returns the process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether the process has exited.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for the process to exit, and returns its exit code. `None` if it was killed by a
    /// signal.
    ///
    /// # Panics
    /// Panics if the process hangs.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        self.wait_measured().0
    }

    /// Waits for the process to exit, and returns its exit code and its peak memory in MiB.
    #[track_caller]
    pub(crate) fn wait_measured(&mut self) -> (Option<i32>, u64) {
        let (begin, mut peak) = (Instant::now(), 0);
        loop {
            peak = peak.max(self.peak_mib());
            if let Some(status) = must("wait for the program", self.child.try_wait()) {
                return (status.code(), peak);
            }
            assert!(begin.elapsed() < TIMEOUT, "the program does not end");
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Sends a signal, e.g. `HUP` or `TERM`.
    ///
    /// # Panics
    /// Panics if the signal can't be sent.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), self.id().to_string()]);
        assert!(must("send a signal", kill.status()).success(), "no such process");
    }

    /// Kills the process with SIGKILL. Returns true if it had already exited.
    pub fn kill(&mut self) -> bool {
        let ended = self.has_ended();
        let _ = self.child.kill();
        let _ = self.child.wait();
        ended
    }

    /// Kills the process as soon as a condition is met. Returns false if the process exited before
    /// that.
    ///
    /// # Panics
    /// Panics if the process hangs without the condition ever being met.
    #[track_caller]
    pub fn kill_when(&mut self, mut now: impl FnMut() -> bool) -> bool {
        let begin = Instant::now();
        while !self.has_ended() {
            if now() {
                return !self.kill();
            }
            assert!(begin.elapsed() < TIMEOUT, "the program does not end");
        }
        false
    }

    /// Returns the peak memory so far in MiB, or 0 if it can't be measured.
    pub fn peak_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kib.unwrap_or(0) >> 10
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A running server, which is killed on drop.
#[derive(Debug)]
pub struct Served {
    process: Process,
    http: SocketAddr,
    admin: SocketAddr,
    log: Arc<Mutex<String>>,
    /// The rest of the log. `None` if a thread is reading it or it has been closed.
    unread: Option<Lines<BufReader<ChildStderr>>>,
    client: Client,
}

impl Served {
    /// Starts a server, and waits until its addresses show up in the log.
    ///
    /// # Panics
    /// Panics if they don't show up, which requires at least `RUST_LOG=info`.
    #[track_caller]
    pub fn start(command: Command) -> Self {
        let mut served = Self::start_unread(command);
        served.read_log();
        served
    }

    /// Like [`start`](Self::start), but stops reading the log afterwards.
    ///
    /// # Panics
    /// See [`start`](Self::start).
    #[track_caller]
    pub fn start_unread(mut command: Command) -> Self {
        let mut process = Process::spawn(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        let errors = process.child.stderr.take();
        let errors = must("read the log", errors.ok_or("there is no pipe"));
        let mut lines = BufReader::new(errors).lines();
        let mut log = String::new();
        let mut address_behind = |mark: &str| -> SocketAddr {
            for line in lines.by_ref().map_while(Result::ok) {
                log.push_str(&line);
                log.push('\n');
                if let Some((_, rest)) = line.split_once(mark) {
                    let end = rest.find(|c: char| !(c.is_ascii_hexdigit() || ".:[]".contains(c)));
                    return must(&line, rest[..end.unwrap_or(rest.len())].parse());
                }
            }
            panic!("the log has no addresses: {log}");
        };
        let http = address_behind("http://");
        let admin = address_behind("health and metrics on http://");
        let (log, unread) = (Arc::new(Mutex::new(log)), Some(lines));
        Self { process, http, admin, log, unread, client: client() }
    }

    /// Resumes reading the log.
    pub fn read_log(&mut self) {
        let Some(lines) = self.unread.take() else { return };
        let behind = Arc::clone(&self.log);
        // Without a reader, the pipe would fill up and block the server.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = behind.lock();
                log.push_str(&line);
                log.push('\n');
            }
        });
    }

    /// Closes a log that isn't being read, so that the server can no longer write to it.
    pub fn close_log(&mut self) {
        self.unread = None;
    }

    /// Returns the plain HTTP address.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// Returns the address for health checks and metrics.
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// Returns the server process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Returns the part of the log that has been read so far.
    pub fn log(&self) -> MutexGuard<'_, String> {
        self.log.lock()
    }

    /// Creates a GET request.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// Creates a request with the given method.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.http))
    }

    /// Returns the current value of a metric.
    ///
    /// # Panics
    /// Panics if the metric doesn't exist.
    pub async fn metric(&self, name: &str) -> f64 {
        let response = self.client.get(format!("http://{}/metrics", self.admin)).send().await;
        let text = must("read the metrics", must("ask for metrics", response).text().await);
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        must(name, value.ok_or_else(|| text.clone()).map(str::trim)).parse().unwrap_or(f64::NAN)
    }

    /// Stops the server with SIGTERM, and returns its exit code.
    ///
    /// # Panics
    /// Panics if the server doesn't exit.
    #[track_caller]
    pub fn stop(mut self) -> Option<i32> {
        self.process.signal("TERM");
        self.process.wait()
    }
}
