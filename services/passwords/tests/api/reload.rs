//! Corpora exchanged under load, by signal and by interval.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use passwords::model::Kind;

use crate::harness::{Data, Numbers, Ranges, exchange, expected_range};

/// Seconds of load: 60 in full, `PASSWORDS_RELOAD_SECONDS` sets another number.
fn seconds() -> u64 {
    std::env::var("PASSWORDS_RELOAD_SECONDS").map_or(4, |seconds| seconds.parse().unwrap())
}

/// One answer on a connection that stays open.
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
async fn no_request_fails_while_corpora_are_exchanged() {
    let data = Data::new();
    let lists = [1, 2].map(|seed| Numbers(seed).entries(Kind::Sha1, &[(0x5BAA6, 830)]));
    let texts = lists.each_ref().map(|list| expected_range(Kind::Sha1, list, 0x5BAA6));
    let paths = lists.each_ref().map(|list| data.activate(Kind::Sha1, list));
    let server = Ranges::start_with(&data, |ranges, web| {
        ranges.in_memory_limit_mb = 0;
        web.workers = Some(2);
    })
    .await;
    let (stop, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let seen = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (stop, answers, seen) = (stop.clone(), answers.clone(), seen.clone());
            let (texts, address) = (texts.clone(), server.running.http);
            thread::spawn(move || {
                let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
                while !stop.load(Ordering::Relaxed) {
                    let (status, body) = ask(&mut stream);
                    assert_eq!(status, 200);
                    let which = texts.iter().position(|text| *text == body);
                    seen[which.expect("an answer of neither corpus")]
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
        actix_web::rt::time::sleep(Duration::from_millis(100)).await;
        round += 1;
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        actix_web::rt::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
    }
    assert!(answers.load(Ordering::Relaxed) > 100);
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) > 0), "{seen:?}");
}

/// The binary on a free port, stopped at the end of the test.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(data: &Data, interval: &str) -> Self {
        let free = "127.0.0.1:0";
        let arguments = ["--bind", free, "--admin-bind", free, "--tls-mode", "off"];
        let mut child = data
            .command(&arguments)
            .env("RELOAD_INTERVAL", interval)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .find_map(|line| {
                let line = line.unwrap();
                let at = line.find("serves http://")?;
                line[at + 14..].split_whitespace().next()?.parse().ok()
            })
            .unwrap();
        // The rest of the log is read so that the pipe never fills up.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    fn body(&self) -> String {
        let request = "GET /range/5BAA6 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        exchange(self.address, request).text().to_owned()
    }

    fn await_body(&self, expected: &str) {
        let begin = Instant::now();
        while self.body() != expected {
            assert!(begin.elapsed() < Duration::from_secs(30), "the new corpus is not served");
            thread::yield_now();
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_signal_or_the_interval_brings_the_new_corpus() {
    let data = Data::new();
    let lists = [1, 2, 3].map(|seed| Numbers(seed).entries(Kind::Sha1, &[(0x5BAA6, 5)]));
    let texts = lists.each_ref().map(|list| expected_range(Kind::Sha1, list, 0x5BAA6));
    data.activate(Kind::Sha1, &lists[0]);
    let (by_signal, mut by_interval) = (Served::start(&data, "0"), Served::start(&data, "1"));
    assert_eq!((by_signal.body(), by_interval.body()), (texts[0].clone(), texts[0].clone()));
    data.activate(Kind::Sha1, &lists[1]);
    by_interval.await_body(&texts[1]);
    assert_eq!(by_signal.body(), texts[0]);
    by_signal.signal("-HUP");
    by_signal.await_body(&texts[1]);
    // What is served may be pruned: the open file goes on until it is exchanged.
    data.activate(Kind::Sha1, &lists[2]);
    assert!(data.run(&["prune"]).status.success());
    assert_eq!(by_signal.body(), texts[1]);
    by_interval.signal("-TERM");
    assert_eq!(by_interval.child.wait().unwrap().code(), Some(0));
}

#[test]
fn prefixes_stay_out_of_the_log() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers(1).entries(Kind::Sha1, &[(0x5BAA6, 5)]));
    let free = "127.0.0.1:0";
    let mut child = data
        .command(&[
            "--bind",
            free,
            "--admin-bind",
            free,
            "--tls-mode",
            "off",
            "--log-format",
            "json",
        ])
        .env("RUST_LOG", "trace")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    let address: SocketAddr = loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "{log}");
        log.push_str(&line);
        if let Some(at) = line.find("serves http://") {
            let rest = &line[at + 14..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
            break rest[..end.unwrap()].parse().unwrap();
        }
    };
    let reading = thread::spawn(move || {
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        rest
    });
    for target in
        ["/range/5BAA6", "/range/5baa6?mode=ntlm", "/range/5BAA6/", "/Range/5BAA6", "/5BAA6"]
    {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            exchange(
                address,
                &format!(
                    "{method} {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                ),
            );
        }
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    log.push_str(&reading.join().unwrap());
    assert!(log.contains("/range/{prefix}") && log.contains("?mode=ntlm"), "{log}");
    let shown = log.lines().find(|line| line.to_ascii_lowercase().contains("5baa6"));
    assert_eq!(shown, None);
}
