//! The bounds of a connection.

use std::time::Duration;

use crate::ShellSettings;

/// How long a connection is kept after its last request. The next head gets `HEAD_TIMEOUT` in addition.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long the remainder of a body is read after its request was answered. The client would
/// otherwise see a broken connection while it sends, and not the response.
pub(super) const LINGER: Duration = Duration::from_secs(5);
/// Time for the next request after the server has begun to stop. The request may be on its way, or follow
/// a TLS handshake.
pub(super) const LAST_REQUESTS: Duration = Duration::from_millis(500);
/// Longest request line, in bytes. A longer one is rejected with 414.
pub(super) const LONGEST_REQUEST_LINE: usize = 48 << 10;
/// Request heads above this size count as held, in bytes.
pub(super) const USUAL_HEAD: usize = 8 << 10;

/// Maximum number of HTTP/2 frames without effect on a request, body or answer, such as empty ones.
/// Flow control does not bound them, and each takes memory until its stream is read.
pub(super) const MOST_IDLE_FRAMES: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(super) head: Duration,
    pub(super) body: Duration,
    pub(super) write: Duration,
    pub(super) streams: u32,
    /// Whether a handler is dropped when its client resets the stream or closes the connection.
    pub(super) stop_when_client_leaves: bool,
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
