//! Connections: who may open how many, how long they may stand still, what they may hold.
//!
//! actix serves HTTP/1.1 and HTTP/2 with a deadline for the first request head alone. This module
//! stands between its listener and its dispatchers so that every connection is bounded:
//!
//! | Bound | Setting | What happens at the bound |
//! |---|---|---|
//! | time from the first byte of a request head to its last | `HEAD_TIMEOUT` | 408 in the service's format |
//! | time without 1 KiB of progress of a request body | `BODY_TIMEOUT` | the body ends with an error |
//! | time without 1 KiB of progress of an answer | `WRITE_TIMEOUT` | the connection or stream is cut |
//! | open connections | `MAX_CONNECTIONS` | further ones wait in the listener's queue |
//! | open HTTP/2 streams of a connection | `MAX_REQUESTS_PER_CONNECTION` | announced in SETTINGS; more are refused |
//! | bytes of HTTP/2 answers that wait for their client | [`HELD_BY_CONNECTION`], [`HELD_BY_PROCESS`] | the stream is reset |
//!
//! [`acceptor`] is the service that actix-server hands sockets to, [`guard`] the socket with its
//! deadlines, [`http2`] the HTTP/2 dispatcher, [`tracked`] the application with its accounts.

mod acceptor;
mod body;
mod guard;
mod http2;
mod parser_answer;
mod tracked;

pub(crate) use acceptor::{Entrance, listener};
pub(crate) use parser_answer::parser_faults;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use prometheus::{IntGauge, Opts};
use tokio::sync::watch;

use crate::ShellSettings;

/// Bytes of answers that the streams of one HTTP/2 connection may hold for a client that does not
/// take them.
const HELD_BY_CONNECTION: usize = 32 << 20;
/// The same for all connections of the process.
const HELD_BY_PROCESS: usize = 128 << 20;
/// What counts as progress within one period of `BODY_TIMEOUT` or `WRITE_TIMEOUT`, in bytes.
const PROGRESS: usize = 1024;
/// How long a connection without a request is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Longest request line, in bytes; longer ones get 414.
const LONGEST_REQUEST_LINE: usize = 48 << 10;

static HELD: AtomicUsize = AtomicUsize::new(0);

static OPEN_CONNECTIONS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_connections", "Connections that are open"));
static OPEN_REQUESTS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_requests", "Requests whose answer is not yet sent"));

#[expect(clippy::expect_used, reason = "names are constants that tests exercise")]
fn gauge(name: &str, help: &str) -> IntGauge {
    let gauge = IntGauge::with_opts(Opts::new(name, help)).expect("metric options are valid");
    crate::metrics::registry().register(Box::new(gauge.clone())).expect("names are unique");
    gauge
}

/// Answers a fault of the HTTP parser, which no application sees: the whole answer as bytes.
pub(crate) type ParserFaults = dyn Fn(StatusCode) -> Bytes + Send + Sync;

/// The bounds of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    head: Duration,
    body: Duration,
    write: Duration,
    streams: u32,
    /// Whether a handler ends when its client resets the stream or closes the connection.
    stop_when_client_leaves: bool,
}

impl Limits {
    pub(crate) fn new(settings: &ShellSettings, stop_when_client_leaves: bool) -> Self {
        Self {
            head: Duration::from_secs(settings.head_timeout),
            body: Duration::from_secs(settings.body_timeout),
            write: Duration::from_secs(settings.write_timeout),
            streams: settings.max_requests_per_connection,
            stop_when_client_leaves,
        }
    }
}

/// One connection, shared by its socket, its requests and its answers.
pub(crate) struct Connection {
    /// Whether it speaks TLS.
    pub(crate) secure: bool,
    open: Cell<usize>,
    /// Requests that the application got so far.
    served: Cell<u64>,
    /// Whether an answer was made whose bytes may not have left.
    unflushed: Cell<bool>,
    held: Cell<usize>,
}

impl Connection {
    fn new(secure: bool) -> Rc<Self> {
        OPEN_CONNECTIONS.inc();
        Rc::new(Self {
            secure,
            open: Cell::new(0),
            served: Cell::new(0),
            unflushed: Cell::new(false),
            held: Cell::new(0),
        })
    }

    fn is_idle(&self) -> bool {
        self.open.get() == 0
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN_CONNECTIONS.dec();
    }
}

/// A request from the moment the application gets it until its answer is sent or dropped.
struct OpenRequest(Option<Rc<Connection>>);

impl OpenRequest {
    fn new(connection: Option<Rc<Connection>>) -> Self {
        OPEN_REQUESTS.inc();
        if let Some(connection) = &connection {
            connection.open.set(connection.open.get() + 1);
            connection.served.set(connection.served.get() + 1);
            connection.unflushed.set(true);
        }
        Self(connection)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        OPEN_REQUESTS.dec();
        if let Some(connection) = &self.0 {
            connection.open.set(connection.open.get() - 1);
        }
    }
}

/// Bytes of an answer that wait for the client of an HTTP/2 stream.
struct Held {
    connection: Rc<Connection>,
    bytes: usize,
}

impl Held {
    fn new(connection: &Rc<Connection>, bytes: usize) -> Self {
        HELD.fetch_add(bytes, Ordering::Relaxed);
        connection.held.set(connection.held.get() + bytes);
        Self { connection: Rc::clone(connection), bytes }
    }

    fn is_too_much(&self) -> bool {
        self.connection.held.get() > HELD_BY_CONNECTION
            || HELD.load(Ordering::Relaxed) > HELD_BY_PROCESS
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.bytes, Ordering::Relaxed);
        self.connection.held.set(self.connection.held.get() - self.bytes);
    }
}

/// Whether a request came over TLS.
pub(crate) fn is_secure(request: &HttpRequest) -> bool {
    let of = |connection: &Rc<Connection>| connection.secure;
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) => of(connection),
        None => request.extensions().get::<Rc<Connection>>().is_some_and(of),
    }
}

/// Tells connections that the server is about to stop.
#[derive(Clone, Debug)]
pub(crate) struct Drain(watch::Receiver<bool>);

impl Drain {
    pub(crate) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Waits until draining begins.
    async fn begun(&mut self) {
        if self.0.wait_for(|draining| *draining).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
