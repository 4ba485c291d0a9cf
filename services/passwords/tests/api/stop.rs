//! Stopping with requests in progress.

use std::process::Command;

use passwords::model::Kind;
use testkit::stop_under_load;

use crate::app::{Data, Numbers};

/// A data folder with a corpus of one range.
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
fn hanging_reload_does_not_delay_a_stop() {
    let data = data();
    let served = data.program().serve(&["--reload-interval", "1", "--shutdown-timeout", "1"]);
    let current = data.path().join("sha1/CURRENT");
    std::fs::remove_file(&current).unwrap();
    assert!(Command::new("mkfifo").arg(&current).status().unwrap().success());
    // Opening a pipe for writing blocks until a reader opens it. From now on, the reload hangs.
    let writer = std::fs::OpenOptions::new().write(true).open(&current).unwrap();
    assert_eq!(served.stop(), Some(0), "the stop ends while the pipe is still open");
    drop(writer);
}
