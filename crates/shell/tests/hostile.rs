//! What hostile connections make a process hold. A process of its own: nothing else takes memory in it.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

#[path = "../examples/hostile/client.rs"]
mod client;
#[path = "shell/echo.rs"]
#[allow(dead_code, reason = "the other test binary uses the rest")]
mod echo;

use std::time::Duration;

use client::{Target, Way, attack, resident_kib};
use echo::Started;
use shell::TlsMode;
use tokio::net::TcpStream;

/// What connections of one kind made the process hold, in MiB.
async fn held(way: Way, path: &str, connections: usize) -> u64 {
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let ca = started.folder().join("tls/ca.pem");
    let target = Target::new(started.running.https.unwrap(), &ca, path, 350, way);
    let process = std::process::id();
    let before = resident_kib(process);
    let open = attack(&target, way, connections).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let held = resident_kib(process).saturating_sub(before) >> 10;
    assert!(!open.is_empty());
    let answer = started.get("/healthz").await;
    assert_eq!(answer.status(), 200, "it answers others");
    drop(open);
    started.running.kill().await;
    held
}

/// What many requests behind each other make the process hold, in MiB, when no answer is read.
async fn held_by_pipelines(path: &str, connections: usize, requests: usize) -> u64 {
    let started = Started::new().await;
    let requests = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").repeat(requests);
    let before = resident_kib(std::process::id());
    let mut open = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(started.running.http).await.unwrap();
        // The socket takes a part of them.
        let _ = stream.try_write(requests.as_bytes());
        open.push(stream);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let held = resident_kib(std::process::id()).saturating_sub(before) >> 10;
    assert_eq!(started.get("/healthz").await.status(), 200, "it answers others");
    drop(open);
    started.running.kill().await;
    held
}

#[actix_web::test]
async fn hostile_connections_make_the_process_hold_little() {
    for (name, way) in Way::ALL {
        let path = match way {
            Way::Bodies => "/note",
            Way::Empty => "/slow",
            _ => "/big",
        };
        // The clients are in the same process; scripts/bench hostile measures a server alone.
        for (connections, most) in [(1, 64), (30, 256)] {
            let held = held(way, path, connections).await;
            println!("{name}: {connections} connections, {held} MiB");
            assert!(held < most, "{name}: {connections} connections make it hold {held} MiB");
        }
    }
    for path in ["/count?count=1", "/big"] {
        let held = held_by_pipelines(path, 200, 1000).await;
        println!("pipelines of {path}: {held} MiB");
        assert!(held < 150, "pipelines of {path} make it hold {held} MiB");
    }
}
