//! What is open: connections, their requests, the bytes that they make the process hold.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use prometheus::IntGauge;

use super::pipeline::Expected;

/// Bytes that one connection may make the process hold: answers that its client does not take, and
/// request bodies.
const HELD_BY_CONNECTION: usize = 24 << 20;
/// The same for all connections of the process.
const HELD_BY_PROCESS: usize = 128 << 20;
/// From here on connections that hold much have to be quick.
const PRESSURE: usize = 32 << 20;
/// What is much then.
const MUCH: usize = 512 << 10;

static HELD: AtomicUsize = AtomicUsize::new(0);

static OPEN_CONNECTIONS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_connections", "Connections that are open"));
static OPEN_REQUESTS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_requests", "Requests whose answer is not yet sent"));

fn gauge(name: &str, help: &str) -> IntGauge {
    crate::metrics::register(IntGauge::new(name, help))
}

/// What is open at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Open connections.
    pub(crate) connections: usize,
    /// Bytes that they make the process hold.
    pub(crate) bytes: usize,
}

/// What is open now.
pub(crate) fn load() -> Load {
    let connections = usize::try_from(OPEN_CONNECTIONS.get()).unwrap_or_default();
    Load { connections, bytes: HELD.load(Ordering::Relaxed) }
}

/// Shows the metrics of connections before the first one comes.
pub(crate) fn show_metrics() {
    LazyLock::force(&OPEN_CONNECTIONS);
    LazyLock::force(&OPEN_REQUESTS);
    super::peers::show_metrics();
}

/// One connection, shared by its socket, its requests and its answers.
pub(crate) struct Connection {
    /// Whether it speaks TLS.
    secure: bool,
    /// Whether a PROXY protocol header says that the client speaks TLS with the proxy.
    pub(super) tls_at_proxy: Cell<bool>,
    /// Whether the peer is a proxy on a Unix socket.
    pub(super) trusted_peer: Cell<bool>,
    open: Cell<usize>,
    /// Requests that the application got so far.
    pub(super) served: Cell<u64>,
    /// Whether an answer was made whose bytes may not have left.
    pub(super) unflushed: Cell<bool>,
    /// Bytes of the HTTP/1.1 answer that is being written; counted as held when its client is slow.
    pub(super) sending: Cell<usize>,
    /// What follows the head of the request that the application got last, over HTTP/1.1.
    pub(super) expected: Cell<Expected>,
    /// Whether the application has read all of that.
    pub(super) body_is_read: Cell<bool>,
    /// Bytes that the client has taken so far.
    pub(super) taken: Cell<u64>,
    /// Frames that came over HTTP/2 and brought nothing forward so far.
    idle_frames: Cell<usize>,
    held: Arc<AtomicUsize>,
}

impl Connection {
    pub(super) fn new(secure: bool) -> Rc<Self> {
        OPEN_CONNECTIONS.inc();
        Rc::new(Self {
            secure,
            tls_at_proxy: Cell::new(false),
            trusted_peer: Cell::new(false),
            open: Cell::new(0),
            served: Cell::new(0),
            unflushed: Cell::new(false),
            sending: Cell::new(0),
            expected: Cell::default(),
            body_is_read: Cell::new(false),
            taken: Cell::new(0),
            idle_frames: Cell::new(0),
            held: Arc::default(),
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.get() == 0
    }

    /// Returns whether no request is open and all answers have left.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.unflushed.get()
    }

    /// Requests that are open.
    pub(super) fn open(&self) -> usize {
        self.open.get()
    }

    /// Whether the connection holds all that it may.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_beside(0)
    }

    /// Whether it does so without one answer: even the longest may be sent when there is nothing else.
    pub(super) fn is_full_beside(&self, answer: usize) -> bool {
        let (own, all) = (self.held.load(Ordering::Relaxed), HELD.load(Ordering::Relaxed));
        own.saturating_sub(answer) > HELD_BY_CONNECTION
            || all.saturating_sub(answer) > HELD_BY_PROCESS
    }

