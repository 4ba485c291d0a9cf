//! Measures the memory that hostile connections use. No other tests run in this process.
#![allow(clippy::unwrap_used)] // A failed `unwrap` fails the test.
#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "../examples/hostile/client.rs"]
#[allow(dead_code, reason = "the example uses the rest")]
mod client;
#[path = "shell/echo.rs"]
#[allow(dead_code, reason = "the other test binary uses the rest")]
mod echo;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::Duration;

use actix_web::web::Bytes;
use client::{Target, Way, attack};
use echo::Started;
use futures_util::FutureExt;
use shell::TlsMode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Counts the bytes allocated by the server, and their peak. The clients run on another thread. The
/// resident memory cannot be used, because the allocator keeps memory from earlier cases;
/// `scripts/bench hostile` measures it.
struct Counting;

// Negative when the server frees memory that another thread allocated.
static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static OF_CLIENTS: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call is forwarded unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !OF_CLIENTS.get() {
            let size = layout.size().cast_signed();
            MOST.fetch_max(NOW.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        }
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !OF_CLIENTS.get() {
            NOW.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        }
        // SAFETY: the pointer came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Resets the maximum and returns the bytes that are allocated now.
fn begin() -> isize {
    OF_CLIENTS.set(true);
    let now = NOW.load(Ordering::Relaxed);
    MOST.store(now, Ordering::Relaxed);
    now
}

/// Returns the maximum of allocated memory minus `before`, in MiB.
fn most_since(before: isize) -> isize {
    (MOST.load(Ordering::Relaxed) - before) >> 20
}

/// Waits until the server has processed its input: it then answers many requests without allocating
/// more. Each connection with input gets a turn of the worker between two answers.
async fn settled(started: &Started) {
    const NOISE: isize = 256 << 10;
    let client = echo::client();
    let (mut before, mut requests) = (0, 0);
    while requests < 200 {
        let answer = client.get(started.url("/healthz")).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "alive\n", "it answers others");
        let most = MOST.load(Ordering::Relaxed);
        requests = if most - before < NOISE { requests + 1 } else { 0 };
        before = before.max(most);
    }
}

/// Returns the memory that hostile connections of one kind used, in MiB.
async fn held(way: Way, path: &str, connections: usize) -> isize {
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let ca = started.folder().join("tls/ca.pem");
    let target = Target::new(started.running.https.unwrap(), &ca, path, 350, way);
    let before = begin();
    let open = attack(&target, way, connections).await;
    settled(&started).await;
    let held = most_since(before);
    assert!(!open.is_empty());
    drop(open);
    started.running.kill().await;
    held
}

/// Returns the memory used by clients that pipeline requests and do not read responses, in MiB.
async fn held_by_pipelines(path: &str, connections: usize, requests: usize) -> isize {
    let started = Started::new().await;
    let requests = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").repeat(requests);
    let before = begin();
    let mut open = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(started.running.http).await.unwrap();
        // The socket accepts only some of them.
        let _ = stream.try_write(requests.as_bytes());
        open.push(stream);
    }
    settled(&started).await;
    let held = most_since(before);
    drop(open);
    started.running.kill().await;
    held
}

