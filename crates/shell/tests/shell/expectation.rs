//! `Expect: 100-continue`, tested with raw bytes.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::echo::Started;

const NOTE: &[u8] = b"{\"text\":\"a\"}";
const PERMISSION: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// Returns a request head with `Expect`, without the body.
fn head(target: &str, headers: &str) -> String {
    format!("POST {target} HTTP/1.1\r\nhost: a\r\n{headers}expect: 100-continue\r\n\r\n")
}

const JSON: &str = "content-type: application/json\r\ncontent-length: 12\r\n";

/// Reads until the received bytes end with `end`.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut received = Vec::new();
    let all = async {
        while !received.ends_with(end.as_bytes()) {
            let byte = stream.read_u8().await.unwrap();
            received.push(byte);
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(10), all).await;
    let received = String::from_utf8_lossy(&received).into_owned();
    assert!(read.is_ok(), "{received:?} does not end with {end:?}");
    received
}

#[actix_web::test]
async fn accepted_body_gets_one_100_continue() {
    let started = Started::new().await;
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    for chunked in [false, true, false] {
        let chunks = JSON.replace("content-length: 12", "transfer-encoding: chunked");
        let headers = if chunked { &chunks } else { JSON };
        stream.write_all(head("/note", headers).as_bytes()).await.unwrap();
        assert_eq!(read_until(&mut stream, PERMISSION).await, PERMISSION);
        if chunked {
            stream.write_all(b"c\r\n").await.unwrap();
            stream.write_all(NOTE).await.unwrap();
            stream.write_all(b"\r\n0\r\n\r\n").await.unwrap();
        } else {
            stream.write_all(NOTE).await.unwrap();
        }
        let answer = read_until(&mut stream, "\r\n\r\na").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
}

#[actix_web::test]
async fn request_rejected_by_its_head_gets_no_100_continue() {
    let started = Started::new().await;
    let long = JSON.replace("12", "99999999");
    let text = JSON.replace("application/json", "text/plain");
    for (target, headers, status) in [
        ("/nothing", JSON, "404"),
        ("/count", JSON, "405"),
        ("/note", long.as_str(), "413"),
        ("/note", text.as_str(), "415"),
    ] {
        let mut stream = TcpStream::connect(started.running.http).await.unwrap();
        stream.write_all(head(target, headers).as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, "\r\n\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {answer}");
        assert!(answer.contains("x-request-id: "), "{answer}");
    }
}

#[actix_web::test]
async fn a_client_may_send_its_body_without_waiting() {
    let started = Started::new().await;
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    for _ in 0..3 {
        let request = [head("/note", JSON).as_bytes(), NOTE].concat();
        stream.write_all(&request).await.unwrap();
        let answer = read_until(&mut stream, "\r\n\r\na").await;
        assert!(answer.contains("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    // An unread body must not be parsed as the next request.
    stream.write_all(&[head("/nothing", JSON).as_bytes(), NOTE].concat()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}

#[actix_web::test]
async fn clients_are_served_after_one_left_before_its_body() {
    let started = Started::new().await;
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    stream.write_all(head("/note", JSON).as_bytes()).await.unwrap();
    assert_eq!(read_until(&mut stream, PERMISSION).await, PERMISSION);
    drop(stream);
    assert_eq!(started.get("/count?count=1").await.status(), 200);
    started.running.stop().await;
}
