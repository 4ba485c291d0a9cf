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
}
