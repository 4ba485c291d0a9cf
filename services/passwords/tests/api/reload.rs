//! Corpora that are replaced under load, by a signal and at an interval.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use passwords::model::Kind;

use testkit::{Served, exchange, until, until_blocking};

use crate::app::{App, Data, Numbers, expected_range};

/// Returns the duration of the load in seconds: 60 in a full run. `PASSWORDS_RELOAD_SECONDS`
/// overrides it.
fn seconds() -> u64 {
    std::env::var("PASSWORDS_RELOAD_SECONDS").map_or(4, |seconds| seconds.parse().unwrap())
}

/// Sends a request on an open connection and reads the response.
fn ask(stream: &mut BufReader<TcpStream>) -> (u16, String) {
    stream.get_mut().write_all(b"GET /range/5BAA6 HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the connection was closed");
        match line.trim_end().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            None if line == "\r\n" => break,
            None => status = line[9..12].parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

#[actix_web::test]
async fn no_request_fails_while_corpora_are_replaced() {
    let data = Data::new();
    let lists = [1, 2].map(|seed| Numbers::new(seed).entries(Kind::Sha1, &[(0x5BAA6, 830)]));
    let texts = lists.each_ref().map(|list| expected_range(Kind::Sha1, list, 0x5BAA6));
    let paths = lists.each_ref().map(|list| data.activate(Kind::Sha1, list));
    let server = App::start_with(&data, |ranges, web| {
        ranges.in_memory_limit_mb = 0;
        web.workers = Some(2);
    })
    .await;
    let (stop, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let seen = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (stop, answers, seen) = (stop.clone(), answers.clone(), seen.clone());
            let (texts, address) = (texts.clone(), server.server().running().http);
            thread::spawn(move || {
                let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
                while !stop.load(Ordering::Relaxed) {
                    let (status, body) = ask(&mut stream);
                    assert_eq!(status, 200);
                    let which = texts.iter().position(|text| *text == body);
                    seen[which.expect("a response of neither corpus")]
                        .fetch_add(1, Ordering::Relaxed);
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let end = Instant::now() + Duration::from_secs(seconds());
    let mut round = 0;
    while Instant::now() < end {
        let name = paths[round % 2].file_name().unwrap().to_str().unwrap();
        let tmp = data.write("sha1/CURRENT.tmp", format!("{name}\n"));
        std::fs::rename(tmp, data.path().join("sha1/CURRENT")).unwrap();
        let service = server.service.clone();
        actix_web::rt::task::spawn_blocking(move || service.reload(true)).await.unwrap();
        let before = answers.load(Ordering::Relaxed);
        until("requests are answered", async || answers.load(Ordering::Relaxed) > before + 50)
            .await;
        round += 1;
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        actix_web::rt::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
    }
    assert!(answers.load(Ordering::Relaxed) > 100);
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) > 0), "{seen:?}");
}

#[actix_web::test]
async fn idle_workers_release_a_replaced_corpus() {
    let data = Data::new();
    let lists = [1, 2].map(|seed| Numbers::new(seed).entries(Kind::Sha1, &[(0x5BAA6, 5)]));
    data.activate(Kind::Sha1, &lists[0]);
    let server = App::start_with(&data, |_, web| web.workers = Some(2)).await;
    server.text("/range/5BAA6").await;
    let old = Arc::downgrade(&server.service.state().snapshot(Kind::Sha1).unwrap());
    data.activate(Kind::Sha1, &lists[1]);
    server.service.reload(false);
    until("no worker holds the old corpus", async || old.strong_count() == 0).await;
}

fn serve(data: &Data, interval: &str) -> Served {
    data.program().serve(&["--reload-interval", interval])
}

fn body(served: &Served) -> String {
    let request = "GET /range/5BAA6 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    exchange(served.http(), request).text().to_owned()
}

fn await_body(served: &Served, expected: &str) {
    until_blocking("the new corpus is served", || body(served) == expected);
}

#[test]
fn signal_and_interval_load_the_new_corpus() {
    let data = Data::new();
    let lists = [1, 2, 3].map(|seed| Numbers::new(seed).entries(Kind::Sha1, &[(0x5BAA6, 5)]));
    let texts = lists.each_ref().map(|list| expected_range(Kind::Sha1, list, 0x5BAA6));
    data.activate(Kind::Sha1, &lists[0]);
    let (mut by_signal, by_interval) = (serve(&data, "0"), serve(&data, "1"));
    assert_eq!((body(&by_signal), body(&by_interval)), (texts[0].clone(), texts[0].clone()));
    data.activate(Kind::Sha1, &lists[1]);
    await_body(&by_interval, &texts[1]);
    assert_eq!(body(&by_signal), texts[0]);
    by_signal.process().signal("HUP");
    await_body(&by_signal, &texts[1]);
    // The file in use can be pruned, because it stays open until it is replaced.
    data.activate(Kind::Sha1, &lists[2]);
    assert!(data.run(&["prune"]).code == Some(0));
    assert_eq!(body(&by_signal), texts[1]);
    assert_eq!(by_interval.stop(), Some(0));
}

#[test]
fn prefixes_stay_out_of_the_log() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0x5BAA6, 5)]));
    let mut command = data.command(&["--tls-mode", "off", "--log-format", "json"]);
    command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0").env("RUST_LOG", "trace");
    let mut served = Served::start(command);
    let address = served.http();
    for target in
        ["/range/5BAA6", "/range/5baa6?mode=ntlm", "/range/5BAA6/", "/Range/5BAA6", "/5BAA6"]
    {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            exchange(
                address,
                format!(
                    "{method} {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                ),
            );
        }
    }
    served.process().signal("TERM");
    assert_eq!(served.process().wait(), Some(0));
    until_blocking("the log ends", || served.log().contains("stopped"));
    let log = served.log().clone();
    assert!(log.contains("/range/{prefix}") && log.contains("request, ntlm, "), "{log}");
    let shown = log.lines().find(|line| line.to_ascii_lowercase().contains("5baa6"));
    assert_eq!(shown, None);
}
