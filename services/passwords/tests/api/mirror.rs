//! Mirrors of a local range service: complete, changed, interrupted, and over an unreliable
//! network.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use passwords::model::{Entry, Kind};
use rstest::rstest;
use serde_json::Value;
use testkit::{Served, exchange, until_blocking};

use crate::app::{Data, Numbers, expected_range, hash_list};
use crate::mirror_faults::{Fault, proxy};

const RANGES: u32 = 300;

/// Returns entries that leave some ranges empty and fill one.
fn entries(kind: Kind, seed: u64) -> Vec<Entry> {
    let mut numbers = Numbers::new(seed);
    let sizes: Vec<_> = (0..RANGES).map(|prefix| (prefix, (prefix % 4) as usize)).collect();
    let mut entries = numbers.entries(kind, &sizes);
    entries.extend(numbers.entries(kind, &[(7, 900)]));
    entries.sort_by(Entry::compare);
    entries
}

/// A range service that serves these entries.
struct Origin {
    data: Data,
    server: Served,
}

impl Origin {
    fn new(lists: &[(Kind, &[Entry])]) -> Self {
        let data = Data::new();
        for (kind, entries) in lists {
            data.activate(*kind, entries);
        }
        let server = data.program().serve(&["--reload-interval", "0"]);
        Self { data, server }
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.http())
    }

    /// Replaces the entries.
    fn change(&mut self, kind: Kind, entries: &[Entry]) {
        self.data.activate(kind, entries);
        self.server.process().signal("HUP");
        let last = entries.last().unwrap().prefix();
        let expected = expected_range(kind, entries, last);
        let request =
            format!("GET /range/{last:05X} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        until_blocking("the new corpus is served", || {
            exchange(self.server.http(), &request).text() == expected
        });
    }
}

