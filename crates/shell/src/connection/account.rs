//! What is open: connections, their requests, the bytes of answers that wait for their clients.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::{HttpMessage, HttpRequest};
use prometheus::{IntGauge, Opts};

/// Bytes of answers that the streams of one HTTP/2 connection may hold for a client that does not
/// take them.
const HELD_BY_CONNECTION: usize = 32 << 20;
/// The same for all connections of the process.
const HELD_BY_PROCESS: usize = 128 << 20;

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

/// One connection, shared by its socket, its requests and its answers.
pub(crate) struct Connection {
    /// Whether it speaks TLS.
    pub(crate) secure: bool,
    open: Cell<usize>,
    /// Requests that the application got so far.
    pub(super) served: Cell<u64>,
    /// Whether an answer was made whose bytes may not have left.
    pub(super) unflushed: Cell<bool>,
    held: Cell<usize>,
}

impl Connection {
    pub(super) fn new(secure: bool) -> Rc<Self> {
        OPEN_CONNECTIONS.inc();
        Rc::new(Self {
            secure,
            open: Cell::new(0),
            served: Cell::new(0),
            unflushed: Cell::new(false),
            held: Cell::new(0),
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.get() == 0
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN_CONNECTIONS.dec();
    }
}

/// A request from the moment the application gets it until its answer is sent or dropped.
pub(super) struct OpenRequest(Option<Rc<Connection>>);

impl OpenRequest {
    pub(super) fn new(connection: Option<Rc<Connection>>) -> Self {
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
pub(super) struct Held {
    connection: Rc<Connection>,
    bytes: usize,
}

impl Held {
    pub(super) fn new(connection: &Rc<Connection>, bytes: usize) -> Self {
        HELD.fetch_add(bytes, Ordering::Relaxed);
        connection.held.set(connection.held.get() + bytes);
        Self { connection: Rc::clone(connection), bytes }
    }

    pub(super) fn is_too_much(&self) -> bool {
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