/// Opens a connection and sends a request.
async fn asking(started: &Started, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads the response until the connection ends, and returns its length in MiB.
async fn rest(mut stream: TcpStream) -> usize {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer.len() >> 20
}

/// Returns the length in MiB of a response to a client that starts reading late.
async fn read_late(path: &str) -> usize {
    let started = Started::new().await;
    let stream = asking(&started, path).await;
    settled(&started).await;
    rest(stream).await
}

/// Returns the server's number of open connections.
async fn open_connections(started: &Started, client: &reqwest::Client) -> usize {
    let metrics = client.get(started.admin("/metrics")).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let value = metrics.lines().find_map(|line| line.strip_prefix("http_open_connections "));
    value.unwrap().parse().unwrap()
}

/// Returns how many MiB of a 40 MiB response clients receive under memory pressure: two that do not
/// read, and one that reads a few MiB per second on the server's clock.
async fn held_and_read() -> (Vec<usize>, usize) {
    let started = Started::with(|settings| settings.write_timeout = 3_600).await;
    let holders = [asking(&started, "/huge").await, asking(&started, "/huge").await];
    let mut reader = asking(&started, "/huge").await;
    let (mut read, mut part) = (0, vec![0; 64 << 10]);
    let client = echo::client();
    while open_connections(&started, &client).await < 3 {}
    // The server cuts the other connections. If it does not, the loop ends when this client has
    // read nearly its whole response.
    while open_connections(&started, &client).await > 1 && read < 39 << 20 {
        read += reader.read(&mut part).await.unwrap();
        started.advance(20).await;
    }
    let mut held = Vec::new();
    for holder in holders {
        held.push(rest(holder).await);
    }
    (held, (read >> 20) + rest(reader).await)
}

/// Returns the start of the first response to clients that send most of their bodies at once and
/// the rest a byte at a time, under memory pressure.
async fn answer_to_slow_bodies() -> String {
    const CONNECTIONS: usize = 40;
    let started = Started::with(|settings| settings.body_timeout = 3_600).await;
    let most = format!(
        "POST /note HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: 1000000\r\n\r\n{}",
        " ".repeat(900_000)
    );
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(started.running.http).await.unwrap();
        stream.write_all(most.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    let mut answer = [0; 12];
    for _ in 0..1_000 {
        started.advance(20).await;
        for stream in &streams {
            let _ = stream.try_write(b" ");
            if let Ok(read) = stream.try_read(&mut answer) {
                started.running.kill().await;
                return String::from_utf8_lossy(&answer[..read]).into_owned();
            }
        }
    }
    String::new()
}

/// Returns the start of the response to a client that sends most of a long head at once and nothing
/// more, under memory pressure.
async fn answer_to_a_slow_head() -> String {
    let started = Started::with(|settings| {
        settings.head_timeout = 600;
        settings.write_timeout = 3_600;
    })
    .await;
    let mut slow = TcpStream::connect(started.running.http).await.unwrap();
    let head = format!("GET /client HTTP/1.1\r\nhost: a\r\nx-long: {}", "x".repeat(60_000));
    slow.write_all(head.as_bytes()).await.unwrap();
    let (mut holders, mut answer) = (Vec::new(), [0; 12]);
    for round in 0..400 {
        // The server cuts off clients that don't read, so new ones replace them.
        if round % 8 == 0 {
            holders.push(asking(&started, "/huge").await);
        }
        started.advance(50).await;
        if let Ok(read) = slow.try_read(&mut answer) {
            started.running.kill().await;
            return String::from_utf8_lossy(&answer[..read]).into_owned();
        }
    }
    String::new()
}

/// Returns whether the request of an HTTP/2 client that sends a long head but not the body is
/// refused under memory pressure.
async fn is_refused_without_the_body() -> bool {
    let started = Started::with(|settings| {
        settings.body_timeout = 3_600;
        settings.write_timeout = 3_600;
    })
    .await;
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    let (requests, connection) = h2::client::handshake(stream).await.unwrap();
    actix_web::rt::spawn(connection);
    let mut requests = requests.ready().await.unwrap();
    let request = http::Request::post("http://localhost/note")
        .header("content-type", "application/json")
        .header("x-long", "x".repeat(40_000));
    let (mut answer, _body) = requests.send_request(request.body(()).unwrap(), false).unwrap();
    let mut holders = Vec::new();
    for round in 0..400 {
        // The server cuts off clients that don't read, so new ones replace them.
        if round % 8 == 0 {
            holders.push(asking(&started, "/huge").await);
        }
        started.advance(50).await;
        if let Some(answer) = (&mut answer).now_or_never() {
            started.running.kill().await;
            // The response itself is refused if clients that don't read use all memory.
            return match answer {
                Ok(answer) => answer.status() == 400,
                Err(error) => error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM),
            };
        }
    }
    false
}

/// Returns why the first of many responses of less than 512 KiB that their clients don't read is
/// cut off.
async fn end_of_unread_answers() -> Option<h2::Reason> {
    const CONNECTIONS: usize = 180;
    let started = Started::with(|settings| settings.write_timeout = 3_600).await;
    // A response is nine times as long as the text. Together, they are longer than 64 MiB.
    let uri = format!("http://localhost/repeat/9?text={}", "x".repeat(45_000));
    let mut bodies = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(started.running.http).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let connected = builder.initial_window_size(0).handshake::<_, Bytes>(stream).await;
        let (requests, connection) = connected.unwrap();
        actix_web::rt::spawn(connection);
        let mut requests = requests.ready().await.unwrap();
        let request = http::Request::get(uri.as_str()).body(()).unwrap();
        let (answer, _) = requests.send_request(request, true).unwrap();
        bodies.push(answer.await.unwrap().into_body());
    }
    let parts = bodies.iter_mut().map(|body| Box::pin(body.data()));
    let first = futures_util::future::select_all(parts);
    let (part, ..) = tokio::time::timeout(Duration::from_secs(20), first).await.ok()?;
    started.running.kill().await;
    part?.err()?.reason()
}