/// Mirrors the first ranges and returns the report of each kind.
fn mirror(data: &Data, url: &str, extra: &[&str]) -> Vec<Value> {
    let count = RANGES.to_string();
    let arguments = [&["mirror", url, "--first", &count, "--activate", "--json"], extra].concat();
    let printed = data.done(&arguments);
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the id of the corpus in use.
fn current(data: &Data, kind: Kind) -> String {
    let name = std::fs::read_to_string(data.path().join(kind.name()).join("CURRENT")).unwrap();
    name.trim_end().to_owned()
}

fn numbers(report: &Value, names: [&str; 3]) -> [u64; 3] {
    names.map(|name| report[name].as_u64().unwrap())
}

#[test]
fn second_mirror_fetches_only_changed_ranges() {
    let lists = Kind::ALL.map(|kind| (kind, entries(kind, 1)));
    let mut origin = Origin::new(&[(lists[0].0, &lists[0].1), (lists[1].0, &lists[1].1)]);
    let data = Data::new();
    let first = mirror(&data, &origin.url(), &[]);
    let names = ["changed", "unchanged", "resumed"];
    for (kind, report) in Kind::ALL.iter().zip(&first) {
        assert_eq!(report["kind"], kind.name());
        assert_eq!(numbers(report, names), [RANGES.into(), 0, 0]);
        assert_eq!(current(&data, *kind), current(&origin.data, *kind));
    }
    let mut changed = lists[0].1.clone();
    changed[5].count ^= 1;
    changed.pop();
    origin.change(Kind::Sha1, &changed);
    let second = mirror(&data, &origin.url(), &[]);
    assert_eq!(numbers(&second[0], names), [2, u64::from(RANGES) - 2, 0]);
    assert_eq!(numbers(&second[1], names), [0, RANGES.into(), 0]);
    for kind in Kind::ALL {
        assert_eq!(current(&data, kind), current(&origin.data, kind));
    }
    data.done(&["prune"]);
    let left = std::fs::read_dir(data.path().join("sha1")).unwrap().count();
    assert_eq!(left, 4, "CURRENT, .lock, the corpus and its tags");
}

#[test]
fn killed_mirror_resumes_and_the_next_run_fetches_later_changes() {
    let (old, new) = (entries(Kind::Sha1, 1), entries(Kind::Sha1, 2));
    let mut origin = Origin::new(&[(Kind::Sha1, &old)]);
    let (data, url) = (Data::new(), origin.url());
    let log = data.path().join("sha1/mirror.log");
    let length = || std::fs::metadata(&log).map_or(0, |data| data.len());
    let slow = ["mirror", &url, "--kind", "sha1", "--first", "300", "--rate", "150"];
    let mut process = data.program().start(&slow);
    until_blocking("the mirror has begun", || length() > 0);
    let begun = length();
    assert!(process.kill_when(|| length() > begun), "it was killed in the middle");
    // A power failure can leave arbitrary bytes at the end of a file.
    for path in [&log, &data.path().join("sha1/mirror.data")] {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(&[0xA5; 700]).unwrap();
    }
    origin.change(Kind::Sha1, &new);
    let elsewhere = proxy(origin.server.http(), &[Fault::None]);
    let other = data.run(&["mirror", &elsewhere, "--kind", "sha1"]);
    assert!(other.errors.contains(&format!("unfinished mirror of {url}")), "{}", other.errors);
    let report = &mirror(&data, &url, &["--kind", "sha1"])[0];
    let [changed, unchanged, resumed] = numbers(report, ["changed", "unchanged", "resumed"]);
    assert_eq!((changed + resumed, unchanged), (RANGES.into(), 0));
    assert!(resumed > 0 && changed > 0);
    // Each range is either the old or the new one, and all ranges that were kept are used.
    let corpus =
        passwords::Corpus::open(&PathBuf::from(report["path"].as_str().unwrap()), 0).unwrap();
    for value in 0..RANGES {
        let prefix = domain::HashPrefix::from_value(value).unwrap();
        let mut buffer = Vec::new();
        let bytes = corpus.sound_bytes(prefix, &mut buffer).unwrap();
        let bucket = passwords::model::Bucket::parse(Kind::Sha1, bytes).unwrap();
        let text = String::from_utf8(passwords::model::render::text(&bucket).unwrap()).unwrap();
        let list = if u64::from(value) < resumed { &old } else { &new };
        assert_eq!(text, expected_range(Kind::Sha1, list, value), "{value}");
    }
    mirror(&data, &url, &["--kind", "sha1"]);
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
}

#[test]
fn network_faults_are_retried() {
    const FAULTS: &[Fault] = &[
        Fault::None,
        Fault::None,
        Fault::None,
        Fault::Busy,
        Fault::None,
        Fault::Cut,
        Fault::None,
        Fault::Closed,
        Fault::None,
        Fault::Foreign,
        Fault::None,
    ];
    let origin = Origin::new(&[(Kind::Sha1, &entries(Kind::Sha1, 3))]);
    let (data, url) = (Data::new(), proxy(origin.server.http(), FAULTS));
    let report = &mirror(&data, &url, &["--kind", "sha1"])[0];
    assert!(report["retries"].as_u64().unwrap() > u64::from(RANGES) / 4);
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
    // Each stall lasts for the full timeout, so the test contains only a few.
    let data = Data::new();
    let url = proxy(origin.server.http(), &[Fault::None, Fault::Stalled, Fault::None]);
    let stalled = ["--kind", "sha1", "--timeout", "1", "--first", "9", "--json"];
    let report: Value =
        serde_json::from_str(&data.done(&[&["mirror", &url], &stalled[..]].concat())).unwrap();
    assert_eq!((&report["changed"], &report["activated"]), (&9.into(), &false.into()));
    assert!(!data.path().join("sha1/CURRENT").exists());
}

#[rstest]
#[case(&[Fault::Moved], "301 Moved Permanently: the service has moved, see https://new.example/")]
#[case(&[Fault::Missing], "404 Not Found")]
#[case(&[Fault::Foreign], "line 1 of the response: expected 35 hexadecimal characters")]
#[case(&[Fault::Endless], "responses have no length")]
#[case(&[Fault::Coded], "responses have no length")]
#[case(&[Fault::Busy], "after 2 attempts: the response is 429 Too Many Requests")]
#[case(
    &[Fault::NotModified],
    "after 2 attempts: the response is 304 Not Modified, but the request had no tag"
)]
#[case(&[Fault::BusyForADay], "asked to pause for 1 d (429); pausing for 1 s (--longest-pause)")]
fn other_services_are_one_clear_error(#[case] faults: &'static [Fault], #[case] said: &str) {
    let data = Data::new();
    let url = proxy("127.0.0.1:1".parse().unwrap(), faults);
    let output = data.run(&["mirror", &url, "--attempts", "2", "--longest-pause", "1"]);
    assert_eq!(output.code, Some(1));
    assert!(output.errors.contains(said), "{}", output.errors);
}

#[test]
fn missing_kind_fails_before_any_fetch() {
    let origin = Origin::new(&[(Kind::Sha1, &entries(Kind::Sha1, 1))]);
    let data = Data::new();
    let output = data.run(&["mirror", &origin.url(), "--attempts", "1"]);
    assert!(
        output.errors.contains("503 Service Unavailable (The NTLM corpus"),
        "{}",
        output.errors
    );
    assert!(!data.path().join("sha1/mirror.log").exists());
}

