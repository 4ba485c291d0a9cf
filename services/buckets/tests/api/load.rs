use buckets::engine::Mode;
use buckets::jobs::LoadError;
use buckets::jobs::intake::MaxErrors;
use buckets::jobs::load::dry_run;
use buckets::jobs::progress::Progress;
use buckets::jobs::session::Session;
use buckets::jobs::{export, status, verify};
use buckets::store::{rejected, run};

use crate::support::{NOW, Place, line, samples};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

fn sound(place: &Place) {
    assert_eq!(verify::faults(&place.shop).unwrap(), Vec::<String>::new());
}

fn exported(place: &Place, bucket: Option<&str>) -> Vec<String> {
    let mut out = Vec::new();
    export::export(&place.shop, bucket, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn loading_the_samples_again_changes_nothing_visible() {
    let place = Place::with_samples();
    let before = exported(&place, None);
    let report = place.load(&[samples()]).unwrap();
    assert_eq!((report.counts.added, report.counts.replaced, report.counts.removed), (0, 105, 0));
    assert_eq!((report.buckets_new, report.buckets_changed), (0, 6));
    assert_eq!(report.tally.skipped_directory_markers, 1);
    assert_eq!(exported(&place, None), before);
    sound(&place);
}

#[test]
fn replace_gives_named_buckets_exactly_the_files_of_the_run() {
    let place = Place::new();
    place.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1), &line(B, "1", 1, 1)]);
    let report = place.load_lines(&[&line(A, "2", 9, 1), &line(A, "3", 1, 1)]);
    let counts = report.counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (1, 1, 1));
    let lines = exported(&place, None);
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains(B) && lines[1].contains(r#""fullPath":"2","size":9"#), "{lines:?}");
    sound(&place);
}

#[test]
fn append_adds_and_replaces_equal_paths() {
    let place = Place::new();
    place.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1)]);
    let path =
        place.folder.write("more.ndjson", [line(A, "2", 5, 1), line(A, "3", 1, 1)].join("\n"));
    let options = buckets::jobs::load::Options { mode: Mode::Append, ..Place::options(&[path]) };
    let counts = place.run(&options).unwrap().counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (1, 1, 0));
    assert_eq!(exported(&place, Some(A)).len(), 3);
    sound(&place);
}

