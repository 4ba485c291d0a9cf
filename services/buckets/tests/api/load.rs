use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use buckets::engine::{Limits, Mode};
use buckets::jobs::{
    JobContext, JobError, MaxErrors, Session, dry_run, export, remove, status, verify,
};
use buckets::model::FileQuery;
use buckets::store::{load_runs, rejected_lines};
use rstest::rstest;

use crate::app::{Fixture, line, samples};
use crate::failing_index::FailingSearches;
use crate::program::{Program, text};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

fn sound(fixture: &Fixture) {
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

fn exported(fixture: &Fixture, bucket: Option<&str>) -> Vec<String> {
    let mut out = Vec::new();
    export(&fixture.context, bucket, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn reloading_samples_changes_no_result() {
    let fixture = Fixture::with_samples();
    let before = exported(&fixture, None);
    let segments = || -> BTreeSet<PathBuf> {
        let words = fixture.folder.join("index/generation-1/words");
        let files = std::fs::read_dir(words).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.file_stem().is_some_and(|name| name.len() == 32)).collect()
    };
    let (written, report) = (segments(), fixture.load(&[samples()]).unwrap());
    assert!(!written.is_empty());
    assert_eq!(segments(), written, "no file of the index is written again");
    let counts = report.counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (0, 0, 0));
    assert_eq!(counts.unchanged, 105);
    assert_eq!(status(&fixture.context).unwrap()["dead_rows"], 0);
    assert_eq!((report.buckets_new, report.buckets_changed, report.buckets_unchanged), (0, 0, 6));
    assert_eq!(report.tally.skipped_directory_markers, 1);
    assert_eq!(exported(&fixture, None), before);
    sound(&fixture);
}

#[test]
fn export_keeps_empty_buckets() {
    let fixture = Fixture::new();
    // A directory marker.
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(B, "empty/", 0, 0)]);
    let lines = exported(&fixture, None);
    let copy = Fixture::new();
    copy.load(&[copy.folder.write("export.ndjson", lines.join("\n"))]).unwrap();
    let listed = copy.context.buckets().unwrap();
    let listed = listed.values().filter(|bucket| bucket.first_indexed.is_some());
    assert_eq!(listed.count(), 2);
    assert_eq!(exported(&copy, None), lines);
    assert_eq!(exported(&copy, Some(A)).len(), 1);
}

#[test]
fn bucket_that_is_removed_during_an_export_is_not_exported_as_empty() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(B, "1", 1, 1)]);
    let context = fixture.context.clone();
    let removing = move || drop(remove(&context, A, "", "asked", "tester").unwrap());
    let generations = FailingSearches::during(&fixture.context.generations, 1, removing);
    let context = JobContext { generations, ..fixture.context.clone() };
    let mut out = Vec::new();
    assert_eq!(export(&context, None, &mut out).unwrap(), 1);
    assert!(!String::from_utf8(out).unwrap().contains(A));
}

#[test]
fn replace_mode_replaces_files_of_named_buckets() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1), &line(B, "1", 1, 1)]);
    let report = fixture.load_lines(&[&line(A, "2", 9, 1), &line(A, "3", 1, 1)]);
    let counts = report.counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (1, 1, 1));
    let lines = exported(&fixture, None);
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains(B) && lines[1].contains(r#""fullPath":"2","size":9"#), "{lines:?}");
    sound(&fixture);
}

#[test]
fn changed_files_are_replaced_and_others_stay() {
    let fixture = Fixture::new();
    let ids = |fixture: &Fixture| -> Vec<(u64, String)> {
        let index = fixture.context.open_index().unwrap();
        let found = index.search(&FileQuery::default(), &Limits::none()).unwrap();
        found.rows.into_iter().map(|row| (row.id, row.path)).collect()
    };
    let all: Vec<String> = (0..9).map(|n| line(A, &n.to_string(), 1, 1)).collect();
    fixture.load_lines(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let before = ids(&fixture);
    let mut next = all[..7].to_vec();
    next[2] = line(A, "2", 1, 2);
    next.extend([line(A, "new", 1, 1), line(A, "0", 1, 1)]);
    let report = fixture.load_lines(&next.iter().map(String::as_str).collect::<Vec<_>>());
    let counts = report.counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (1, 1, 2));
    assert_eq!((counts.unchanged, counts.duplicates), (6, 1));
    let text = report.to_string();
    assert!(text.contains("files: 1 new, 1 changed, 2 gone, 6 unchanged"), "{text}");
    let kept = before.iter().filter(|(_, path)| !["2", "7", "8"].contains(&path.as_str()));
    let new = [(10, "2".to_owned()), (11, "new".to_owned())];
    assert_eq!(ids(&fixture), kept.cloned().chain(new).collect::<Vec<_>>());
    assert_eq!(status(&fixture.context).unwrap()["dead_rows"], 3, "replaced and removed files");
    sound(&fixture);
}

