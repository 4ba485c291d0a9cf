//! Services behind proxies: PROXY protocol, HTTP/2 without TLS, Unix sockets, several addresses.

use actix_web::web::Bytes;
use shell::{ListenAddress, ShellSettings, Switch, TlsMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::echo::{Started, client};

const REQUEST: &str = "GET /client HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";

/// Sends `bytes` and returns the body of the response. Empty if the connection is closed without a
/// response.
async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> String {
    let mut answer = Vec::new();
    if stream.write_all(bytes).await.is_ok() {
        // A rejected connection may end with a reset.
        let _ = stream.read_to_end(&mut answer).await;
    }
    let answer = String::from_utf8(answer).unwrap();
    answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
}

fn behind_proxy(settings: &mut ShellSettings) {
    settings.proxy_protocol = Switch::On;
    settings.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
}

#[actix_web::test]
async fn a_proxy_protocol_header_sets_the_client() {
    let started = Started::with(behind_proxy).await;
    let get = async |header: &str, fields: &str| {
        let stream = TcpStream::connect(started.running.http).await.unwrap();
        exchange(stream, format!("{header}{REQUEST}{fields}\r\n").as_bytes()).await
    };
    let client = "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n";
    assert_eq!(get(client, "").await, "203.0.113.9");
    // The client is not a trusted proxy, so its header is ignored.
    assert_eq!(get(client, "x-forwarded-for: 198.51.100.1\r\n").await, "203.0.113.9");
    assert_eq!(get("PROXY UNKNOWN\r\n", "").await, "127.0.0.1");
    assert_eq!(get("", "").await, "");
    assert_eq!(get("PROXY TCP4 a b c d\r\n", "").await, "");
}

#[actix_web::test]
async fn an_untrusted_peer_cannot_set_the_client() {
    let started = Started::with(|settings| settings.proxy_protocol = Switch::On).await;
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    let header = format!("PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n{REQUEST}\r\n");
    assert!(!exchange(stream, header.as_bytes()).await.contains("203.0.113.9"));
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    assert_eq!(exchange(stream, format!("{REQUEST}\r\n").as_bytes()).await, "127.0.0.1");
}

#[actix_web::test]
async fn tls_begins_after_the_proxy_protocol_header() {
    let started = Started::with(|settings| {
        behind_proxy(settings);
        settings.tls_mode = TlsMode::Native;
    })
    .await;
    let mut stream = TcpStream::connect(started.running.https.unwrap()).await.unwrap();
    stream.write_all(b"PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\n").await.unwrap();
    let stream = super::http2::encrypt(&started, stream, b"http/1.1").await;
    assert_eq!(exchange(stream, format!("{REQUEST}\r\n").as_bytes()).await, "203.0.113.9");
}

#[actix_web::test]
async fn http2_without_tls_works_by_prior_knowledge() {
    let started = Started::new().await;
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    let (mut requests, connection) = h2::client::handshake(stream).await.unwrap();
    actix_web::rt::spawn(async move {
        let _ = connection.await;
    });
    for count in ["1", "2"] {
        let uri = format!("http://localhost/count?count={count}");
        let request = http::Request::builder().uri(uri).body(()).unwrap();
        let (answer, _) = requests.send_request(request, true).unwrap();
        let (head, mut body) = answer.await.unwrap().into_parts();
        assert_eq!((head.status.as_u16(), head.version), (200, http::Version::HTTP_2));
        assert_eq!(body.data().await.unwrap().unwrap(), Bytes::copy_from_slice(count.as_bytes()));
    }
}

#[actix_web::test]
async fn a_preface_in_parts_is_recognised_and_a_wrong_one_is_not() {
    let started = Started::new().await;
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(b"PRI * HT").await.unwrap();
    let pieces = b"TP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    stream.write_all(pieces).await.unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4, "the first frame of the server is not SETTINGS");
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    let answer = exchange(stream, b"PRI * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert_eq!(answer, "PRI *: NotFound");
}

#[actix_web::test]
async fn the_proxy_on_a_unix_socket_is_trusted() {
    let started = Started::with(|settings| {
        let path = settings.data_dir.join("service.sock");
        settings.bind = vec![ListenAddress::Unix(path)];
        settings.tls_mode = TlsMode::Proxy;
    })
    .await;
    let path = started.folder().join("service.sock");
    let get = async |fields: &str| {
        let stream = UnixStream::connect(&path).await.unwrap();
        exchange(stream, format!("{REQUEST}{fields}\r\n").as_bytes()).await
    };
    let https = "x-forwarded-proto: https\r\n";
    assert_eq!(get(&format!("{https}x-forwarded-for: 203.0.113.9\r\n")).await, "203.0.113.9");
    assert_eq!(get(https).await, "127.0.0.1");
    started.running.stop().await;
    assert!(!path.exists());
}

#[actix_web::test]
async fn a_stop_does_not_remove_the_socket_of_the_next_server() {
    let listen = |settings: &mut ShellSettings, path: std::path::PathBuf| {
        settings.bind = vec![ListenAddress::Unix(path)];
    };
    let first = Started::with(|settings| {
        let path = settings.data_dir.join("service.sock");
        listen(settings, path);
    })
    .await;
    let path = first.folder().join("service.sock");
    let mut held = UnixStream::connect(&path).await.unwrap();
    held.write_all(b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    first.echo.gate.entered.notified().await;
    let (folder, gate) = (first.folder().to_owned(), first.echo.gate.clone());
    let stopped = actix_web::rt::spawn(first.running.stop());
    while UnixStream::connect(&path).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let next = Started::with(|settings| listen(settings, folder.join("service.sock"))).await;
    gate.leave.notify_one();
    stopped.await.unwrap();
    let stream = UnixStream::connect(&path).await.unwrap();
    assert_eq!(exchange(stream, format!("{REQUEST}\r\n").as_bytes()).await, "127.0.0.1");
    next.running.kill().await;
}

#[actix_web::test]
async fn every_address_of_a_setting_is_listened_on() {
    let started = Started::with(|settings| {
        let socket = format!("unix:{}", settings.data_dir.join("also.sock").display());
        settings.bind = ["localhost:0", &socket].iter().map(|text| text.parse().unwrap()).collect();
    })
    .await;
    assert_eq!(client().get(started.url("/client")).send().await.unwrap().status(), 200);
    let stream = UnixStream::connect(started.folder().join("also.sock")).await.unwrap();
    assert_eq!(exchange(stream, format!("{REQUEST}\r\n").as_bytes()).await, "127.0.0.1");
}

#[actix_web::test]
async fn connections_of_one_address_are_limited() {
    let started = Started::with(|settings| {
        settings.proxy_protocol = Switch::On;
        settings.trusted_proxies = vec!["127.0.0.2/32".parse().unwrap()];
        settings.max_connections_per_address = Some(3);
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(started.running.http).await.unwrap();
        stream.write_all(b"GET /client HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        stream.read_u8().await.unwrap();
        held.push(stream);
    }
    let refused = TcpStream::connect(started.running.http).await.unwrap();
    assert_eq!(exchange(refused, format!("{REQUEST}\r\n").as_bytes()).await, "");
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let stream = socket.connect(started.running.http).await.unwrap();
    let header = "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\n";
    assert_eq!(exchange(stream, format!("{header}{REQUEST}\r\n").as_bytes()).await, "203.0.113.9");
    let metrics =
        client().get(started.admin("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("\nhttp_connections_refused_total "), "{metrics}");
}