#[test]
fn the_last_of_equal_paths_counts() {
    let place = Place::new();
    let report =
        place.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 2, 1), &line("s3://a", "1", 3, 1)]);
    assert_eq!((report.counts.added, report.counts.duplicates), (2, 1));
    assert!(exported(&place, None).iter().any(|l| l.contains(r#""fullPath":"1","size":3"#)));
}

#[test]
fn an_export_loads_to_the_same_index() {
    let first = Place::with_samples();
    let lines = exported(&first, None);
    let second = Place::new();
    second.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(exported(&second, None), lines);
}

#[test]
fn every_kind_of_bad_line_is_counted_and_named() {
    let place = Place::new();
    let long = "x".repeat(4_097);
    let bad: Vec<Vec<u8>> = vec![
        b"{\"bucket\":\"a.s3.amazonaws.com\",\"fullPath\":\"\xff\",\"size\":1}".to_vec(),
        b"{\"bucket\":\"a.s3".to_vec(),
        br#"{"bucket":"a.s3.amazonaws.com","size":1}"#.to_vec(),
        br#"{"fullPath":"x","size":1}"#.to_vec(),
        br#"{"bucket":"a.s3.amazonaws.com","fullPath":"x"}"#.to_vec(),
        line(A, "", 1, 1).into_bytes(),
        line(A, &long, 1, 1).into_bytes(),
        line(A, "a\0b", 1, 1).into_bytes(),
        line(A, "x", -1, 1).into_bytes(),
        br#"{"bucket":"a.s3.amazonaws.com","fullPath":"x","size":9223372036854775808}"#.to_vec(),
        br#"{"bucket":"a.s3.amazonaws.com","fullPath":"x","size":1,"lastModified":"soon"}"#
            .to_vec(),
        line("files.example.org", "x", 1, 1).into_bytes(),
        line("not a host", "x", 1, 1).into_bytes(),
    ];
    let mut content = bad.join(&b'\n');
    content.extend_from_slice(format!("\n\n{}", line(A, "good", 1, 1)).as_bytes());
    let path = place.folder.write("bad.ndjson", content);
    let reject = place.folder.join("rejected.ndjson");
    let options = buckets::jobs::load::Options {
        max_errors: MaxErrors::Count(100),
        reject: Some(reject.clone()),
        ..Place::options(&[path])
    };
    let report = place.run(&options).unwrap();
    assert_eq!((report.tally.bad, report.counts.added), (bad.len() as u64, 1));
    let kept = place
        .shop
        .pools
        .read_blocking(|db| rejected::of_run(db, report.run.unwrap(), 100))
        .unwrap();
    let reasons: Vec<(i64, &str)> =
        kept.iter().map(|line| (line.position, line.reason.split(':').next().unwrap())).collect();
    assert_eq!(
        reasons,
        [
            (1, "the line is not UTF-8"),
            (2, "broken JSON"),
            (3, "the field fullPath is missing"),
            (4, "the field bucket is missing"),
            (5, "the field size is missing"),
            (6, "the path is empty"),
            (7, "the path is longer than 4096 bytes"),
            (8, "the path contains a NUL"),
            (9, "the size is not in 0..2^63-1"),
            (10, "the size is not in 0..2^63-1"),
            (11, "the date cannot be read"),
            (12, "unknown provider"),
            (13, "the bucket address has a character that no host name has"),
        ]
    );
    assert!(kept.iter().all(|line| line.excerpt.len() <= 300));
    let whole = std::fs::read_to_string(reject).unwrap();
    assert_eq!(whole.lines().count(), bad.len());
    assert!(whole.contains(&long), "the reject file has whole lines");
}

#[test]
fn too_many_bad_lines_publish_nothing() {
    let place = Place::new();
    place.load_lines(&[&line(A, "kept", 1, 1)]);
    let mut lines: Vec<String> = (0..2_000).map(|n| line(A, &n.to_string(), 1, 1)).collect();
    lines.extend((0..21).map(|_| "{".to_owned()));
    let path = place.folder.write("many.ndjson", lines.join("\n"));
    match place.load(std::slice::from_ref(&path)) {
        Err(LoadError::TooManyBad { bad: 21, lines: 2_021 }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(exported(&place, None).len(), 1);
    let status = status::status(&place.shop).unwrap();
    assert_eq!(status["runs"][0]["state"], "failed");
    assert_eq!(status["open_run"], serde_json::Value::Null);
    let options = buckets::jobs::load::Options {
        max_errors: "2%".parse().unwrap(),
        ..Place::options(&[path])
    };
    assert_eq!(place.run(&options).unwrap().counts.added, 2_000);
    sound(&place);
}

#[test]
fn a_million_bad_lines_end_early() {
    let place = Place::new();
    let path = place.folder.write("hostile.ndjson", "{}\n".repeat(1_000_000));
    match place.load(&[path]) {
        Err(LoadError::TooManyBad { bad: 1_000, lines: 1_000 }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::new();
    let path = place.folder.write("x.ndjson", [line(A, "1", 1, 1), "{".to_owned()].join("\n"));
    let options = Place::options(&[path]);
    let report = dry_run(&place.shop, &options).unwrap();
    assert_eq!((report.tally.files, report.tally.bad, report.run), (1, 1, None));
    assert_eq!(exported(&place, None), Vec::<String>::new());
    assert_eq!(status::status(&place.shop).unwrap()["runs"], serde_json::json!([]));
}

#[test]
fn a_source_that_cannot_be_read_starts_no_run() {
    let place = Place::new();
    let missing = place.folder.join("missing.ndjson");
    assert!(buckets::jobs::load::sources_of(&[missing]).is_err());
    let garbage = place.folder.write("garbage", "what is this");
    assert!(matches!(place.load(&[garbage]), Err(LoadError::Refused(_))));
}

#[test]
fn options_of_the_command_line_fill_in_what_a_source_lacks() {
    let place = Place::new();
    let path = place
        .folder
        .write("x.ndjson", r#"{"key":"1","Size":"7","LastModified":"2020-01-01T00:00:00Z"}"#);
    let options = buckets::jobs::load::Options {
        bucket: Some("files.example.org".to_owned()),
        kind: Some("gcp".to_owned()),
        ..Place::options(&[path])
    };
    place.run(&options).unwrap();
    let expected = r#"{"bucket":"files.example.org","type":"gcp","fullPath":"1","size":7,"lastModified":1577836800}"#;
    assert_eq!(exported(&place, Some("files.example.org")), [expected]);
}

#[actix_web::test]
async fn a_server_notices_a_publish() {
    let place = Place::new();
    place.load_lines(&[&line(A, "1", 1, 1)]);
    let app = place.serve("free").await;
    assert_eq!(app.results("").await, 1);
    place.load_lines(&[&line(A, "2", 1, 1), &line(B, "3", 1, 1)]);
    app.state.refresh().unwrap();
    assert_eq!(app.paths("").await, ["2", "3"]);
}

#[test]
fn a_second_run_is_told_which_one_loads() {
    let place = Place::new();
    let session = Session::open(&place.shop, "a run loads files").unwrap();
    let begun = |db: &mut database::Db| run::begin(db, "replace", "{}", 1);
    let id = place.shop.pools.write_blocking(begun).unwrap();
    let refused = place.load(&[samples()]).unwrap_err().to_string();
    assert_eq!(refused, format!("the index is being written: a run loads files (run {id})"));
    drop(session);
    place.load(&[samples()]).unwrap();
    let status = status::status(&place.shop).unwrap();
    assert_eq!(status["runs"][1]["state"], "failed", "its process is gone");
}

#[test]
fn status_tells_how_far_a_run_is() {
    let place = Place::new();
    let progress = serde_json::json!({
        "sources_done": 1, "sources": 3, "bytes_done": 5 << 20, "bytes": 20 << 20, "files": 1000,
        "bad": 2, "files_per_second": 250.4, "seconds_left": 12.2, "at": NOW,
    });
    place
        .shop
        .pools
        .write_blocking(|db| {
            let id = run::begin(db, "replace", "{}", NOW)?;
            run::set_progress(db, id, &progress.to_string())
        })
        .unwrap();
    let text = status::as_text(&status::status(&place.shop).unwrap());
    let expected = "run 1 replace running since 2026-11-20T00:00:00Z: 1/3 sources, 5/20 MiB, \
                    1000 files, 2 bad, 250 files/s, 12 s left\n";
    assert!(text.ends_with(expected), "{text}");
    let run = place.shop.pools.read_blocking(run::under_way).unwrap();
    assert_eq!(Progress::rate(run.as_ref(), NOW + 10), 250.4);
    assert_eq!(Progress::rate(run.as_ref(), NOW + 11), 0.0, "its process may be gone");
    assert_eq!(Progress::rate(None, NOW), 0.0);
}