#[test]
fn only_buckets_with_differences_are_counted_as_changed() {
    let fixture = Fixture::new();
    let file = |bucket: &str, path: &str| line(bucket, path, 1, 1);
    let c = "c.s3.amazonaws.com";
    fixture.load_lines(&[&file(A, "1"), &file(A, "2"), &file(B, "1"), &file(c, "1")]);
    // One file of A is missing, B is unchanged, and D is new.
    let report =
        fixture.load_lines(&[&file(A, "1"), &file(B, "1"), &file("d.s3.amazonaws.com", "1")]);
    let buckets = (report.buckets_new, report.buckets_changed, report.buckets_unchanged);
    assert_eq!(buckets, (1, 1, 1));
    let text = report.to_string();
    assert!(text.contains("\nbuckets: 1 new, 1 changed, 1 unchanged\n"), "{text}");
}

#[test]
fn append_mode_adds_and_replaces_equal_paths() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 1, 1)]);
    let path =
        fixture.folder.write("more.ndjson", [line(A, "2", 5, 1), line(A, "3", 1, 1)].join("\n"));
    let options = buckets::jobs::LoadOptions { mode: Mode::Append, ..Fixture::options(&[path]) };
    let counts = fixture.run(&options).unwrap().counts;
    assert_eq!((counts.added, counts.replaced, counts.removed), (1, 1, 0));
    assert_eq!(exported(&fixture, Some(A)).len(), 3);
    sound(&fixture);
}

