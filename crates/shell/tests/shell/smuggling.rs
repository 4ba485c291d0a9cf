//! Request smuggling and path traversal, tested with raw bytes.
//!
//! A request without an unambiguous end is rejected with 400 and ends the connection, so that the
//! following bytes are never parsed as a request.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::echo::Started;

/// The request after the tested one. It must be answered only if the tested one is valid.
const SECOND: &str = "GET /repeat/3?text=second HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

const NOTE: &str = "{\"text\":\"a\"}";
const CHUNKS: &str = "c\r\n{\"text\":\"a\"}\r\n0\r\n\r\n";

/// Sends the bytes and then the second request on one connection. Returns the statuses of all
/// responses.
async fn statuses(started: &Started, first: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    stream.write_all(first.as_bytes()).await.unwrap();
    // The server may already have closed the connection.
    let _ = stream.write_all(SECOND.as_bytes()).await;
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let status = |part: &str| part.get(..3)?.parse().ok();
    text.split("HTTP/1.1 ").skip(1).filter_map(status).collect()
}

fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /note HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{headers}\r\n{body}"
    )
}

#[actix_web::test]
async fn a_body_of_unclear_length_ends_the_connection() {
    let started = Started::new().await;
    for (headers, body) in [
        ("content-length: 4\r\ntransfer-encoding: chunked\r\n", CHUNKS),
        ("transfer-encoding: chunked\r\ncontent-length: 4\r\n", CHUNKS),
        ("content-length: 12\r\ncontent-length: 13\r\n", NOTE),
        ("content-length: 12\r\ncontent-length: 12\r\n", NOTE),
        ("content-length: 12, 12\r\n", NOTE),
        ("content-length: +12\r\n", NOTE),
        ("content-length: -12\r\n", NOTE),
        ("content-length: 0xc\r\n", NOTE),
        ("content-length: 99999999999999999999\r\n", NOTE),
        ("content-length:\r\n", NOTE),
        ("transfer-encoding: xchunked\r\n", CHUNKS),
        ("transfer-encoding: identity\r\n", NOTE),
        ("transfer-encoding: chunked, identity\r\n", CHUNKS),
        ("transfer-encoding: gzip, chunked\r\n", CHUNKS),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", CHUNKS),
        ("transfer-encoding: \u{b}chunked\r\n", CHUNKS),
        ("transfer-encoding : chunked\r\n", CHUNKS),
        ("transfer-encoding: chunked\r\n", "fffffffffffffffff\r\n{\"text\":\"a\"}\r\n0\r\n\r\n"),
        ("transfer-encoding: chunked\r\n", "-1\r\n{\"text\":\"a\"}\r\n0\r\n\r\n"),
        ("transfer-encoding: chunked\r\n", "0xc\r\n{\"text\":\"a\"}\r\n0\r\n\r\n"),
        ("transfer-encoding: chunked\r\n", "c\r\n{\"text\":\"a\"}XX0\r\n\r\n"),
        ("transfer-encoding: chunked\r\n", "c\n{\"text\":\"a\"}\n0\n\n"),
        ("transfer-encoding: chunked\r\n", "c;a\nb\r\n{\"text\":\"a\"}\r\n0\r\n\r\n"),
    ] {
        assert_eq!(statuses(&started, &post(headers, body)).await, [400], "{headers:?} {body:?}");
    }
    let old = post("transfer-encoding: chunked\r\n", CHUNKS).replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(statuses(&started, &old).await, [400], "HTTP/1.0 has no chunks");
    let clear = post("transfer-encoding: chunked\r\n", CHUNKS);
    assert_eq!(statuses(&started, &clear).await, [200, 200]);
}

#[actix_web::test]
async fn a_malformed_head_ends_the_connection() {
    let started = Started::new().await;
    for head in [
        "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nx: a\r\n b\r\n\r\n",
        "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
        "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
        "GET /count?count=1 HTTP/1.1\r\n\r\n",
        "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /count?count=1 x HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET\t/count?count=1\tHTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /count?count=1 HTTP/1.2\r\nhost: a\r\n\r\n",
        "GET /count?count=1 HTTP/2.0\r\nhost: a\r\n\r\n",
        "GET /count\0 HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET \\count HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /ü HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /count?count=1#x HTTP/1.1\r\nhost: a\r\n\r\n",
        "\r\nGET /count?count=1#x HTTP/1.1\r\nhost: a\r\n\r\n",
        "\n\r\nGET /count?count=1#x HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        assert_eq!(statuses(&started, head).await, [400], "{head:?}");
    }
    let blank = "\r\nGET /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n";
    assert_eq!(statuses(&started, blank).await, [200, 200], "blank lines are skipped");
}

#[actix_web::test]
async fn path_traversal_is_not_found() {
    let started = Started::new().await;
    for path in [
        "/docs/../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "/docs/..%2f..%2fetc%2fpasswd",
        "/count%00?count=1",
        "/%c0%ae%c0%ae/count",
        "//b.example/count?count=1",
        "/./count?count=1",
        "/count/../count?count=1",
        "http://b.example//count?count=1",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(statuses(&started, &request).await, [404, 200], "{path}");
    }
}

#[actix_web::test]
async fn protocol_upgrades_are_refused() {
    let started = Started::new().await;
    for (request, expected) in [
        // The upgrade is ignored. This request and the next one are answered.
        (
            "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\n\
             upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n",
            &[200, 200][..],
        ),
        // The following bytes belong to an unsupported protocol.
        (
            "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
            &[200],
        ),
        (
            "GET /count?count=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\n\
             upgrade: websocket\r\n\r\n",
            &[200],
        ),
        ("TRACE /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n", &[405, 200]),
        ("get /count?count=1 HTTP/1.1\r\nhost: a\r\n\r\n", &[405, 200]),
        // The following bytes belong to a tunnel that does not exist.
        ("CONNECT b.example:443 HTTP/1.1\r\nhost: a\r\n\r\n", &[404]),
    ] {
        assert_eq!(statuses(&started, request).await, expected, "{request:?}");
    }
}
