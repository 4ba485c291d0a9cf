//! Connection limits.

use std::time::Duration;

use crate::ShellSettings;

/// How long to keep an idle connection open after a request. For HTTP/1.1, `HEAD_TIMEOUT` comes on
/// top, as the time to receive the next head.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long to keep reading a body after responding to its request. If we closed the connection
/// right away, the client would get an error while sending and never see the response.
pub(super) const LINGER: Duration = Duration::from_secs(5);
/// How long a stopping server accepts one last request per connection. Such a request might be in
/// transit, or the client might still be doing the TLS handshake.
pub(super) const LAST_REQUESTS: Duration = Duration::from_millis(500);
/// Maximum length in bytes of a request line. Longer ones get 414.
pub(super) const LONGEST_REQUEST_LINE: usize = 48 << 10;
/// Request heads larger than this many bytes count as memory in use.
pub(super) const USUAL_HEAD: usize = 8 << 10;

/// Maximum number of HTTP/2 frames without any effect on a request, body or response, such as empty
/// frames. Flow control doesn't limit them, and each one uses memory until its stream is read.
pub(super) const MOST_IDLE_FRAMES: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(super) head: Duration,
    pub(super) body: Duration,
    pub(super) write: Duration,
    pub(super) streams: u32,
    /// Whether to drop a handler once its client has reset the stream or closed the connection.
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