/// Returns how many KiB of a 40 MiB response an HTTP/2 client receives under memory pressure if it
/// opens its window by 1 KB every 50 ms on the server's clock.
async fn read_in_small_windows() -> usize {
    let started = Started::with(|settings| settings.write_timeout = 3_600).await;
    let stream = TcpStream::connect(started.running.http).await.unwrap();
    let mut builder = h2::client::Builder::new();
    let connected = builder.initial_window_size(1_000).handshake::<_, Bytes>(stream).await;
    let (requests, connection) = connected.unwrap();
    actix_web::rt::spawn(connection);
    let mut requests = requests.ready().await.unwrap();
    let request = http::Request::get("http://localhost/huge").body(()).unwrap();
    let (answer, _) = requests.send_request(request, true).unwrap();
    let mut body = answer.await.unwrap().into_body();
    let mut read = 0;
    // The server cuts the stream. If it does not, the loop ends at this length.
    while read < 512 << 10 {
        started.advance(50).await;
        match body.data().await.unwrap() {
            Ok(part) => {
                read += part.len();
                body.flow_control().release_capacity(part.len()).unwrap();
            }
            Err(error) => {
                assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
                break;
            }
        }
    }
    read >> 10
}

#[actix_web::test]
async fn memory_for_hostile_connections_is_limited() {
    for (name, way) in Way::ALL {
        let path = match way {
            Way::Bodies => "/note",
            Way::Empty => "/slow",
            _ => "/big",
        };
        for (connections, most) in [(1, 64), (30, 256)] {
            let held = held(way, path, connections).await;
            println!("{name}: {connections} connections, {held} MiB");
            assert!(held < most, "{name}: {held} MiB are held for {connections} connections");
        }
    }
    assert_eq!(read_late("/huge").await, 40, "a late reader gets the complete response");
    let (held, read) = held_and_read().await;
    assert!(held.iter().all(|held| *held < 40), "clients that do not read are cut: {held:?}");
    assert!(read >= 39, "a reader gets its response: {read}");
    let read = read_in_small_windows().await;
    assert!(read < 512, "a client with small windows is cut: {read}");
    assert_eq!(answer_to_slow_bodies().await, "HTTP/1.1 400");
    assert_eq!(answer_to_a_slow_head().await, "HTTP/1.1 503");
    assert!(is_refused_without_the_body().await, "a client that sends a head only is refused");
    assert_eq!(end_of_unread_answers().await, Some(h2::Reason::ENHANCE_YOUR_CALM));
    // All responses together may take 128 MiB. In addition, each connection has a slice of 128 KiB
    // in its write buffer, and other buffers of about 100 KiB.
    const CONNECTIONS: usize = 200;
    let most = 128 + (CONNECTIONS >> 2).cast_signed();
    for path in ["/count?count=1", "/big"] {
        let held = held_by_pipelines(path, CONNECTIONS, 1000).await;
        println!("pipelines of {path}: {held} MiB");
        assert!(held < most, "{held} MiB are held for pipelines of {path}");
    }
}
