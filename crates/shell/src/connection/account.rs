//! Counts open connections and requests, and the memory that they occupy.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use prometheus::IntGauge;

use super::pipeline::Expected;

/// Maximum number of bytes held for one connection: responses that the client has not read yet, and
/// request bodies.
const HELD_BY_CONNECTION: usize = 24 << 20;
/// Maximum number of bytes held for all connections of the process.
const HELD_BY_PROCESS: usize = 128 << 20;
/// If more bytes than this are held for all connections, those that hold a lot of memory must keep
/// the minimum rate.
const PRESSURE: usize = 32 << 20;
/// A connection holds a lot of memory if it holds more bytes than this.
const MUCH: usize = 512 << 10;

static HELD: AtomicUsize = AtomicUsize::new(0);

static OPEN_CONNECTIONS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_connections", "Connections that are open"));
static OPEN_REQUESTS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_requests", "Requests whose response has not been sent yet"));

fn gauge(name: &str, help: &str) -> IntGauge {
    crate::metrics::register(IntGauge::new(name, help))
}

/// The open connections at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of open connections.
    pub(crate) connections: usize,
    /// Bytes held for them.
    pub(crate) bytes: usize,
}

/// Returns the current load.
pub(crate) fn load() -> Load {
    let connections = usize::try_from(OPEN_CONNECTIONS.get()).unwrap_or_default();
    Load { connections, bytes: HELD.load(Ordering::Relaxed) }
}

/// Registers the metrics of connections, so they are shown before the first connection.
pub(crate) fn show_metrics() {
    LazyLock::force(&OPEN_CONNECTIONS);
    LazyLock::force(&OPEN_REQUESTS);
    super::peers::show_metrics();
}

/// A connection, shared by its socket, its requests and its responses.
pub(crate) struct Connection {
    /// Whether the connection uses TLS.
    secure: bool,
    /// Whether the client uses TLS to connect to the proxy, according to the PROXY protocol header.
    pub(super) tls_at_proxy: Cell<bool>,
    /// Whether the peer is a proxy on a Unix socket.
    pub(super) trusted_peer: Cell<bool>,
    open: Cell<usize>,
    /// The number of requests that the application has received.
    pub(super) served: Cell<u64>,
    /// Whether a part of a response may still be unsent.
    pub(super) unflushed: Cell<bool>,
    /// The size of the HTTP/1.1 response that is being written, in bytes. It counts as held while
    /// the client is slow.
    pub(super) sending: Cell<usize>,
    /// The kind of body that follows the head of the last HTTP/1.1 request.
    pub(super) expected: Cell<Expected>,
    /// Whether the application has read the whole body.
    pub(super) body_is_read: Cell<bool>,
    /// Bytes that the client has read.
    pub(super) taken: Cell<u64>,
    /// Number of HTTP/2 frames without effect.
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

    /// Returns whether no request is open and all responses have been sent.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.unflushed.get()
    }

    /// Returns the number of open requests.
    pub(super) fn open(&self) -> usize {
        self.open.get()
    }

    /// Returns whether the connection or the process holds too much memory.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_beside(0)
    }

    /// Returns whether the connection or the process holds too much memory without this response,
    /// so that even the longest response can be sent if nothing else is held.
    pub(super) fn is_full_beside(&self, answer: usize) -> bool {
        let (own, all) = (self.held.load(Ordering::Relaxed), HELD.load(Ordering::Relaxed));
        own.saturating_sub(answer) > HELD_BY_CONNECTION
            || all.saturating_sub(answer) > HELD_BY_PROCESS
    }

    /// Returns whether the connection must keep the minimum rate under memory pressure.
    pub(super) fn holds_much(&self) -> bool {
        self.held.load(Ordering::Relaxed) > MUCH
    }

    /// Returns whether all connections together hold so much memory that the minimum rate applies.
    pub(super) fn is_under_pressure() -> bool {
        HELD.load(Ordering::Relaxed) > PRESSURE
    }

    /// Counts received frames and returns the number of those without effect.
    pub(super) fn count_frames(&self, frames: usize) -> usize {
        self.idle_frames.set(self.idle_frames.get().saturating_add(frames));
        self.idle_frames.get()
    }

    /// Subtracts frames that had an effect.
    pub(super) fn count_useful(&self, frames: usize) {
        self.idle_frames.set(self.idle_frames.get().saturating_sub(frames));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN_CONNECTIONS.dec();
    }
}

/// A request, from its arrival in the application until its response is sent or dropped.
pub(super) struct OpenRequest {
    pub(super) connection: Option<Rc<Connection>>,
    /// The memory of the request body that the application has read.
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

/// Bytes that count as held for a connection until this value is dropped.
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

    pub(super) fn grow(&self, bytes: usize) {
        HELD.fetch_add(bytes, Ordering::Relaxed);
        self.connection.fetch_add(bytes, Ordering::Relaxed);
        self.bytes.set(self.bytes.get() + bytes);
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Attaches this value to a buffer, so that its bytes count as held until the last slice of the
    /// buffer is dropped.
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

/// How a request reached this process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transport {
    /// The connection uses TLS.
    pub(crate) secure: bool,
    /// The client uses TLS to connect to a proxy that sends the PROXY protocol.
    pub(crate) tls_at_proxy: bool,
    /// The request came from a proxy on a Unix socket, which is trusted.
    pub(crate) trusted_peer: bool,
}

/// Returns how a request reached this process.
pub(crate) fn transport(request: &HttpRequest) -> Transport {
    let transport = |connection: &Rc<Connection>| Transport {
        secure: connection.secure,
        tls_at_proxy: connection.tls_at_proxy.get(),
        trusted_peer: connection.trusted_peer.get(),
    };
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) => transport(connection),
        None => request.extensions().get::<Rc<Connection>>().map(transport).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_answer_fits_if_nothing_else_is_held() {
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
