//! Connection limits, tested over raw sockets.

use std::time::Duration;

use shell::ShellSettings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::echo::Started;

async fn connect(started: &Started) -> TcpStream {
    TcpStream::connect(started.running.http).await.unwrap()
}

/// Reads until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A connection that the server cuts may end with a reset.
    let read = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(Duration::from_secs(20), read).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the next bytes from the server.
async fn some(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 65_536];
    let length = stream.read(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

fn impatient(settings: &mut ShellSettings) {
    settings.head_timeout = 1;
    settings.body_timeout = 1;
    settings.write_timeout = 1;
}

#[actix_web::test]
async fn an_incomplete_first_head_gets_408_in_the_format_of_the_service() {
    let started = Started::with(impatient).await;
    let mut stream = connect(&started).await;
    stream.write_all(b"GET /count?count=1 HTTP/1.1\r\nhost: a\r\n").await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
    assert!(answer.contains("\r\nx-request-id: "), "{answer}");
    assert!(answer.ends_with("GET /: Unreadable(408)"), "{answer}");
}

#[actix_web::test]
async fn a_head_that_begins_like_http2_gets_408_before_a_silent_connection_ends() {
    let started = Started::with(impatient).await;
    let (mut silent, mut begun) = (connect(&started).await, connect(&started).await);
    begun.write_all(b"P").await.unwrap();
    tokio::select! {
        biased;
        _ = rest(&mut silent) => panic!("the silent connection was closed first"),
        answer = rest(&mut begun) => {
            assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
        }
    }
}

#[actix_web::test]
async fn an_incomplete_second_head_gets_408() {
    let started = Started::with(impatient).await;
    let mut stream = connect(&started).await;
    stream.write_all(b"GET /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(some(&mut stream).await.starts_with("HTTP/1.1 200"));
    stream.write_all(b"GET /count?count=2 HTTP/1.1\r\nho").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 408"));
}

#[actix_web::test]
async fn busy_connection_outlives_the_head_timeout() {
    let started = Started::with(impatient).await;
    let mut busy = connect(&started).await;
    let mut request = async || {
        busy.write_all(b"GET /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        let answer = some(&mut busy).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    request().await;
    // This head starts later than the busy connection. Its timeout shows that the time limit has
    // also passed for the busy one.
    let mut late = connect(&started).await;
    late.write_all(b"GET /count?count=1 HTTP/1.1\r\nho").await.unwrap();
    let late = actix_web::rt::spawn(async move { rest(&mut late).await });
    while !late.is_finished() {
        request().await;
    }
    assert!(late.await.unwrap().starts_with("HTTP/1.1 408"));
    request().await;
}

#[actix_web::test]
async fn a_connection_between_requests_is_closed_5_seconds_after_the_head_timeout() {
    let started = Started::with(|settings| settings.head_timeout = 30).await;
    let mut stream = connect(&started).await;
    stream.write_all(b"GET /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(some(&mut stream).await.starts_with("HTTP/1.1 200"));
    started.advance(32_000).await;
    let read = stream.try_read(&mut [0]);
    assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "it is still open");
    started.advance(3_500).await;
    assert_eq!(rest(&mut stream).await, "");
}

#[actix_web::test]
async fn an_offer_of_http2_is_ignored_and_the_connection_kept() {
    let started = Started::new().await;
    let mut stream = connect(&started).await;
    let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n\
                   Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    for _ in 0..3 {
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = some(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(!answer.contains("connection:"), "{answer}");
    }
}

#[actix_web::test]
async fn a_dripping_head_gets_408() {
    let started = Started::with(impatient).await;
    let answer = answer_to_drip(&started, b"").await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[actix_web::test]
async fn a_dripping_body_is_cut() {
    let started = Started::with(impatient).await;
    let head = b"POST /note HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
        content-length: 1000\r\n\r\n{";
    let answer = answer_to_drip(&started, head).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

/// Sends the beginning of a request at once, and then one byte every tenth of a second on the
/// server's clock. Returns what the server sends until it closes the connection.
async fn answer_to_drip(started: &Started, begin: &[u8]) -> String {
    let (mut reading, mut writing) = connect(started).await.into_split();
    writing.write_all(begin).await.unwrap();
    let mut bytes = Vec::new();
    let drip = async {
        // This is 20 times the timeout.
        for _ in 0..200 {
            // Writing fails once the connection is closed. What the server sent is still read.
            let _ = writing.write_all(b"a").await;
            started.advance(100).await;
        }
    };
    tokio::select! {
        // A connection that the server cuts may end with a reset.
        _ = reading.read_to_end(&mut bytes) => {}
        () = drip => panic!("the connection stays open"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[actix_web::test]
async fn an_answer_that_is_not_read_is_cut() {
    let started = Started::with(impatient).await;
    let mut stream = connect(&started).await;
    stream.write_all(b"GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(some(&mut stream).await.starts_with("HTTP/1.1 200"));
    let ended = started.echo.gate.ended.notified();
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the response is not cut");
}

/// Sends a request for an endless response, and reads 400 KB of it per second on the server's clock.
/// Fails if the server cuts the response.
pub async fn read_steadily(started: &Started, request: &[u8]) {
    let socket = TcpSocket::new_v4().unwrap();
    // With a longer buffer, the system reports more rarely how much the client has read.
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(started.running.http).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut part = vec![0; 40_000];
    let reading = async {
        for _ in 0..400 {
            started.advance(100).await;
            stream.read_exact(&mut part).await.unwrap();
        }
    };
    tokio::select! {
        () = reading => {}
        () = started.echo.gate.ended.notified() => panic!("the response is cut"),
    }
}

#[actix_web::test]
async fn an_answer_that_is_read_steadily_is_not_cut() {
    let started = Started::with(|settings| settings.write_timeout = 10).await;
    read_steadily(&started, b"GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await;
}

#[actix_web::test]
async fn unreadable_requests_get_the_body_of_the_service() {
    let started = Started::new().await;
    let long = format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(50_000));
    let wide = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "a".repeat(140_000));
    for (request, status) in [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n", 400),
        (
            "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
            400,
        ),
        (&long, 414),
        (&format!("\r\n{long}"), 414),
        (&wide, 431),
    ] {
        let mut stream = connect(&started).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.ends_with(&format!("Unreadable({status})")), "{answer}");
    }
    let metrics = super::echo::client().get(started.admin("/metrics")).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let counted = r#"http_requests_total{method="other",route="unreadable",status="414"} "#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[actix_web::test]
async fn open_connections_and_requests_are_counted() {
    let started = Started::new().await;
    let metrics = || async {
        let answer = super::echo::client().get(started.admin("/metrics")).send().await.unwrap();
        answer.text().await.unwrap()
    };
    let mut stream = connect(&started).await;
    stream.write_all(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    started.echo.gate.entered.notified().await;
    let text = metrics().await;
    assert!(!text.contains("http_open_requests 0\n"), "{text}");
    assert!(!text.contains("http_open_connections 0\n"), "{text}");
}

/// Returns the whole response to a request with this request line and host.
async fn answer_to(started: &Started, line: &str, host: &str) -> String {
    let mut stream = connect(started).await;
    let request = format!("{line}\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    rest(&mut stream).await
}

#[actix_web::test]
async fn options_of_the_server_list_all_methods() {
    let native = |settings: &mut ShellSettings| settings.tls_mode = shell::TlsMode::Native;
    for started in [Started::new().await, Started::with(native).await] {
        let answer = answer_to(&started, "OPTIONS * HTTP/1.1", "a").await;
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
        assert!(answer.contains("\r\nallow: GET, HEAD, POST, OPTIONS\r\n"), "{answer}");
    }
}

#[actix_web::test]
async fn a_redirect_needs_a_valid_host() {
    let started =
        Started::with(|settings: &mut ShellSettings| settings.tls_mode = shell::TlsMode::Native)
            .await;
    for host in ["user@evil.example", "a b", "a/b", "evil.example?", ""] {
        let answer = answer_to(&started, "GET /x HTTP/1.1", host).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{host}: {answer}");
        assert!(answer.ends_with("GET /x: Unreadable(400)"), "{answer}");
    }
    let answer = answer_to(&started, "GET /x HTTP/1.1", "a.example:1").await;
    assert!(answer.contains("\r\nlocation: https://a.example:"), "{answer}");
}

#[actix_web::test]
async fn a_malformed_host_is_400_without_tls_too() {
    let started = Started::new().await;
    for (host, status) in [("a b", 400), ("user@a", 400), ("a:80", 200)] {
        let answer = answer_to(&started, "GET /count?count=1 HTTP/1.1", host).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
}

#[actix_web::test]
async fn requests_of_a_client_that_reads_no_responses_are_not_read() {
    let started = Started::new().await;
    let (mut reading, mut writing) = connect(&started).await.into_split();
    let request = b"GET /big HTTP/1.1\r\nhost: a\r\n\r\n";
    let sent = actix_web::rt::spawn(async move {
        for _ in 0..40 {
            writing.write_all(request).await.unwrap();
        }
        writing
    });
    // The requests fit into the socket buffers. The responses of 1 MiB each do not.
    let _open = sent.await.unwrap();
    let mut left = 40 << 20;
    let mut part = vec![0; 1 << 16];
    while left > 0 {
        let length = tokio::time::timeout(Duration::from_secs(20), reading.read(&mut part));
        let length = length.await.expect("the answers stall").unwrap();
        assert!(length > 0, "the connection is cut");
        left -= length.min(left);
    }
}

/// Returns a body chunk without line breaks, longer than any head line may be.
fn chunk() -> Vec<u8> {
    let bytes = "a".repeat(200_000);
    format!("{:x}\r\n{bytes}\r\n", bytes.len()).into_bytes()
}

#[actix_web::test]
async fn an_unread_body_does_not_hide_the_answer() {
    let started = Started::with(|settings| settings.head_timeout = 600).await;
    for (field, part) in [
        ("content-length: 20000000", "a".repeat(200_000).into_bytes()),
        ("transfer-encoding: chunked", chunk()),
    ] {
        let (mut reading, mut writing) = connect(&started).await.into_split();
        let head = format!("POST /nowhere HTTP/1.1\r\nhost: a\r\n{field}\r\n\r\n");
        writing.write_all(head.as_bytes()).await.unwrap();
        // The response arrives before the body is sent.
        reading.readable().await.unwrap();
        for sent in 0..100 {
            let written = writing.write_all(&part).await;
            written.unwrap_or_else(|error| panic!("{field}: {error} after {sent} parts"));
        }
        if field.ends_with("chunked") {
            writing.write_all(b"0\r\n\r\n").await.unwrap();
            writing.shutdown().await.unwrap();
        }
        let mut bytes = Vec::new();
        let all = reading.read_to_end(&mut bytes);
        tokio::time::timeout(Duration::from_secs(20), all).await.expect("it stays open").unwrap();
        let answers = String::from_utf8(bytes).unwrap();
        assert!(answers.starts_with("HTTP/1.1 404 "), "{answers}");
        assert_eq!(answers.matches("HTTP/1.1").count(), 1, "{answers}");
    }
}

#[actix_web::test]
async fn an_endless_unread_body_is_cut() {
    let started = Started::with(impatient).await;
    for (field, part) in [
        ("content-length: 18446744073709551615", "a".repeat(200_000).into_bytes()),
        ("transfer-encoding: chunked", chunk()),
    ] {
        let mut stream = connect(&started).await;
        let head = format!("POST /nowhere HTTP/1.1\r\nhost: a\r\n{field}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let endless = async { while stream.write_all(&part).await.is_ok() {} };
        tokio::time::timeout(Duration::from_secs(30), endless).await.expect("the body is not cut");
    }
}

#[actix_web::test]
async fn a_head_after_a_chunked_body_has_a_deadline() {
    let started = Started::with(impatient).await;
    let mut stream = connect(&started).await;
    let body = "{\"text\": \"a\"}";
    let request = format!(
        "POST /note HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(some(&mut stream).await.starts_with("HTTP/1.1 200"));
    stream.write_all(b"GET /count?count=2 HTTP/1.1\r\nho").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 408"));
}
