//! An HTTP server for tests, which can receive webhooks, for example.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::must::must;

/// Timeout for idle connections.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A request received by an [`HttpPeer`].
#[derive(Clone, Debug)]
pub struct PeerRequest {
    /// The HTTP method.
    pub method: String,
    /// The path and query.
    pub target: String,
    /// The headers, with lowercase names.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: String,
}

impl PeerRequest {
    /// Returns the value of a header, or an empty string if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// How an [`HttpPeer`] responds.
#[derive(Clone, Debug)]
pub enum PeerAnswer {
    /// Responds with a status and a body.
    Body(u16, String),
    /// Responds with a status, headers and a body.
    Full(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Redirects to the given URL.
    Redirect(String),
    /// Sends a body that never ends.
    Endless,
    /// Never responds.
    Silence,
    /// Closes the connection.
    Close,
}

type Handler = dyn Fn(&PeerRequest) -> PeerAnswer + Send + Sync;

/// An HTTP server on the loopback interface, which calls a function for each response and records
/// all requests.
///
/// ```
/// use testkit::{HttpPeer, PeerAnswer};
///
/// let peer = HttpPeer::start(|request| match request.target.as_str() {
///     "/" => PeerAnswer::Body(200, "hello".into()),
///     _ => PeerAnswer::Silence,
/// });
/// let answer = testkit::exchange(peer.address(), "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
/// assert_eq!(answer.text(), "hello");
/// assert_eq!(peer.requests()[0].target, "/");
/// ```
#[derive(Debug)]
pub struct HttpPeer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<PeerRequest>>>,
}

impl HttpPeer {
    /// Starts the server on a free port. It runs until the process exits.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn start(answer: impl Fn(&PeerRequest) -> PeerAnswer + Send + Sync + 'static) -> Self {
        let listener = must("listen", TcpListener::bind(("127.0.0.1", 0)));
        let address = must("read the address", listener.local_addr());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, log): (Arc<Handler>, _) = (Arc::new(answer), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Self { address, requests }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of `path`. Its host is an IP address.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<PeerRequest> {
        self.requests.lock().clone()
    }
}

fn serve(stream: TcpStream, answer: &Handler, log: &Mutex<Vec<PeerRequest>>) {
    let _ = stream.set_read_timeout(Some(TIMEOUT));
    let _ = stream.set_write_timeout(Some(TIMEOUT));
    let Some(request) = read(&stream) else { return };
    log.lock().push(request.clone());
    // The client might already have closed the connection.
    let _ = write(&stream, answer(&request));
}

fn read(stream: &TcpStream) -> Option<PeerRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split(' ').map(str::to_owned);
    let (method, target) = (parts.next()?, parts.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(PeerRequest { method, target, headers, body })
}

fn write(mut stream: &TcpStream, answer: PeerAnswer) -> std::io::Result<()> {
    let (status, headers, body) = match answer {
        PeerAnswer::Body(status, body) => (status, Vec::new(), body.into_bytes()),
        PeerAnswer::Full(status, headers, body) => (status, headers, body),
        PeerAnswer::Redirect(to) => (302, vec![("location", to)], Vec::new()),
        PeerAnswer::Close => return Ok(()),
        PeerAnswer::Silence => {
            let _ = stream.read(&mut [0; 1]);
            return Ok(());
        }
        PeerAnswer::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[b'x'; 1 << 14])?;
            }
        }
    };
    let mut head = format!("HTTP/1.1 {status} -\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}
