//! HTTP/2: memory limits and the end of a connection.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix_web::web::Bytes;
use futures_util::FutureExt;
use futures_util::future::select_all;
use h2::client::{Connection, ResponseFuture, SendRequest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use shell::{ShellSettings, TlsMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::echo::Started;

/// A client's HTTP/2 connection with a stream window of `window` bytes.
struct Client {
    requests: SendRequest<Bytes>,
    ended: actix_web::rt::task::JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    async fn connect(started: &Started, window: u32) -> Self {
        let (requests, connection) = open(started, window).await;
        Self { requests, ended: actix_web::rt::spawn(connection) }
    }

    async fn get(&mut self, path: &str) -> ResponseFuture {
        get(&self.requests, path).await
    }

    /// Moves the server's clock forward.
    async fn advance(&mut self, milliseconds: u64) {
        let answer = self.get(&format!("/advance/{milliseconds}")).await.await.unwrap();
        assert_eq!(answer.status(), 200);
    }
}

/// Performs a TLS handshake for one protocol.
pub async fn encrypt(
    started: &Started,
    stream: TcpStream,
    protocol: &[u8],
) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    let ca = started.folder().join("tls/ca.pem");
    roots.add(CertificateDer::from_pem_file(ca).unwrap()).unwrap();
    let mut tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(tls)).connect(name, stream).await.unwrap()
}

/// Opens a connection, which is not polled yet.
async fn open(
    started: &Started,
    window: u32,
) -> (SendRequest<Bytes>, Connection<TlsStream<TcpStream>, Bytes>) {
    let stream = TcpStream::connect(started.running.https.unwrap()).await.unwrap();
    let stream = encrypt(started, stream, b"h2").await;
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window).initial_connection_window_size(window.max(65_535));
    builder.handshake(stream).await.unwrap()
}

async fn get(requests: &SendRequest<Bytes>, path: &str) -> ResponseFuture {
    let uri = format!("https://localhost{path}");
    let request = http::Request::builder().uri(uri).body(()).unwrap();
    let mut ready = requests.clone().ready().await.unwrap();
    ready.send_request(request, true).unwrap().0
}

async fn native() -> Started {
    Started::with(|settings: &mut ShellSettings| settings.tls_mode = TlsMode::Native).await
}

/// Gives the only worker time for all that has arrived: it answers many requests of other
/// connections.
async fn wait_for_other_answers(started: &Started) {
    let client = super::echo::client();
    for _ in 0..100 {
        let answer = client.get(started.url("/healthz")).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "alive\n");
    }
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[actix_web::test]
async fn requests_are_answered_over_http2() {
    let started = native().await;
    let mut client = Client::connect(&started, 65_535).await;
    let (head, mut body) = client.get("/count?count=7").await.await.unwrap().into_parts();
    assert_eq!(head.status, 200);
    assert_eq!(head.headers["content-length"], "1");
    assert_eq!(body.data().await.unwrap().unwrap(), "7");
    assert!(body.data().await.is_none());
}

#[actix_web::test]
async fn a_connection_with_short_requests_is_kept() {
    let started = Started::with(|settings: &mut ShellSettings| {
        settings.tls_mode = TlsMode::Native;
        settings.head_timeout = 10;
    })
    .await;
    let mut client = Client::connect(&started, 65_535).await;
    let mut clock = Client::connect(&started, 65_535).await;
    // The server closes an unused connection when the timeout for the first request expires.
    let unused = Client::connect(&started, 65_535).await;
    while !unused.ended.is_finished() {
        assert_eq!(client.get("/count?count=7").await.await.unwrap().status(), 200);
        clock.advance(1_000).await;
    }
    assert_eq!(client.get("/count?count=7").await.await.unwrap().status(), 200);
    assert!(!client.ended.is_finished(), "the connection is closed");
}

#[actix_web::test]
async fn long_answers_pass_small_windows() {
    let started = native().await;
    let mut client = Client::connect(&started, 1_000).await;
    let mut body = client.get("/long").await.await.unwrap().into_body();
    let mut length = 0;
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        length += chunk.len();
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    assert_eq!(length, 5_000);
}

