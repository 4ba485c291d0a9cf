//! Counts open connections and requests, and the memory they use.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use prometheus::IntGauge;

use super::pipeline::Expected;

/// Maximum memory in bytes that a connection can use for request bodies and for responses that the
/// client hasn't read yet.
const HELD_BY_CONNECTION: usize = 24 << 20;
/// Maximum memory in bytes for all of the process's connections together.
const HELD_BY_PROCESS: usize = 128 << 20;
/// Once all connections together use more than this many bytes, those that use more than [`MUCH`]
/// must keep up a minimum rate.
const PRESSURE: usize = 32 << 20;
const MUCH: usize = 512 << 10;
/// Above this total, connections that use more than [`SOME`] must keep up the rate too. Otherwise a
/// few hundred slow connections could use up all of the process's memory.
const HIGH_PRESSURE: usize = 64 << 20;
const SOME: usize = 32 << 10;

static HELD: AtomicUsize = AtomicUsize::new(0);

static OPEN_CONNECTIONS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_connections", "Open connections"));
static OPEN_REQUESTS: LazyLock<IntGauge> =
    LazyLock::new(|| gauge("http_open_requests", "Requests in progress"));

fn gauge(name: &str, help: &str) -> IntGauge {
    crate::metrics::register(IntGauge::new(name, help))
}

/// Returns how many bytes a connection can use before it has to keep up the minimum rate, given
/// that all connections together use `all` bytes.
fn exempt(all: usize) -> usize {
    if all > HIGH_PRESSURE {
        SOME
    } else if all > PRESSURE {
        MUCH
    } else {
        usize::MAX
    }
}

/// A snapshot of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of open connections.
    pub(crate) connections: usize,
    /// Bytes of memory they use.
    pub(crate) bytes: usize,
}

/// Returns the current load.
pub(crate) fn load() -> Load {
    let connections = usize::try_from(OPEN_CONNECTIONS.get()).unwrap_or_default();
    Load { connections, bytes: HELD.load(Ordering::Relaxed) }
}

/// Registers the connection metrics so that they show up even before the first connection.
pub(crate) fn show_metrics() {
    LazyLock::force(&OPEN_CONNECTIONS);
    LazyLock::force(&OPEN_REQUESTS);
    super::peers::show_metrics();
}

/// A connection, shared by its socket, requests and responses.
pub(crate) struct Connection {
    /// Whether the connection uses TLS.
    secure: bool,
    /// Whether the client connected to the proxy over TLS, according to the PROXY protocol header.
    pub(super) tls_at_proxy: Cell<bool>,
    /// Whether the peer is a proxy on a Unix socket.
    pub(super) trusted_peer: Cell<bool>,
    open: Cell<usize>,
    /// Number of requests that have reached the application.
    pub(super) served: Cell<u64>,
    /// Whether part of a response might still be unsent.
    pub(super) unflushed: Cell<bool>,
    /// Whether the guard is waiting for the client to read.
    pub(super) socket_is_full: Cell<bool>,
    /// Size in bytes of the HTTP/1.1 response being written. Counts as memory in use while the
    /// client is slow to read it.
    pub(super) sending: Cell<usize>,
    /// The kind of body that follows the last HTTP/1.1 request head.
    pub(super) expected: Cell<Expected>,
    /// Whether the application has read the request body to its end.
    pub(super) body_is_read: Cell<bool>,
    /// Bytes sent to the client, plus bytes of long request heads, and of request bodies that the
    /// application has read.
    pub(super) moved: Cell<u64>,
    /// Number of HTTP/2 frames that had no effect.
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
            socket_is_full: Cell::new(false),
            sending: Cell::new(0),
            expected: Cell::default(),
            body_is_read: Cell::new(false),
            moved: Cell::new(0),
            idle_frames: Cell::new(0),
            held: Arc::default(),
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.get() == 0
    }

    /// Returns whether there are no open requests and all responses have been sent.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.unflushed.get()
    }

    /// Returns the number of open requests.
    pub(super) fn open(&self) -> usize {
        self.open.get()
    }

    /// Returns whether the connection or the process uses too much memory.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_without(0)
    }

    /// Returns whether the connection or the process uses too much memory, not counting the
    /// response of `answer` bytes. This way, even the longest response can be sent if nothing else
    /// is in memory.
    pub(super) fn is_full_without(&self, answer: usize) -> bool {
        let (own, all) = (self.held.load(Ordering::Relaxed), HELD.load(Ordering::Relaxed));
        own.saturating_sub(answer) > HELD_BY_CONNECTION
            || all.saturating_sub(answer) > HELD_BY_PROCESS
    }

    /// Returns whether the connection uses enough memory for the minimum rate to ever apply to it.
    pub(super) fn holds_some(&self) -> bool {
        self.held.load(Ordering::Relaxed) > SOME
    }

    /// Returns whether memory is scarce enough for the minimum rate to apply to this connection.
    pub(super) fn must_keep_up(&self) -> bool {
        self.held.load(Ordering::Relaxed) > exempt(HELD.load(Ordering::Relaxed))
    }

    /// Counts received frames, and returns the total number of frames that had no effect.
    pub(super) fn count_frames(&self, frames: usize) -> usize {
        self.idle_frames.set(self.idle_frames.get().saturating_add(frames));
        self.idle_frames.get()
    }

    /// Excludes `frames` frames from the count because they had an effect.
    pub(super) fn count_useful(&self, frames: usize) {
        self.idle_frames.set(self.idle_frames.get().saturating_sub(frames));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        OPEN_CONNECTIONS.dec();
    }
}

/// A request, from the time it reaches the application until its response has been sent or dropped.
pub(super) struct OpenRequest {
    pub(super) connection: Option<Rc<Connection>>,
    /// Memory used by the part of the request body that the application has read so far.
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

/// Memory that counts towards a connection's limit until this value is dropped.
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

    /// Ties this value to a buffer so that its bytes count until the buffer's last slice is
    /// dropped.
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
    /// The client uses TLS to connect to a proxy that speaks the PROXY protocol.
    pub(crate) tls_at_proxy: bool,
    /// The request came from a trusted proxy on a Unix socket.
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
    fn slow_connections_may_hold_less_the_more_all_of_them_hold() {
        for (all, most) in [
            (0, usize::MAX),
            (PRESSURE, usize::MAX),
            (PRESSURE + 1, MUCH),
            (HIGH_PRESSURE, MUCH),
            (HIGH_PRESSURE + 1, SOME),
            (HELD_BY_PROCESS + 1, SOME),
        ] {
            assert_eq!(exempt(all), most, "{all}");
        }
    }

    #[test]
    fn the_longest_answer_fits_if_nothing_else_is_held() {
        let connection = Connection::new(false);
        let long = HELD_BY_CONNECTION + 1;
        let answer = Held::new(&connection, long);
        assert!(connection.is_full());
        assert!(!connection.is_full_without(long));
        let other = Held::new(&connection, long);
        assert!(connection.is_full_without(long));
        drop((answer, other));
        assert!(!connection.is_full());
    }
}
