//! What a stop does to requests under way.

use std::process::Command;
use std::time::{Duration, Instant};

use passwords::model::Kind;
use testkit::stop_under_load;

use crate::app::{Data, Numbers};

/// A data folder with a corpus that has one range.
fn data() -> Data {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0x5BAA6, 800)]));
    data
}

#[test]
fn a_stop_loses_no_request() {
    stop_under_load(data().program(), "/range/5BAA6", &[]);
}

#[test]
fn a_look_for_a_corpus_that_hangs_does_not_outlive_the_time_of_a_stop() {
    let data = data();
    let served = data.program().serve(&["--reload-interval", "1", "--shutdown-timeout", "1"]);
    let current = data.path().join("sha1/CURRENT");
    std::fs::remove_file(&current).unwrap();
    assert!(Command::new("mkfifo").arg(&current).status().unwrap().success());
    // Whoever opens a pipe to write waits until the reader is there: the look hangs from now on.
    let writer = std::fs::OpenOptions::new().write(true).open(&current).unwrap();
    let begin = Instant::now();
    assert_eq!(served.stop(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    drop(writer);
}