#[actix_web::test]
async fn unread_answers_of_a_connection_are_limited() {
    let started = native().await;
    let mut client = Client::connect(&started, 0).await;
    let before = resident_kib();
    let mut answers = Vec::new();
    for _ in 0..60 {
        answers.push(client.get("/big").await);
    }
    let mut bodies = Vec::new();
    for answer in answers {
        match answer.await {
            Ok(answer) => bodies.push(answer.into_body()),
            Err(error) => assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM)),
        }
    }
    // A response is 1 MiB. A connection may hold 24 of them in addition to the last one. The others
    // are cut, some of them after their head has arrived.
    let mut open: Vec<_> = bodies.iter_mut().map(|body| Box::pin(body.data())).collect();
    while open.len() > 25 {
        let next = tokio::time::timeout(Duration::from_secs(20), select_all(open));
        let (part, _, others) = next.await.expect("too many responses are kept");
        let error = part.unwrap().expect_err("data through a closed window");
        assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
        open = others;
    }
    wait_for_other_answers(&started).await;
    let kept = open.into_iter().map(FutureExt::now_or_never).filter(Option::is_none);
    assert_eq!(kept.count(), 25);
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KiB more are resident");
}

#[actix_web::test]
async fn streams_above_the_limit_wait() {
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.max_requests_per_connection = 3;
    })
    .await;
    let mut client = Client::connect(&started, 65_535).await;
    // After the first response, the client knows the server's limit.
    client.get("/count?count=1").await.await.unwrap();
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(client.get("/endless").await.await.unwrap());
    }
    let uri = "https://localhost/count?count=2";
    let request = http::Request::builder().uri(uri).body(()).unwrap();
    let mut fourth = client.requests.send_request(request, true).unwrap().0;
    wait_for_other_answers(&started).await;
    match (&mut fourth).now_or_never() {
        None => {}
        Some(Err(error)) => assert_eq!(error.reason(), Some(h2::Reason::REFUSED_STREAM)),
        Some(Ok(_)) => panic!("a fourth stream is served"),
    }
}

#[actix_web::test]
async fn a_stream_that_is_not_read_is_reset() {
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.write_timeout = 1;
    })
    .await;
    let mut client = Client::connect(&started, 10).await;
    let mut body = client.get("/endless").await.await.unwrap().into_body();
    assert_eq!(body.data().await.unwrap().unwrap().len(), 10);
    let end = tokio::time::timeout(Duration::from_secs(20), body.data()).await.unwrap();
    assert_eq!(end.unwrap().unwrap_err().reason(), Some(h2::Reason::CANCEL));
}

#[actix_web::test]
async fn a_stream_that_is_read_a_few_bytes_at_a_time_is_reset() {
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.write_timeout = 1;
    })
    .await;
    let mut client = Client::connect(&started, 10).await;
    let mut body = client.get("/long").await.await.unwrap().into_body();
    let mut clock = Client::connect(&started, 65_535).await;
    // The client reads about 100 of 5,000 bytes per second, but the timeout requires 1 KiB.
    for _ in 0..200 {
        clock.advance(100).await;
        match body.data().await.unwrap() {
            Ok(part) => body.flow_control().release_capacity(part.len()).unwrap(),
            Err(error) => {
                assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
                return;
            }
        }
    }
    panic!("the stream is still open");
}

#[actix_web::test]
async fn answers_end_when_a_client_that_does_not_read_leaves() {
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.write_timeout = 3_600;
    })
    .await;
    // The windows are open, but nothing is read from the socket after the start of the response.
    let (requests, mut connection) = open(&started, i32::MAX as u32).await;
    let answer = tokio::select! {
        answer = async { get(&requests, "/endless").await.await.unwrap() } => answer,
        _ = &mut connection => panic!("the connection ended"),
    };
    let gate = &started.echo.gate;
    // The response must not block the only worker, which answers many other requests.
    let client = super::echo::client();
    let (mut before, mut requests) = (usize::MAX, 0);
    while requests < 100 {
        let answer = client.get(started.url("/healthz")).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "alive\n");
        let parts = gate.parts.load(Ordering::Relaxed);
        requests = if parts == before { requests + 1 } else { 0 };
        before = parts;
    }
    drop((answer, requests, connection));
    tokio::time::timeout(Duration::from_secs(20), gate.ended.notified())
        .await
        .expect("the response still waits");
}

