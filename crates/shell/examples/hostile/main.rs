//! Opens hostile connections to a running service and prints how much memory it uses for them.
//!
//! `hostile ADDRESS CA PID PATH [CONNECTIONS] [STREAMS]`; `scripts/bench hostile` runs it.
#![allow(clippy::unwrap_used, reason = "a failed measurement may panic")]

mod client;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use client::{Target, Way, attack, resident_kib};

/// Watches the memory of a process until this value is dropped.
struct Watch {
    peak: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn new(process: u32) -> Self {
        let watch = Self { peak: Arc::default(), over: Arc::default() };
        let (peak, over) = (Arc::clone(&watch.peak), Arc::clone(&watch.over));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                peak.fetch_max(resident_kib(process), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        watch
    }

    fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

#[actix_web::main]
async fn main() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, ca, process, path, rest @ ..] = &arguments[..] else {
        eprintln!("usage: hostile ADDRESS CA PID PATH [CONNECTIONS] [STREAMS]");
        std::process::exit(2);
    };
    let number = |at: usize, default| rest.get(at).map_or(default, |text| text.parse().unwrap());
    let (connections, streams): (usize, usize) = (number(0, 200), number(1, 350));
    let process = process.parse().unwrap();
    println!("| Way | Connections | Before | Most | Held | 5 s after the end |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, way) in Way::ALL {
        let watch = Watch::new(process);
        let before = resident_kib(process);
        let target = Target::new(address.parse().unwrap(), Path::new(ca), path, streams, way);
        let open = attack(&target, way, connections).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let held = resident_kib(process);
        let count = open.len();
        drop(open);
        tokio::time::sleep(Duration::from_secs(5)).await;
        let mib = |kib: u64| kib >> 10;
        println!(
            "| {name} | {count} | {} MiB | {} MiB | {} MiB | {} MiB |",
            mib(before),
            mib(watch.peak()),
            mib(held),
            mib(resident_kib(process))
        );
    }
}