#[test]
fn truncated_source_removes_no_file() {
    let fixture = Fixture::new();
    let old = [line(A, "kept", 1, 1), line(A, "0", 1, 1), line(B, "1", 1, 1), line(B, "2", 1, 1)];
    fixture.load_lines(&old.each_ref().map(String::as_str));
    let lines: Vec<String> = (0..20_000_i64).map(|n| line(A, &n.to_string(), n + 5, 1)).collect();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(lines.join("\n").as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let cut = fixture.folder.write("cut.ndjson.gz", &gz[..gz.len() / 2]);
    let whole = fixture.folder.write("whole.ndjson", line(B, "2", 7, 1));
    let report = fixture.load(&[cut, whole]).unwrap();
    let counts = report.counts;
    assert_eq!(report.tally.incomplete.len(), 1);
    assert_eq!((counts.replaced, counts.removed, counts.duplicates), (2, 1, 0));
    assert_eq!(exported(&fixture, Some(B)).len(), 1, "the whole source replaces");
    let now = exported(&fixture, Some(A));
    assert_eq!(now.len() as u64, counts.added + 2);
    let has = |text: &str| now.iter().any(|line| line.contains(text));
    assert!(has(r#""fullPath":"kept","size":1,"#) && has(r#""fullPath":"0","size":5,"#));
    sound(&fixture);
    // A complete listing replaces the files.
    let all = fixture.folder.write("all.ndjson.gz", gz);
    let report = fixture.load(&[all]).unwrap();
    assert_eq!(report.counts.removed, 1);
    assert_eq!(exported(&fixture, Some(A)).len(), 20_000);
}

#[test]
fn last_duplicate_path_wins() {
    let fixture = Fixture::new();
    let report =
        fixture.load_lines(&[&line(A, "1", 1, 1), &line(A, "2", 2, 1), &line("s3://a", "1", 3, 1)]);
    assert_eq!((report.counts.added, report.counts.duplicates), (2, 1));
    assert!(exported(&fixture, None).iter().any(|l| l.contains(r#""fullPath":"1","size":3"#)));
}

#[test]
fn last_duplicate_path_wins_in_a_bucket_of_a_later_provider() {
    let fixture = Fixture::new();
    let typed = |bucket: &str, kind: &str, size: u32| {
        format!(r#"{{"bucket":"{bucket}","type":"{kind}","fullPath":"1","size":{size}}}"#)
    };
    // The first file in the segment is not of the first provider.
    let lines = [
        typed("a.example.org", "azure", 1),
        typed("b.example.org", "aws", 1),
        typed("b.example.org", "aws", 2),
        typed("b.example.org", "aws", 3),
    ];
    let report = fixture.load_lines(&lines.each_ref().map(String::as_str));
    assert_eq!((report.counts.added, report.counts.duplicates), (2, 2));
    let files = exported(&fixture, Some("b.example.org"));
    assert!(files[0].contains(r#""type":"aws","fullPath":"1","size":3"#), "{files:?}");
    sound(&fixture);
}

#[test]
fn export_reloads_to_equal_index() {
    let first = Fixture::with_samples();
    let lines = exported(&first, None);
    let second = Fixture::new();
    second.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(exported(&second, None), lines);
}

#[test]
fn bad_lines_are_counted_with_reasons() {
    let fixture = Fixture::new();
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
    let path = fixture.folder.write("bad.ndjson", content);
    let reject = fixture.folder.join("rejected.ndjson");
    let options = buckets::jobs::LoadOptions {
        max_errors: MaxErrors::Count(100),
        reject: Some(reject.clone()),
        ..Fixture::options(&[path])
    };
    let report = fixture.run(&options).unwrap();
    assert_eq!((report.tally.bad, report.counts.added), (bad.len() as u64, 1));
    let kept = fixture
        .context
        .pools
        .read_blocking(|db| rejected_lines::of_run(db, report.run.unwrap(), 100))
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
            (11, "the date cannot be parsed"),
            (12, "unknown provider"),
            (13, "the bucket address contains a character that is not valid in host names"),
        ]
    );
    assert!(kept.iter().all(|line| line.excerpt.len() <= 300));
    let mut whole = b"{\"rejected\":true}\n".to_vec();
    whole.extend(bad.join(&b'\n'));
    whole.push(b'\n');
    assert_eq!(std::fs::read(reject).unwrap(), whole, "every byte of every bad line");
}

#[test]
fn too_many_bad_lines_publish_nothing() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    let mut lines: Vec<String> = (0..2_000).map(|n| line(A, &n.to_string(), 1, 1)).collect();
    lines.extend((0..21).map(|_| "{".to_owned()));
    let path = fixture.folder.write("many.ndjson", lines.join("\n"));
    match fixture.load(std::slice::from_ref(&path)) {
        Err(JobError::TooManyBad { bad: 21, lines: 2_021, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(exported(&fixture, None).len(), 1);
    let status = status(&fixture.context).unwrap();
    assert_eq!(status["runs"][0]["state"], "failed");
    assert_eq!(status["open_run"], serde_json::Value::Null);
    let options = buckets::jobs::LoadOptions {
        max_errors: "2%".parse().unwrap(),
        ..Fixture::options(&[path])
    };
    assert_eq!(fixture.run(&options).unwrap().counts.added, 2_000);
    sound(&fixture);
}

#[test]
fn mostly_bad_lines_publish_nothing() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    let short = fixture.folder.write("x.ndjson", "{\n".repeat(899) + &line(A, "new", 1, 1));
    match fixture.load(std::slice::from_ref(&short)) {
        Err(JobError::TooManyBad { bad: 899, lines: 900, .. }) => {}
        other => panic!("{other:?}"),
    }
    let dry = dry_run(&fixture.context, &Fixture::options(&[short]));
    assert!(matches!(dry, Err(JobError::TooManyBad { .. })), "{dry:?}");
    assert_eq!(exported(&fixture, None).len(), 1);
}

#[test]
fn corrected_reject_file_is_added_unless_replacing_is_requested() {
    let fixture = Fixture::new();
    let good = line(A, "kept", 1, 1);
    let path = fixture.folder.write("x.ndjson", format!("{good}\n{}", line(A, "bad", -1, 1)));
    let reject = fixture.folder.join("reject");
    let options = Fixture::options(std::slice::from_ref(&path));
    let options = buckets::jobs::LoadOptions { reject: Some(reject.clone()), ..options };
    assert_eq!(fixture.run(&options).unwrap().tally.bad, 1);

    let corrected = std::fs::read_to_string(&reject).unwrap().replace("-1", "2");
    let corrected = fixture.folder.write("corrected", corrected);
    let report = fixture.load(std::slice::from_ref(&corrected)).unwrap();
    assert_eq!((report.counts.added, report.counts.removed, report.tally.bad), (1, 0, 0));
    assert_eq!(exported(&fixture, None).len(), 2);

    // With its listing, the bucket is complete.
    fixture.load_lines(&[&line(A, "old", 1, 1)]);
    for sources in [[path.clone(), corrected.clone()], [corrected.clone(), path.clone()]] {
        let options = Fixture::options(&sources);
        let options = buckets::jobs::LoadOptions { max_errors: "1".parse().unwrap(), ..options };
        fixture.run(&options).unwrap();
        assert_eq!(exported(&fixture, None).len(), 2);
    }

    let options = Fixture::options(&[corrected]);
    fixture.run(&buckets::jobs::LoadOptions { replaces_rejected: true, ..options }).unwrap();
    assert_eq!(exported(&fixture, None).len(), 1);
}

#[test]
fn million_bad_lines_stop_early() {
    let fixture = Fixture::new();
    let path = fixture.folder.write("hostile.ndjson", "{}\n".repeat(1_000_000));
    match fixture.load(&[path]) {
        Err(JobError::TooManyBad { bad: 1_000, lines: 1_000, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let fixture = Fixture::new();
    let path = fixture.folder.write("x.ndjson", [line(A, "1", 1, 1), "{".to_owned()].join("\n"));
    let options = Fixture::options(&[path]);
    let report = dry_run(&fixture.context, &options).unwrap();
    assert_eq!((report.tally.files, report.tally.bad, report.run), (1, 1, None));
    assert_eq!(exported(&fixture, None), Vec::<String>::new());
    assert_eq!(status(&fixture.context).unwrap()["runs"], serde_json::json!([]));
}

#[rstest]
#[case::dry_run(&["load", "--dry-run", "-"])]
#[case::removal(&["remove", A])]
#[case::end_of_removal(&["unremove", A])]
#[case::removals(&["removals"])]
#[case::status(&["status"])]
#[case::check(&["verify"])]
#[case::export(&["export"])]
#[case::rebuild(&["rebuild"])]
#[case::crawls(&["crawl", "list"])]
#[case::crawl(&["crawl", "run"])]
#[case::keys(&["keys", "list"])]
#[case::end_of_key(&["keys", "revoke", "1"])]
#[case::plans(&["plans", "list"])]
fn command_without_a_database_creates_nothing(#[case] arguments: &[&str]) {
    let program = testkit::Program::new(env!("CARGO_BIN_EXE_buckets"));
    let ran = program.pipe(arguments, line(A, "1", 1, 1).as_bytes());
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("does not exist; nothing was created"), "{}", ran.errors);
    assert_eq!(std::fs::read_dir(program.folder().path()).unwrap().count(), 0);
}

#[test]
fn missing_source_creates_no_database() {
    let program = testkit::Program::new(env!("CARGO_BIN_EXE_buckets"));
    let ran = program.run(&["load", "missing.ndjson"]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("missing.ndjson"), "{}", ran.errors);
    assert_eq!(std::fs::read_dir(program.folder().path()).unwrap().count(), 0);
}

#[test]
fn unreadable_source_starts_no_run() {
    let fixture = Fixture::new();
    let missing = fixture.folder.join("missing.ndjson");
    assert!(buckets::jobs::sources_of(&[missing]).is_err());
    let garbage = fixture.folder.write("garbage", "what is this");
    assert!(matches!(fixture.load(&[garbage]), Err(JobError::Invalid(_))));
}

#[test]
fn special_files_in_folder_are_skipped() {
    use std::os::unix::fs::symlink;

    let fixture = Fixture::new();
    fixture.folder.write("in/a/good.ndjson", line(A, "1", 1, 1));
    fixture.folder.write("linked/more.ndjson", line(A, "2", 1, 1));
    let folder = fixture.folder.join("in");
    let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.ndjson")).status();
    assert!(pipe.unwrap().success());
    symlink("nowhere", folder.join("dangling.ndjson")).unwrap();
    symlink("itself.ndjson", folder.join("itself.ndjson")).unwrap();
    symlink("..", folder.join("a/up")).unwrap();
    symlink("../linked", folder.join("link")).unwrap();
    let counts = fixture.load(&[folder]).unwrap().counts;
    assert_eq!((counts.added, counts.duplicates), (2, 0));
    sound(&fixture);
}

#[test]
fn command_line_options_supply_missing_fields() {
    let fixture = Fixture::new();
    let path = fixture
        .folder
        .write("x.ndjson", r#"{"key":"1","Size":"7","LastModified":"2020-01-01T00:00:00Z"}"#);
    let options = buckets::jobs::LoadOptions {
        bucket: Some("files.example.org".to_owned()),
        kind: Some("gcp".to_owned()),
        ..Fixture::options(&[path])
    };
    fixture.run(&options).unwrap();
    let expected = r#"{"bucket":"files.example.org","type":"gcp","fullPath":"1","size":7,"lastModified":1577836800}"#;
    assert_eq!(exported(&fixture, Some("files.example.org")), [expected]);
}

#[actix_web::test]
async fn server_follows_publish() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.results("").await, 1);
    fixture.load_lines(&[&line(A, "2", 1, 1), &line(B, "3", 1, 1)]);
    app.refresh();
    assert_eq!(app.paths("").await, ["2", "3"]);
}

#[test]
fn second_load_reports_running_load() {
    let fixture = Fixture::new();
    let session = Session::open(&fixture.context, "a run loads files").unwrap();
    let now = fixture.context.clock.unix();
    let begun = |db: &mut database::Db| load_runs::begin(db, 0, "replace", "{}", now);
    let id = fixture.context.pools.write_blocking(begun).unwrap();
    let refused = fixture.load(&[samples()]).unwrap_err().to_string();
    assert_eq!(refused, format!("the index is being written: a run loads files (run {id})"));
    drop(session);
    fixture.load(&[samples()]).unwrap();
    let status = status(&fixture.context).unwrap();
    assert_eq!(status["runs"][1]["state"], "failed", "its process is gone");
}

#[rstest]
#[case::no_line("", 1, "contains no data, so nothing was loaded; check how the list was created")]
#[case::blank_line("\n", 1, "contains no data")]
#[case::header_only("bucket,path,size\n", 1, "contains no data")]
#[case::empty_array("[]\n", 1, "contains no data")]
#[case::bad_lines("{\"a\":1}\nnope\n", 3, "list.ndjson:1: the field bucket is missing")]
#[case::answer(r#"{"query":{},"files":[{"bucket":"b"}]}"#, 3, "1 of 1 lines are bad")]
fn source_without_any_file_fails(#[case] content: &str, #[case] code: i32, #[case] why: &str) {
    let program = Program::new();
    let whole = program.source(1, 3);
    program.done(&["load", text(&whole)]);
    let format = if content.starts_with("bucket") { "csv" } else { "ndjson" };
    let path = program.folder().write(format!("list.{format}"), content);
    for more in [&[][..], &["--dry-run"]] {
        let ran = program.run(&[&["load", text(&path)], more].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.errors);
        assert!(ran.errors.contains(why), "{}", ran.errors);
    }
    let status = program.status();
    assert_eq!((&status["runs"][0]["state"], &status["open_run"]), (&"failed".into(), &().into()));
    assert_eq!(program.run(&["rebuild", text(&path)]).code, Some(code));
    assert_eq!(program.published(), (Some(1), 3));
    let both = program.run(&["load", text(&path), text(&whole), "--max-errors", "50%"]);
    assert_eq!(both.code, Some(0), "other sources have files: {}", both.errors);
}