/// Returns an HTTP/2 connection whose client does not acknowledge anything.
async fn silent(started: &Started) -> TcpStream {
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    stream.write_all(preface).await.unwrap();
    // The server's SETTINGS frame.
    stream.read_exact(&mut [0; 9]).await.unwrap();
    stream
}

/// Waits until the server closes a connection. Returns what it has sent until then.
async fn closed(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes);
    // A reset also closes the connection. The test fails if it stays open until the timeout.
    let _ = tokio::time::timeout(Duration::from_secs(20), end).await.unwrap();
    bytes
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// Returns a frame without flags that belongs to the connection.
fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, kind, 0, 0, 0, 0, 0][..], payload].concat()
}

/// Returns the HEADERS frame of a GET request on stream 1. `more` are further encoded fields.
fn get_frame(path: &str, more: &[u8]) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    let start = [0x82, 0x86, 0x04, length];
    let fields = [&start[..], path.as_bytes(), b"\x01\x09localhost", more].concat();
    let mut frame = frame(HEADERS, &fields);
    // END_STREAM and END_HEADERS.
    frame[4] = 5;
    frame[8] = 1;
    frame
}

/// Returns what a client sends first, which are the preface and then frames.
fn opening(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frames.concat());
    bytes
}

/// Sends a request with these additional fields, settings before it and GOAWAY after it. Returns the
/// types and payloads of the frames that the server sends until it closes the connection.
async fn answer_before_goaway(settings: &[u8], more: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let started = Started::new().await;
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    let frames =
        [frame(SETTINGS, settings), get_frame("/count?count=7", more), frame(GOAWAY, &[0; 8])];
    stream.write_all(&opening(&frames)).await.unwrap();
    let bytes = closed(stream).await;
    let (mut rest, mut received) = (&bytes[..], Vec::new());
    while let Some((head, after)) = rest.split_at_checked(9) {
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        let (payload, after) = after.split_at(length);
        received.push((head[3], payload.to_vec()));
        rest = after;
    }
    received
}

#[actix_web::test]
async fn a_request_is_answered_after_goaway_of_its_client() {
    let answer = answer_before_goaway(&[], &[]).await;
    assert!(answer.contains(&(DATA, b"7".to_vec())), "{answer:?}");
}

#[actix_web::test]
async fn a_content_length_that_does_not_fit_is_an_error_of_the_stream() {
    let reset = (RST_STREAM, vec![0, 0, 0, 1]);
    // Lengths of an empty body, as fields with the name 28 of the static table.
    for (lengths, is_reset) in [
        (&b"\x0F\x0D\x012"[..], true),
        (b"\x0F\x0D\x010\x0F\x0D\x011", true),
        (b"\x0F\x0D\x010\x0F\x0D\x010", false),
    ] {
        let answer = answer_before_goaway(&[], lengths).await;
        assert_eq!(answer.contains(&reset), is_reset, "{lengths:?}: {answer:?}");
        assert_ne!(answer.iter().any(|(kind, _)| *kind == HEADERS), is_reset);
    }
}

#[actix_web::test]
async fn a_stream_that_is_read_steadily_is_not_cut() {
    let started = Started::with(|settings| settings.write_timeout = 10).await;
    // The windows never limit the response.
    let open = [
        frame(SETTINGS, b"\0\x04\x7F\xFF\xFF\xFF"),
        frame(WINDOW_UPDATE, b"\x70\0\0\0"),
        get_frame("/endless", &[]),
    ];
    super::connections::read_steadily(&started, &opening(&open)).await;
}

