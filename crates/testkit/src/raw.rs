//! Sends raw bytes over a socket, for requests that client libraries refuse to send.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::must::must;

/// A raw response.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The status line and headers.
    pub head: String,
    /// The body, including any chunked framing.
    pub body: Vec<u8>,
}

impl RawAnswer {
    /// Returns the value of a header, or `None` if it is missing.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Returns the body as text.
    ///
    /// # Panics
    /// Panics if the body isn't UTF-8.
    #[track_caller]
    pub fn text(&self) -> &str {
        must("read the body as text", std::str::from_utf8(&self.body))
    }
}

/// Sends raw bytes and reads until the peer closes the connection.
///
/// ```no_run
/// let request = b"GET /range/5BAA6 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
/// let answer = testkit::exchange(([127, 0, 0, 1], 8084).into(), request);
/// assert_eq!(answer.status, 200);
/// ```
///
/// # Panics
/// Panics if the peer doesn't send an HTTP response.
#[track_caller]
pub fn exchange(address: SocketAddr, request: impl AsRef<[u8]>) -> RawAnswer {
    let mut stream = must("connect", TcpStream::connect(address));
    must("send", stream.write_all(request.as_ref()));
    let mut bytes = Vec::new();
    must("receive", stream.read_to_end(&mut bytes));
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = must("find the end of the head", end.ok_or("there is none"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = must("read the status line", status.ok_or(&head));
    RawAnswer { status, head, body: bytes[end + 4..].to_vec() }
}
