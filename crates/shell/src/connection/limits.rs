//! The limits of a connection.

use std::time::Duration;

use crate::ShellSettings;

/// How long an idle connection is kept after a request. `HEAD_TIMEOUT` is added for the next head.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long the remainder of a body is read after its request was answered. If the connection were
/// closed at once, the client would get an error while it sends, and would not see the response.
pub(super) const LINGER: Duration = Duration::from_secs(5);
/// How long the server accepts a last request on each connection after it has begun to stop. The
/// request may be in transit, or follow a TLS handshake.
pub(super) const LAST_REQUESTS: Duration = Duration::from_millis(500);
/// Maximum length of a request line, in bytes. Longer ones are rejected with 414.
pub(super) const LONGEST_REQUEST_LINE: usize = 48 << 10;
/// Request heads above this size count as held, in bytes.
pub(super) const USUAL_HEAD: usize = 8 << 10;

/// Maximum number of HTTP/2 frames that do not advance a request, body or response, such as empty
/// ones. Flow control does not limit them, and each occupies memory until its stream is read.
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
