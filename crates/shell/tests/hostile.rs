//! What hostile connections make a process hold. A process of its own: nothing else takes memory in it.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.
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

use client::{Target, Way, attack};
use echo::Started;
use shell::TlsMode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Counts the bytes that the server has allocated, and the most of them since a moment; its clients have
/// a thread of their own. What the system lends the process would not do: the allocator keeps what earlier
/// cases freed. `scripts/bench hostile` measures that.
struct Counting;

// Below 0 when the server frees what another thread allocated.
static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static OF_CLIENTS: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !OF_CLIENTS.get() {
            let size = layout.size().cast_signed();
            MOST.fetch_max(NOW.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the rules of `alloc`.
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

/// Begins to look for the most; the bytes that are allocated now.
fn begin() -> isize {
    OF_CLIENTS.set(true);
    let now = NOW.load(Ordering::Relaxed);
    MOST.store(now, Ordering::Relaxed);
    now
}

/// The most that was allocated beside `before`, in MiB.
fn most_beside(before: isize) -> isize {
    (MOST.load(Ordering::Relaxed) - before) >> 20
}

/// What connections of one kind made the process hold, in MiB.
async fn held(way: Way, path: &str, connections: usize) -> isize {
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let ca = started.folder().join("tls/ca.pem");
    let target = Target::new(started.running.https.unwrap(), &ca, path, 350, way);
    let before = begin();
    let open = attack(&target, way, connections).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let held = most_beside(before);
    assert!(!open.is_empty());
    let answer = started.get("/healthz").await;
    assert_eq!(answer.status(), 200, "it answers others");
    drop(open);
    started.running.kill().await;
    held
}

/// What many requests behind each other make the process hold, in MiB, when no answer is read.
async fn held_by_pipelines(path: &str, connections: usize, requests: usize) -> isize {
    let started = Started::new().await;
    let requests = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").repeat(requests);
    let before = begin();
    let mut open = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(started.running.http).await.unwrap();
        // The socket takes a part of them.
        let _ = stream.try_write(requests.as_bytes());
        open.push(stream);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let held = most_beside(before);
    assert_eq!(started.get("/healthz").await.status(), 200, "it answers others");
    drop(open);
    started.running.kill().await;
    held
}

/// A connection that has sent a request.
async fn asking(started: &Started, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(started.running.http).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// How much of an answer comes until the connection ends, in MiB.
async fn rest(mut stream: TcpStream) -> usize {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer.len() >> 20
}

/// How much of an answer comes to a client that waits before it reads, in MiB.
async fn read_late(path: &str) -> usize {
    let started = Started::new().await;
    let stream = asking(&started, path).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    rest(stream).await
}

/// How much of an answer of 40 MiB comes to clients that read nothing for three seconds while the process
/// holds much, and to one that reads some MiB a second meanwhile.
async fn held_and_read() -> (Vec<usize>, usize) {
    let started = Started::with(|settings| settings.write_timeout = 3_600).await;
    let holders = [asking(&started, "/huge").await, asking(&started, "/huge").await];
    let mut reader = asking(&started, "/huge").await;
    let (begin, mut read, mut part) = (std::time::Instant::now(), 0, vec![0; 64 << 10]);
    while begin.elapsed() < Duration::from_secs(3) {
        read += reader.read(&mut part).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut held = Vec::new();
    for holder in holders {
        held.push(rest(holder).await);
    }
    (held, (read >> 20) + rest(reader).await)
}

#[actix_web::test]
async fn hostile_connections_make_the_process_hold_little() {
    for (name, way) in Way::ALL {
        let path = match way {
            Way::Bodies => "/note",
            Way::Empty => "/slow",
            _ => "/big",
        };
        for (connections, most) in [(1, 64), (30, 256)] {
            let held = held(way, path, connections).await;
            println!("{name}: {connections} connections, {held} MiB");
            assert!(held < most, "{name}: {connections} connections make it hold {held} MiB");
        }
    }
    assert_eq!(read_late("/huge").await, 40, "a slow client gets all of the longest answer");
    let (held, read) = held_and_read().await;
    assert!(held.iter().all(|held| *held < 40), "those that read nothing are cut: {held:?}");
    assert!(read >= 39, "one that reads gets its answer: {read}");
    for path in ["/count?count=1", "/big"] {
        let held = held_by_pipelines(path, 200, 1000).await;
        println!("pipelines of {path}: {held} MiB");
        assert!(held < 150, "pipelines of {path} make it hold {held} MiB");
    }
}