    /// Whether it holds so much that it has to be quick when all connections together hold much.
    pub(super) fn holds_much(&self) -> bool {
        self.held.load(Ordering::Relaxed) > MUCH
    }

    /// Whether all connections together hold much.
    pub(super) fn is_under_pressure() -> bool {
        HELD.load(Ordering::Relaxed) > PRESSURE
    }

    /// Counts frames that came; the number of those that brought nothing forward so far.
    pub(super) fn count_frames(&self, frames: usize) -> usize {
        self.idle_frames.set(self.idle_frames.get().saturating_add(frames));
        self.idle_frames.get()
    }

    /// Takes frames off that count: they belonged to something useful.
    pub(super) fn count_useful(&self, frames: usize) {
        self.idle_frames.set(self.idle_frames.get().saturating_sub(frames));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN_CONNECTIONS.dec();
    }
}

/// A request from the moment the application gets it until its answer is sent or dropped.
pub(super) struct OpenRequest {
    pub(super) connection: Option<Rc<Connection>>,
    /// Bytes of the request body that the application has read.
    pub(super) body: Option<Rc<Held>>,
}

impl OpenRequest {
    pub(super) fn new(connection: Option<Rc<Connection>>) -> Self {
        OPEN_REQUESTS.inc();
        if let Some(connection) = &connection {
            connection.open.set(connection.open.get() + 1);
            connection.served.set(connection.served.get() + 1);
            connection.unflushed.set(true);
        }
        Self { connection, body: None }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        OPEN_REQUESTS.dec();
        if let Some(connection) = &self.connection {
            connection.open.set(connection.open.get() - 1);
        }
    }
}

/// Bytes that a connection makes the process hold.
pub(super) struct Held {
    connection: Arc<AtomicUsize>,
    bytes: Cell<usize>,
}

impl Held {
    pub(super) fn new(connection: &Connection, bytes: usize) -> Self {
        let held = Self { connection: Arc::clone(&connection.held), bytes: Cell::new(0) };
        held.grow(bytes);
        held
    }

    /// Counts more bytes.
    pub(super) fn grow(&self, bytes: usize) {
        HELD.fetch_add(bytes, Ordering::Relaxed);
        self.connection.fetch_add(bytes, Ordering::Relaxed);
        self.bytes.set(self.bytes.get() + bytes);
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The same bytes as a buffer that counts as held until its last part is dropped.
    pub(super) fn around(self, buffer: Bytes) -> Bytes {
        struct Counted {
            buffer: Bytes,
            _held: Held,
        }
        impl AsRef<[u8]> for Counted {
            fn as_ref(&self) -> &[u8] {
                &self.buffer
            }
        }
        Bytes::from_owner(Counted { buffer, _held: self })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = self.bytes.get();
        HELD.fetch_sub(bytes, Ordering::Relaxed);
        self.connection.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// How a request came to this process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transport {
    /// Over TLS.
    pub(crate) secure: bool,
    /// Over TLS to a proxy that sends the PROXY protocol.
    pub(crate) tls_at_proxy: bool,
    /// From a proxy on a Unix socket, which is trusted.
    pub(crate) trusted_peer: bool,
}

/// How a request came to this process.
pub(crate) fn transport(request: &HttpRequest) -> Transport {
    let of = |connection: &Rc<Connection>| Transport {
        secure: connection.secure,
        tls_at_proxy: connection.tls_at_proxy.get(),
        trusted_peer: connection.trusted_peer.get(),
    };
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) => of(connection),
        None => request.extensions().get::<Rc<Connection>>().map(of).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_answer_has_room_where_nothing_else_is_held() {
        let connection = Connection::new(false);
        let long = HELD_BY_CONNECTION + 1;
        let answer = Held::new(&connection, long);
        assert!(connection.is_full());
        assert!(!connection.is_full_beside(long));
        let other = Held::new(&connection, long);
        assert!(connection.is_full_beside(long));
        drop((answer, other));
        assert!(!connection.is_full());
    }
}
