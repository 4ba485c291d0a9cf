//! Clients that request large amounts of data and never read it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Bytes;
use h2::client::{Connection, SendRequest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// How long a client waits for another stream.
const PAUSE: Duration = Duration::from_millis(100);

/// A kind of attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// HTTP/2 with a window of 0, so the server cannot send any part of a response body.
    Closed,
    /// HTTP/2 with the largest windows, on a socket that the client does not read.
    Unread,
    /// HTTP/2 with request bodies that never end.
    Bodies,
    /// HTTP/2 with a request body that consists of empty frames and never ends.
    Empty,
    /// HTTP/1.1 with many pipelined requests, on a socket that the client does not read.
    Pipelined,
}

impl Way {
    /// All kinds with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("closed", Self::Closed),
        ("unread", Self::Unread),
        ("bodies", Self::Bodies),
        ("empty", Self::Empty),
        ("pipelined", Self::Pipelined),
    ];
}

/// The target of an attack.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: SocketAddr,
    pub path: String,
    pub streams: usize,
    tls: Arc<ClientConfig>,
}

/// Keeps a hostile connection open.
pub enum Hostile {
    Http2(
        #[expect(dead_code, reason = "held open")] SendRequest<Bytes>,
        #[expect(dead_code, reason = "held open")] Box<Connection<TlsStream<TcpStream>, Bytes>>,
    ),
    Http1(#[expect(dead_code, reason = "held open")] Box<TlsStream<TcpStream>>),
}

impl Target {
    /// Creates a target that trusts the local CA of a service.
    pub fn new(address: SocketAddr, ca: &Path, path: &str, streams: usize, way: Way) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(ca).unwrap()).unwrap();
        let mut tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let protocol = if way == Way::Pipelined { &b"http/1.1"[..] } else { b"h2" };
        tls.alpn_protocols = vec![protocol.to_vec()];
        Self { address, path: path.to_owned(), streams, tls: Arc::new(tls) }
    }

    async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await
    }

    /// Opens one connection and sends its requests without reading responses. Returns `None` if the
    /// connection fails.
    pub async fn attack(&self, way: Way) -> Option<Hostile> {
        let mut stream = self.connect().await.ok()?;
        if way == Way::Pipelined {
            let request = format!("GET {} HTTP/1.1\r\nhost: localhost\r\n\r\n", self.path);
            let requests = request.repeat(self.streams);
            // Ends when the server stops reading.
            let _ = timeout(Duration::from_secs(1), stream.write_all(requests.as_bytes())).await;
            return Some(Hostile::Http1(Box::new(stream)));
        }
        let mut builder = h2::client::Builder::new();
        match way {
            Way::Closed => builder.initial_window_size(0),
            _ => builder
                .initial_window_size(i32::MAX as u32)
                .initial_connection_window_size(i32::MAX as u32),
        };
        let (mut requests, mut connection) = builder.handshake(stream).await.ok()?;
        let asking = self.ask(&mut requests, way);
        // The client reads from its socket only while the connection is polled.
        let asked = async {
            tokio::select! {
                _ = asking => {}
                _ = &mut connection => {}
            }
        };
        let _ = timeout(Duration::from_secs(1), asked).await;
        Some(Hostile::Http2(requests, Box::new(connection)))
    }

    async fn ask(&self, requests: &mut SendRequest<Bytes>, way: Way) -> Option<()> {
        let with_body = matches!(way, Way::Bodies | Way::Empty);
        let mut held = Vec::new();
        for _ in 0..self.streams {
            let method = if way == Way::Bodies { "POST" } else { "GET" };
            let request = http::Request::builder()
                .method(method)
                .uri(format!("https://localhost{}", self.path))
                .header("user-agent", "hostile")
                .header("content-type", "application/json")
                .header("accept-encoding", "br, gzip");
            let request = request.body(()).ok()?;
            // Waits until the server announces its stream limit.
            let Ok(ready) = timeout(PAUSE, requests.clone().ready()).await else { break };
            *requests = ready.ok()?;
            let (answer, mut body) = requests.send_request(request, !with_body).ok()?;
            if way == Way::Bodies {
                let _ = body.send_data(Bytes::from_static(&[b' '; (1 << 20) - 1]), false);
            }
            held.push((answer, body));
        }
        // Sends in small batches, because unsent requests occupy memory in this process.
        for _ in 0..if way == Way::Empty { 100 } else { 0 } {
            for (_, body) in &mut held {
                let _ = (0..20).try_for_each(|_| body.send_data(Bytes::new(), false));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // Keeps the streams open.
        std::future::pending::<()>().await;
        Some(())
    }
}

/// Opens many connections at the same time and keeps them open.
pub async fn attack(target: &Target, way: Way, connections: usize) -> Vec<Hostile> {
    let one = |_| {
        let target = target.clone();
        actix_web::rt::spawn(async move { target.attack(way).await })
    };
    let attacks: Vec<_> = (0..connections).map(one).collect();
    let mut open = Vec::new();
    for attack in attacks {
        open.extend(attack.await.ok().flatten());
    }
    open
}

/// Returns the resident memory of a process in KiB.
pub fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kib.unwrap_or(0)
}