#[test]
fn ca_file_is_trusted_for_https() {
    let origin = Data::new();
    let list = entries(Kind::Sha1, 4);
    origin.activate(Kind::Sha1, &list);
    let server = origin.program().serve(&["--tls-mode", "native"]);
    let log = server.log().clone();
    let at = log.find("https://").unwrap();
    let port: String = log[at..].chars().skip_while(|c| !c.is_ascii_digit()).collect();
    let port = port
        .split_once(':')
        .unwrap()
        .1
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>();
    let (data, url) = (Data::new(), format!("https://localhost:{port}/range/"));
    let untrusted = data.run(&["mirror", &url, "--kind", "sha1"]);
    assert!(untrusted.errors.contains("invalid peer certificate"), "{}", untrusted.errors);
    let ca = origin.path().join("tls/ca.pem");
    mirror(&data, &url, &["--kind", "sha1", "--ca-file", ca.to_str().unwrap()]);
    assert_eq!(current(&data, Kind::Sha1), current(&origin, Kind::Sha1));
    let none = data.write("empty.pem", hash_list(Kind::Sha1, &list));
    let output = data.run(&["mirror", &url, "--ca-file", none.to_str().unwrap()]);
    assert!(output.errors.contains("does not contain any PEM certificates"), "{}", output.errors);
}

#[test]
fn mirror_replaces_a_damaged_current() {
    let origin = Origin::new(&[(Kind::Sha1, &entries(Kind::Sha1, 8))]);
    let data = Data::new();
    data.write("sha1/CURRENT", "");
    mirror(&data, &origin.url(), &["--kind", "sha1"]);
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
}

#[test]
fn full_disk_keeps_the_reported_ranges() {
    let origin = Origin::new(&[(Kind::Sha1, &entries(Kind::Sha1, 5))]);
    let data = Data::new();
    // A file size limit fails in the same way as a full disk, here in the first buckets.
    let script = format!(
        "trap '' XFSZ; ulimit -f 16400; exec {} mirror {} --kind sha1 --first {RANGES}",
        env!("CARGO_BIN_EXE_passwords"),
        origin.url()
    );
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script]).env("DATA_DIR", data.path());
    let output = data.program().run_command(command);
    assert_eq!(output.code, Some(1), "{}", output.errors);
    let (before, _) = output.errors.split_once(" ranges are kept").unwrap();
    let kept: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    let report = &mirror(&data, &origin.url(), &["--kind", "sha1"])[0];
    assert!(kept < RANGES.into() && report["resumed"] == kept, "{kept}: {report}");
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
}

#[test]
fn mirror_of_fewer_ranges_than_an_unfinished_run_keeps_is_refused() {
    let list = entries(Kind::Sha1, 7);
    let origin = Origin::new(&[(Kind::Sha1, &list)]);
    let (data, url) = (Data::new(), origin.url());
    let log = data.path().join("sha1/mirror.log");
    let length = || std::fs::metadata(&log).map_or(0, |data| data.len());
    let slow = ["mirror", &url, "--kind", "sha1", "--first", "300", "--rate", "150"];
    let mut process = data.program().start(&slow);
    until_blocking("the mirror has begun", || length() > 0);
    let begun = length();
    assert!(process.kill_when(|| length() > begun), "it was killed in the middle");
    let refused = data.run(&["mirror", &url, "--kind", "sha1", "--first", "1", "--activate"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("more than the first 1"), "{}", refused.errors);
    // The progress of the unfinished run is still there.
    let report = &mirror(&data, &url, &["--kind", "sha1"])[0];
    assert!(numbers(report, ["changed", "unchanged", "resumed"])[2] > 1, "{report}");
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
}

#[test]
fn damaged_partial_mirror_is_fetched_again_from_the_damage() {
    let list = entries(Kind::Sha1, 6);
    let origin = Origin::new(&[(Kind::Sha1, &list)]);
    let (data, url) = (Data::new(), origin.url());
    let log = data.path().join("sha1/mirror.log");
    let length = || std::fs::metadata(&log).map_or(0, |data| data.len());
    let slow = ["mirror", &url, "--kind", "sha1", "--first", "300", "--rate", "150"];
    let mut process = data.program().start(&slow);
    until_blocking("the mirror has begun", || length() > 0);
    let begun = length();
    assert!(process.kill_when(|| length() > begun), "it was killed in the middle");
    let kept = data.path().join("sha1/mirror.data");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(kept).unwrap();
    // The first range is empty. This byte belongs to the second one.
    let at = 4096 + 16 * ((1 << 20) + 1) + 40;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    let report = &mirror(&data, &url, &["--kind", "sha1"])[0];
    assert_eq!(numbers(report, ["changed", "unchanged", "resumed"]), [u64::from(RANGES) - 1, 0, 1]);
    assert_eq!(current(&data, Kind::Sha1), current(&origin.data, Kind::Sha1));
}
