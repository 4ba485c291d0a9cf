//! Stopping while requests are in progress.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Command;

use passwords::model::Kind;
use testkit::{Process, stop_under_load, until_blocking};

use crate::app::{Data, Numbers};

/// Returns a data folder with a corpus of one range.
fn data() -> Data {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0x5BAA6, 800)]));
    data
}

#[test]
fn stop_finishes_running_requests() {
    stop_under_load(data().program(), "/range/5BAA6", &[]);
}

#[test]
fn systemd_is_notified_of_start_liveness_and_stop() {
    let data = data();
    let path = data.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let next = || {
        let mut message = [0; 200];
        let length = manager.recv(&mut message).unwrap();
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    let mut command = data.program().serving(&[]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "60000000");
    let mut process = Process::spawn(&mut command);
    assert_eq!(next(), "READY=1\n");
    assert_eq!(next(), "WATCHDOG=1\n");
    process.signal("HUP");
    assert!(next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(next(), "READY=1\n");
    process.signal("TERM");
    assert_eq!(next(), "STOPPING=1\n");
    assert_eq!(process.wait(), Some(0));
}

#[test]
fn hanging_reload_does_not_delay_a_stop() {
    let data = data();
    let served = data.program().serve(&["--reload-interval", "1", "--shutdown-timeout", "1"]);
    let current = data.path().join("sha1/CURRENT");
    fs::remove_file(&current).unwrap();
    assert!(Command::new("mkfifo").arg(&current).status().unwrap().success());
    // Opening a pipe for writing blocks until a reader opens it. The reload therefore hangs.
    let writer = fs::OpenOptions::new().write(true).open(&current).unwrap();
    assert_eq!(served.stop(), Some(0), "the stop ends while the pipe is still open");
    drop(writer);
}

#[test]
fn stop_during_the_start_finishes_accepted_requests() {
    let data = data();
    let (socket, log) = (data.path().join("socket"), data.path().join("log"));
    for _ in 0..5 {
        let mut command = data.program().serving(&[]);
        command.env("BIND", format!("unix:{}", socket.display()));
        let mut process = Process::spawn(command.stderr(File::create(&log).unwrap()));
        let mut stream = loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                break stream;
            }
            assert!(!process.has_ended(), "{}", fs::read_to_string(&log).unwrap());
        };
        stream.write_all(b"GET /range/5BAA6 HTTP/1.0\r\n\r\n").unwrap();
        process.signal("TERM");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 200") && answer.lines().count() > 800, "{answer}");
        assert_eq!(process.wait(), Some(0));
        let log = fs::read_to_string(&log).unwrap();
        assert!(log.contains("SIGTERM: finishing requests") && log.contains("stopped"), "{log}");
    }
}

#[test]
fn stop_ends_a_start_that_waits_for_a_certificate() {
    let data = data();
    let (tls, log) = (data.path().join("tls"), data.path().join("log"));
    fs::create_dir(&tls).unwrap();
    let lock = File::create(tls.join("lock")).unwrap();
    lock.lock().unwrap();
    let mut command = data.program().serving(&[]);
    command.env("TLS_MODE", "native").env("TLS_DIR", &tls);
    let mut process = Process::spawn(command.stderr(File::create(&log).unwrap()));
    let log = || fs::read_to_string(&log).unwrap();
    until_blocking("the server waits", || log().contains("waiting for"));
    process.signal("TERM");
    assert_eq!(process.wait(), Some(0));
    assert!(log().contains("stopped during startup"), "{}", log());
}
