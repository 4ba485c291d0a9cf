//! Feeds an HTTP/1.1 client's pipelined requests to the dispatcher one at a time.
//!
//! The dispatcher parses all requests in its buffer before it answers the first one, so a
//! forty-byte request can take up several kilobytes of memory. To avoid this, we only pass on the
//! next head once the previous request has been answered. Until then, bytes that were already read
//! from the socket wait here unparsed, and we stop reading.
//!
//! We also remove offers to upgrade to HTTP/2 (`h2c`), because the dispatcher can't accept them and
//! would close the connection after responding.

use actix_web::web::BytesMut;
use memchr::{memchr, memchr_iter};
use tokio::io::ReadBuf;

/// The kind of data expected after the last request head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expected {
    /// The next request head.
    #[default]
    Nothing,
    /// The rest of a body, with this number of bytes.
    Bytes(u64),
    /// A body whose length isn't known until it has been parsed.
    Unknown,
}

/// How many bytes to give to the dispatcher now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// This number of bytes from the start, at least 1.
    Now(usize),
    /// None, because the dispatcher must first parse the bytes that it has.
    Next,
    /// None until the current request has been answered.
    Answered,
}

/// The current line of an incomplete head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Empty,
    CarriageReturn,
    Text,
}

/// A connection's bytes that are waiting for the dispatcher.
#[derive(Debug)]
pub(super) struct Pipeline {
    waiting: BytesMut,
    /// Whether the dispatcher has been given the end of a head since it last stopped reading.
    handed: bool,
    expected: Expected,
    line: Line,
    /// Whether the last bytes given to the dispatcher are part of a head.
    gave_head: bool,
}

impl Pipeline {
    pub(super) fn new() -> Self {
        Self {
            waiting: BytesMut::new(),
            handed: false,
            expected: Expected::Nothing,
            line: Line::Empty,
            gave_head: false,
        }
    }

    /// Returns whether no bytes are waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the last bytes given to the dispatcher are part of a head, rather than of a
    /// body that is still arriving after we have responded to its request.
    pub(super) fn gave_head(&self) -> bool {
        self.gave_head
    }

    /// Returns whether a body of known length has arrived in full.
    pub(super) fn body_is_over(&self) -> bool {
        self.expected == Expected::Bytes(0)
    }

    /// Records that the application has received a request, and that `expected` follows its head.
    pub(super) fn begin(&mut self, expected: Expected) {
        self.expected = expected;
    }

    /// Records that the application has read a body of unknown length to its end.
    pub(super) fn end_body(&mut self) {
        if self.expected == Expected::Unknown {
            self.expected = Expected::Nothing;
        }
    }

    /// Records that the socket has nothing more to read for now, so the dispatcher parses the bytes
    /// that it has.
    pub(super) fn stop_reading(&mut self) {
        self.handed = false;
    }

    /// Called after the socket has filled the buffer from `before` on. Bytes that the dispatcher
    /// gets now stay in the buffer, and the rest are queued. `idle` means that no request is open.
    pub(super) fn hold_back(
        &mut self,
        buffer: &mut ReadBuf<'_>,
        before: usize,
        idle: bool,
    ) -> Turn {
        let bytes = &mut buffer.filled_mut()[before..];
        let turn = self.turn(bytes, idle);
        let taken = if let Turn::Now(taken) = turn { taken } else { 0 };
        self.waiting.extend_from_slice(&bytes[taken..]);
        buffer.set_filled(before + taken);
        turn
    }

    /// Moves as many queued bytes into the buffer as the dispatcher gets now.
    pub(super) fn resume(&mut self, buffer: &mut ReadBuf<'_>, idle: bool) -> Turn {
        let mut waiting = std::mem::take(&mut self.waiting);
        let length = waiting.len().min(buffer.remaining());
        let turn = self.turn(&mut waiting[..length], idle);
        self.waiting = waiting;
        if let Turn::Now(taken) = turn {
            buffer.put_slice(&self.waiting.split_to(taken));
            if self.waiting.is_empty() {
                self.waiting = BytesMut::new();
            }
        }
        turn
    }

    fn turn(&mut self, bytes: &mut [u8], idle: bool) -> Turn {
        if self.handed {
            self.handed = false;
            return Turn::Next;
        }
        self.gave_head = false;
        match &mut self.expected {
            // The dispatcher reads and discards a body that the application leaves unread.
            Expected::Bytes(left) if *left > 0 => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                return Turn::Now(taken);
            }
            // It also discards the rest of a body of unknown length.
            Expected::Unknown => {}
            _ if idle => {
                self.expected = Expected::Nothing;
                self.gave_head = true;
            }
            _ => return Turn::Answered,
        }
        let begins = self.gave_head && self.line == Line::Empty;
        let end = self.blank_line(bytes);
        if begins && let Some(end) = end {
            refuse_upgrade(&mut bytes[..end]);
        }
        self.handed = end.is_some();
        Turn::Now(end.unwrap_or(bytes.len()))
    }

    /// Returns the end of the first blank line, which terminates a head or the last chunk of a
    /// body.
    fn blank_line(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', bytes) {
            let line = self.line_with(&bytes[begin..end]);
            self.line = Line::Empty;
            begin = end + 1;
            if line != Line::Text {
                return Some(begin);
            }
        }
        self.line = self.line_with(&bytes[begin..]);
        None
    }

    fn line_with(&self, bytes: &[u8]) -> Line {
        match (self.line, bytes) {
            (line, b"") => line,
            (Line::Empty, b"\r") => Line::CarriageReturn,
            _ => Line::Text,
        }
    }
}