#[actix_web::test]
async fn header_tables_do_not_grow_with_the_size_that_a_client_allows() {
    let answer = answer_before_goaway(b"\0\x01\xFF\xFF\xFF\xFF", &[]).await;
    let fields = answer.iter().find(|(kind, _)| *kind == HEADERS).unwrap();
    // The fields would begin with the new size (RFC 7541, section 6.3).
    assert_ne!(fields.1[0] & 0xE0, 0x20, "{answer:?}");
}

#[actix_web::test]
async fn a_connection_without_a_request_is_closed() {
    let started = Started::with(|settings| {
        settings.head_timeout = 1;
        settings.write_timeout = 3_600;
    })
    .await;
    closed(silent(&started).await).await;
}

/// The library accepts any number of empty frames (RUSTSEC-2026-0258), whether or not the handler
/// reads.
#[actix_web::test]
async fn a_flood_of_empty_data_frames_ends_the_connection() {
    let started = native().await;
    for path in ["/note", "/slow"] {
        let client = Client::connect(&started, 65_535).await;
        let request = http::Request::post(format!("https://localhost{path}"));
        let request = request.header("content-type", "application/json").body(()).unwrap();
        let mut requests = client.requests.ready().await.unwrap();
        let (_answer, mut body) = requests.send_request(request, false).unwrap();
        let mut sent = 0;
        while !client.ended.is_finished() && body.send_data(Bytes::new(), false).is_ok() {
            sent += 1;
            assert!(sent < 200_000, "{path}");
            tokio::task::yield_now().await;
        }
    }
}

/// Settings under which an idle connection ends only when the server stops.
fn with_long_timeouts(settings: &mut ShellSettings) {
    settings.tls_mode = TlsMode::Native;
    settings.head_timeout = 600;
    settings.write_timeout = 3_600;
    settings.shutdown_timeout = 3_600;
}

/// Stops the server. Fails if connections prevent this.
async fn stop(started: Started) {
    let stop = tokio::time::timeout(Duration::from_secs(20), started.running.stop());
    stop.await.unwrap();
}

#[actix_web::test]
async fn a_stop_does_not_wait_for_http2_clients_without_a_request() {
    let started = Started::with(|settings| {
        with_long_timeouts(settings);
        settings.tls_mode = TlsMode::Off;
    })
    .await;
    let open = [silent(&started).await, silent(&started).await];
    stop(started).await;
    for stream in open {
        closed(stream).await;
    }
}

#[actix_web::test]
async fn a_stop_does_not_wait_for_handshakes() {
    let started = Started::with(with_long_timeouts).await;
    let address = started.running.https.unwrap();
    let nothing = TcpStream::connect(address).await.unwrap();
    let mut hello = TcpStream::connect(address).await.unwrap();
    // The header of a TLS record without the ClientHello that must follow.
    hello.write_all(&[22, 3, 1, 2, 0, 1]).await.unwrap();
    // A client that has negotiated HTTP/2 but sends no preface.
    let stream = TcpStream::connect(address).await.unwrap();
    let encrypted = encrypt(&started, stream, b"h2").await;
    stop(started).await;
    closed(nothing).await;
    closed(hello).await;
    closed(encrypted).await;
}

#[actix_web::test]
async fn a_stop_sends_goaway_and_finishes_open_requests() {
    let started = native().await;
    let mut client = Client::connect(&started, 65_535).await;
    let slow = client.get("/slow").await;
    started.echo.gate.entered.notified().await;
    let gate = started.echo.gate.clone();
    let stop = actix_web::rt::spawn(started.running.stop());
    let Client { requests, ended } = client;
    while requests.clone().ready().await.is_ok() {
        tokio::task::yield_now().await;
    }
    gate.leave.notify_one();
    let mut body = slow.await.unwrap().into_body();
    assert_eq!(body.data().await.unwrap().unwrap(), "slow");
    drop((body, requests));
    // The server may close the connection first.
    let _ = ended.await.unwrap();
    stop.await.unwrap();
}