/// Overwrites `Upgrade` in the `Connection` field if a head offers HTTP/2, so that the offer is
/// ignored. Clients then keep the connection and repeat the offer with every request.
fn refuse_upgrade(head: &mut [u8]) {
    const FIELD: &[u8] = b"\nconnection:";
    let equal = |option: &[u8], name: &[u8]| option.trim_ascii().eq_ignore_ascii_case(name);
    let mut from = 0;
    while let Some(line) = memchr(b'\n', &head[from..]).map(|at| from + at) {
        from = line + 1;
        if !head[line..].get(..FIELD.len()).is_some_and(|name| name.eq_ignore_ascii_case(FIELD)) {
            continue;
        }
        let end = memchr(b'\n', &head[from..]).map_or(head.len(), |at| from + at);
        let options = &mut head[line + FIELD.len()..end];
        if !options.split(|byte| *byte == b',').any(|option| equal(option, b"http2-settings")) {
            continue;
        }
        for option in options.split_mut(|byte| *byte == b',') {
            if !equal(option, b"upgrade") {
                continue;
            }
            let blank = option.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            option[blank..blank + 7].copy_from_slice(b"ignored");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_of_http2_are_removed_from_heads() {
        for (given, taken) in [
            ("Connection: Upgrade, HTTP2-Settings", "Connection: ignored, HTTP2-Settings"),
            (
                "connection:keep-alive ,http2-settings,\tUPGRADE ",
                "connection:keep-alive ,http2-settings,\tignored ",
            ),
            ("CONNECTION: upgrades, HTTP2-Settings", "CONNECTION: upgrades, HTTP2-Settings"),
            ("Connection: Upgrade", "Connection: Upgrade"),
            ("X-Connection: upgrade", "X-Connection: upgrade"),
            ("Connection:", "Connection:"),
        ] {
            let head =
                |field: &str| format!("GET /connection: HTTP/1.1\r\n{field}\r\nA: b\r\n\r\n");
            let mut bytes = head(given).into_bytes();
            let length = bytes.len();
            assert_eq!(Pipeline::new().turn(&mut bytes, true), Turn::Now(length));
            assert_eq!(String::from_utf8(bytes).unwrap(), head(taken));
        }
    }

    #[test]
    fn bodies_are_not_changed() {
        let mut pipeline = Pipeline::new();
        pipeline.begin(Expected::Unknown);
        let body = *b"24\r\nconnection: upgrade, http2-settings\r\n0\r\n\r\n";
        let mut bytes = body;
        assert_eq!(pipeline.turn(&mut bytes, false), Turn::Now(body.len()));
        assert_eq!(bytes, body);
    }

    /// Returns the bytes that the dispatcher gets for each request. The input arrives in chunks of
    /// `part` bytes, and each request is answered before the dispatcher reads again.
    fn requests(bytes: &[u8], part: usize, expected: &[Expected]) -> Vec<String> {
        let mut pipeline = Pipeline::new();
        let mut parts = bytes.chunks(part);
        let (mut all, mut expected) = (vec![String::new()], expected.iter());
        loop {
            let mut room = [0; 4096];
            let mut buffer = ReadBuf::new(&mut room);
            let turn = if !pipeline.is_empty() {
                pipeline.resume(&mut buffer, true)
            } else {
                let Some(part) = parts.next() else { break };
                buffer.put_slice(part);
                pipeline.hold_back(&mut buffer, 0, true)
            };
            let text = String::from_utf8_lossy(buffer.filled());
            all.last_mut().unwrap().push_str(&text);
            assert_eq!(turn != Turn::Next, !text.is_empty());
            if pipeline.handed {
                pipeline.stop_reading();
                pipeline.begin(expected.next().copied().unwrap_or_default());
                all.push(String::new());
            }
        }
        all
    }

    #[test]
    fn requests_are_separated_in_chunks_of_any_size() {
        let first = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        let second = "POST /b HTTP/1.1\nContent-Length: 9\n\n";
        let body = "a\r\n\r\nb\n\nc";
        let third = "GET /d HTTP/1.0\r\n\r\n";
        let bytes = [first, second, body, third].concat();
        let expected = [Expected::Nothing, Expected::Bytes(9), Expected::Nothing];
        let wanted = [first.into(), second.into(), [body, third].concat(), String::new()];
        for part in 1..=bytes.len() {
            assert_eq!(requests(bytes.as_bytes(), part, &expected), wanted, "{part}");
        }
    }

    #[test]
    fn an_open_request_holds_back_the_next_but_not_its_body() {
        let mut pipeline = Pipeline::new();
        assert_eq!(
            pipeline.turn(&mut b"GET / HTTP/1.1\r\n\r\nGET /".to_owned(), true),
            Turn::Now(18)
        );
        assert_eq!(
            pipeline.turn(&mut b"GET /".to_owned(), true),
            Turn::Next,
            "the first is not parsed yet"
        );
        assert_eq!(pipeline.turn(&mut b"GET /".to_owned(), false), Turn::Answered);
        assert_eq!(pipeline.turn(&mut b"GET /".to_owned(), true), Turn::Now(5));

        pipeline.begin(Expected::Bytes(4));
        assert_eq!(pipeline.turn(&mut b"body and more".to_owned(), false), Turn::Now(4));
        assert_eq!(pipeline.turn(&mut b" and more".to_owned(), false), Turn::Answered);

        pipeline.begin(Expected::Unknown);
        assert_eq!(pipeline.turn(&mut b"0\r\n\r\nGET /".to_owned(), false), Turn::Now(5));
        assert_eq!(pipeline.turn(&mut b"GET /".to_owned(), false), Turn::Next);
    }
}
