//! Bad lines, error messages and empty sources must not remove files that may still exist.

use std::path::PathBuf;
use std::time::Duration;

use buckets::Settings;
use buckets::jobs::{
    CheckpointPolicy, JobError, LoadOptions, MaxErrors, Report, load, rebuild_from, resume, status,
};
use rstest::rstest;

use crate::app::{Fixture, line};
use crate::incomplete::{A, exported, lines};

/// Loads five files of a bucket.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    fixture
}

fn options(paths: &[PathBuf]) -> LoadOptions {
    LoadOptions { max_errors: MaxErrors::Count(9), ..Fixture::options(paths) }
}

fn loaded(fixture: &Fixture, name: &str, text: impl AsRef<[u8]>) -> Report {
    fixture.run(&options(&[fixture.folder.write(name, text)])).unwrap()
}

#[rstest]
#[case::negative(r#""size":-1"#)]
#[case::text(r#""size":"large""#)]
#[case::null(r#""size":null"#)]
#[case::missing(r#""modified":1"#)]
#[case::twice(r#""size":1,"size":2"#)]
#[case::date(r#""size":1,"lastModified":"soon""#)]
#[case::kind(r#""size":1,"type":"tape""#)]
fn file_named_by_a_bad_line_is_kept(#[case] fields: &str) {
    let fixture = fixture();
    let bad = format!(r#"{{"bucket":"{A}","fullPath":"dir/1",{fields}}}"#);
    let text = format!("{}\n{bad}\n{}\n", line(A, "dir/0", 0, 1), line(A, "dir/2", 9, 1));
    let report = loaded(&fixture, "list.ndjson", text);
    let counts = report.counts;
    assert_eq!((report.tally.bad, counts.unchanged, counts.replaced), (1, 1, 1), "{report}");
    assert_eq!(counts.removed, 2, "the list is complete: {report}");
    assert!(exported(&fixture).contains(&line_of("dir/1", 1)), "{}", exported(&fixture));
}

/// The start of an exported line.
fn line_of(path: &str, size: u32) -> String {
    format!(r#""fullPath":"{path}","size":{size},"#)
}

#[rstest]
#[case::table("list.csv", &format!("bucket,key,size\n{A},dir/1,x\n{A},dir/0,0\n"))]
#[case::xml(
    &format!("{A}.xml"),
    "<ListBucketResult><Contents><Key>dir/0</Key><Size>0</Size></Contents><Contents>\
     <Key>dir/1</Key><Size>x</Size></Contents><IsTruncated>false</IsTruncated></ListBucketResult>"
)]
#[case::json(
    &format!("{A}.json"),
    r#"{"Contents":[{"Key":"dir/0","Size":0},{"Key":"dir/1","Size":-1}],"IsTruncated":false}"#
)]
fn file_named_by_a_bad_entry_is_kept(#[case] name: &str, #[case] text: &str) {
    let fixture = fixture();
    let report = loaded(&fixture, name, text);
    assert_eq!((report.tally.bad, report.counts.removed), (1, 3), "{report}");
    assert!(exported(&fixture).contains(&line_of("dir/1", 1)), "{}", exported(&fixture));
}

#[rstest]
#[case::earlier(&[-1, 7])]
#[case::later(&[7, -1])]
#[case::both(&[-1, 7, -1])]
fn file_is_replaced_although_another_line_with_its_name_is_bad(#[case] sizes: &[i64]) {
    let fixture = fixture();
    let text: String = sizes.iter().map(|&size| line(A, "dir/1", size, 1) + "\n").collect();
    let report = loaded(&fixture, "list.ndjson", text);
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 4), "{report}");
    assert!(exported(&fixture).contains(&line_of("dir/1", 7)));
}

#[test]
fn resumed_run_keeps_the_files_that_bad_lines_name() {
    let fixture = fixture();
    let bad = format!("{}\n{}\n", line(A, "dir/1", -1, 1), line(A, "dir/0", 0, 1));
    let first = fixture.folder.write("1.ndjson", bad);
    let second = fixture.folder.write("2.ndjson", line(A, "dir/2", 2, 1));
    // The run stops at its second source, which cannot be opened.
    let mut options = serde_json::to_value(options(&[first, second.clone()])).unwrap();
    options["sources"][1]["size"] = 0.into();
    options["sources"][1]["modified"] = 0.into();
    let options: LoadOptions = serde_json::from_value(options).unwrap();
    let away = fixture.folder.join("away");
    std::fs::rename(&second, &away).unwrap();
    let often = CheckpointPolicy { files: 1, every: Duration::from_secs(60) };
    let stopped = load(&fixture.context, &options, often);
    assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
    std::fs::rename(&away, &second).unwrap();
    let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
    let report = resume(&fixture.context, run, often).unwrap();
    assert_eq!((report.counts.unchanged, report.counts.removed), (2, 2), "{report}");
    assert!(exported(&fixture).contains(&line_of("dir/1", 1)));
}

#[rstest]
#[case::error("{\"error\":\"slow down\"}\n")]
#[case::xml("<Error><Code>SlowDown</Code></Error>\n")]
#[case::page("<html>\n<body>502 Bad Gateway</body>\n</html>\n\n")]
#[case::list("[]\n")]
#[case::no_path("{\"bucket\":\"a.s3.amazonaws.com\",\"size\":1}\n")]
fn list_that_ends_with_an_error_removes_no_file(#[case] error: &str) {
    let fixture = fixture();
    let report = loaded(&fixture, "list.ndjson", lines(A, 2) + error);
    assert_eq!((report.counts.unchanged, report.counts.removed), (2, 0), "{report}");
    let [incomplete] = &report.tally.incomplete[..] else { panic!("{report}") };
    assert!(incomplete.ends_with("is the last one and does not describe a file"), "{incomplete}");
    let before = line(A, "dir/0", 0, 1) + "\n" + error + &line(A, "dir/1", 1, 1);
    let report = loaded(&fixture, "list.ndjson", before);
    assert_eq!((report.counts.removed, report.tally.incomplete.len()), (0, 0), "{report}");
    assert_eq!(report.tally.partial.len(), 1, "{report}");
}

/// The bad entry might be in place of any of the other files.
#[rstest]
#[case::error_page(
    "list.ndjson",
    &format!("{}\n<p>503</p>\n{}\n", line(A, "dir/0", 0, 1), line(A, "dir/2", 2, 1))
)]
#[case::joined_lines(
    "list.ndjson",
    &format!("{0}\n{0}{1}\n{0}\n", line(A, "dir/0", 0, 1), line(A, "dir/1", 1, 1))
)]
#[case::row_of_another_bucket(
    "list.csv",
    &format!("bucket,key,size\n{A},dir/0,0\n<p>,503,</p>\n{A},dir/2,2\n")
)]
#[case::short_row("list.csv", &format!("key,size,bucket\ndir/0,0,{A}\n<p>503</p>\ndir/2,2,{A}\n"))]
#[case::joined_rows(
    "list.csv",
    &format!("key,size,bucket\ndir/0,0,{A}\ndir/1,1,{A}dir/2,2,{A}\ndir/3,3,{A}\n")
)]
#[case::joined_rows_with_a_size(
    "list.csv",
    &format!("bucket,size,key\n{A},0,dir/0\n{A},1,dir/1{A},2,dir/2\n{A},3,dir/3\n")
)]
#[case::rows_between_quotes(
    "list.csv",
    &format!("key,size,bucket\n\"dir/0,0,{A}\ndir/1,1,{A}\n\"dir/2,2,{A}\ndir/3,3,{A}\n")
)]
#[case::entry_without_key(
    &format!("{A}.xml"),
    "<ListBucketResult><Contents><Key>dir/0</Key><Size>0</Size></Contents><Contents><Size>1</Size>\
     </Contents><IsTruncated>false</IsTruncated></ListBucketResult>"
)]
fn bad_entry_of_an_unknown_file_removes_no_file(#[case] name: &str, #[case] text: &str) {
    let fixture = fixture();
    let report = loaded(&fixture, name, text);
    assert_eq!((report.tally.bad, report.counts.removed), (1, 0), "{report}");
    assert_eq!((report.tally.partial.len(), report.tally.incomplete.len()), (1, 0), "{report}");
}

#[rstest]
#[case::lines(
    "list.ndjson",
    &format!("{}\n{}\n", line(A, "dir/0", 0, 1), line(A, "dir/caf\u{e9}", 1, 1))
)]
#[case::table("list.csv", &format!("bucket,key,size\n{A},dir/0,0\n{A},dir/caf\u{e9},1\n"))]
fn file_whose_name_is_in_another_encoding_is_kept(#[case] name: &str, #[case] text: &str) {
    let fixture = Fixture::new();
    let files = lines(A, 2) + &line(A, "dir/caf\u{e9}", 1, 1);
    fixture.load(&[fixture.folder.write("all.ndjson", files)]).unwrap();
    let latin_1: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let report = loaded(&fixture, name, latin_1);
    assert_eq!((report.tally.bad, report.counts.removed), (1, 0), "{report}");
    assert_eq!((report.tally.partial.len(), report.tally.incomplete.len()), (1, 0), "{report}");
}

#[test]
fn bad_line_without_a_path_keeps_only_the_files_of_its_bucket() {
    const B: &str = "b.s3.amazonaws.com";
    let fixture = fixture();
    fixture.load(&[fixture.folder.write("other.ndjson", lines(B, 5))]).unwrap();
    let bad = format!(r#"{{"bucket":"{A}","size":1}}"#);
    let report = loaded(&fixture, "list.ndjson", lines(A, 1) + &bad + "\n" + &lines(B, 1));
    assert_eq!((report.tally.bad, report.counts.removed), (1, 4), "{report}");
    assert_eq!(exported(&fixture).matches(A).count(), 5);
}

#[test]
fn bad_line_of_a_reject_file_does_not_keep_files() {
    let fixture = fixture();
    let list = fixture.folder.write("1.ndjson", lines(A, 1));
    let text = format!("{{\"rejected\":true}}\nnot a file\n{}\n", line(A, "dir/1", 1, 1));
    let report = fixture.run(&options(&[list, fixture.folder.write("2.ndjson", text)])).unwrap();
    assert_eq!((report.tally.bad, report.counts.removed), (1, 3), "{report}");
    assert_eq!(report.tally.partial, [""; 0], "{report}");
}

#[test]
fn item_without_a_bucket_names_a_file_of_its_page() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines("gs://box", 5))]).unwrap();
    let page = r#"{"kind":"storage#objects","items":[{"name":"dir/0","bucket":"box","size":"0"},
                   {"name":"dir/1","size":"1"}]}"#;
    let report = loaded(&fixture, "page.json", page);
    assert_eq!((report.tally.bad, report.counts.removed), (1, 3), "{report}");
    assert!(exported(&fixture).contains(&line_of("dir/1", 1)), "{}", exported(&fixture));
}

#[rstest]
#[case::bucket_first("bucket,key,size", "{A},dir/0,0")]
#[case::key_first("key,size,bucket", "dir/0,0,{A}")]
fn table_that_ends_with_an_error_removes_no_file(#[case] header: &str, #[case] row: &str) {
    let row = row.replace("{A}", A);
    let errors = [
        "{\"error\":\"slow down\"}",
        "<Error>SlowDown</Error>",
        "An error occurred (SlowDown), please retry",
        "An error, maybe temporary, occurred",
    ];
    for error in errors {
        let fixture = fixture();
        let report = loaded(&fixture, "list.csv", format!("{header}\n{row}\n{error}\n"));
        assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
        assert_eq!(report.tally.incomplete.len(), 1, "{report}");
    }
}

#[test]
fn space_after_a_quoted_column_name_does_not_matter() {
    let fixture = fixture();
    let text = format!("\"bucket\" ,key,size\n{A},dir/0,0\n");
    let report = loaded(&fixture, "list.csv", text);
    assert_eq!((report.tally.bad, report.counts.removed), (0, 4), "{report}");
}

#[test]
fn table_of_one_bucket_that_ends_with_an_error_removes_no_file() {
    let fixture = fixture();
    let text = "fullPath,size\ndir/0,0\nAn error occurred (SlowDown), please retry\n";
    let options = LoadOptions {
        bucket: Some(A.to_owned()),
        ..options(&[fixture.folder.write("list.csv", text)])
    };
    let report = fixture.run(&options).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
    assert_eq!(report.tally.incomplete.len(), 1, "{report}");
}

#[test]
fn listing_that_an_error_follows_is_incomplete() {
    for error in ["curl: (56) Recv failure", "\n<![CDATA[curl: (56)]]>", "\n&#97;"] {
        let fixture = fixture();
        let text = format!(
            "<?xml version=\"1.0\"?>\n<ListBucketResult><Contents><Key>dir/0</Key><Size>9</Size>\
             </Contents><IsTruncated>false</IsTruncated></ListBucketResult>\n{error}"
        );
        let report = loaded(&fixture, &format!("{A}.xml"), text);
        assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
        assert_eq!(report.tally.incomplete.len(), 1, "{report}");
    }
}

#[test]
fn reject_file_may_end_with_any_bad_line() {
    let fixture = fixture();
    let text = format!("{{\"rejected\":true}}\n{}\nnot a file\n", line(A, "dir/0", 9, 1));
    let report = loaded(&fixture, "bad.ndjson", text);
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
    assert_eq!((report.tally.bad, report.tally.incomplete.len()), (1, 0), "{report}");
}

#[test]
fn text_listing_that_ends_with_an_error_is_incomplete() {
    let fixture = fixture();
    let text = "2020-01-01 00:00:00          9 dir/0\nAn error occurred (SlowDown)\n";
    let report = loaded(&fixture, &format!("{A}.txt"), text);
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
    assert_eq!(report.tally.incomplete.len(), 1, "{report}");
}

#[rstest]
#[case::nothing("2.ndjson", "")]
#[case::blank_lines("2.ndjson", "\n \n\n")]
#[case::only_a_header("2.csv", "bucket,path,size\n")]
#[case::only_a_sum("2.txt", "TOTAL: 0 objects, 0 bytes (0 B)\n")]
#[case::array("2.json", "[]\n")]
#[case::indented_array("2.json", "[\n]\n")]
#[case::null("2.json", "null\n")]
fn empty_source_removes_no_file(#[case] name: &str, #[case] text: &str) {
    for bucket in [None, Some(A.to_owned())] {
        let fixture = fixture();
        let first = fixture.folder.write("1.ndjson", line(A, "dir/0", 0, 1));
        let second = fixture.folder.write(name, text);
        let options = LoadOptions { bucket, ..options(&[first.clone(), second]) };
        let report = fixture.run(&options).unwrap();
        assert_eq!((report.counts.unchanged, report.counts.removed), (1, 0), "{report}");
        let [partial] = &report.tally.partial[..] else { panic!("{report}") };
        let expected = format!("{name}: it contains no files (leave it out if that is correct)");
        assert!(partial.ends_with(&expected), "{partial}");
        let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
        let refused = rebuild_from(&fixture.context, &options, checkpoints).unwrap_err();
        assert!(refused.to_string().contains("incomplete listing"), "{refused}");
        assert_eq!(fixture.load(&[first]).unwrap().counts.removed, 4);
    }
}

#[test]
fn marker_next_to_complete_data_does_not_keep_files() {
    let fixture = fixture();
    fixture.folder.write("parts/part-00000.json", line(A, "dir/0", 0, 1));
    fixture.folder.write("parts/_SUCCESS", "");
    let report = fixture.run(&options(&[fixture.folder.join("parts")])).unwrap();
    assert_eq!((report.counts.removed, report.tally.partial.len()), (4, 0), "{report}");
}

#[rstest]
#[case::folder("b.s3.amazonaws.com/2.csv", "bucket,path,size\n")]
#[case::table("b.s3.amazonaws.com.csv", "bucket,path,size\n")]
#[case::lines("b.s3.amazonaws.com.ndjson", "")]
#[case::only_a_sum("b.s3.amazonaws.com.txt", "\nTotal Objects: 0\n   Total Size: 0\n")]
#[case::array("b.s3.amazonaws.com.json", "[]\n")]
#[case::null("b.s3.amazonaws.com.json", "null\n")]
#[case::numbered("b.s3.amazonaws.com.jsonl.7", "")]
fn empty_source_of_another_bucket_does_not_keep_files(#[case] name: &str, #[case] text: &str) {
    let fixture = fixture();
    let list = fixture.folder.write("1.ndjson", line(A, "dir/0", 0, 1));
    let other = fixture.folder.write(name, text);
    let report = fixture.run(&options(&[list, other])).unwrap();
    assert_eq!((report.counts.removed, report.tally.partial.len()), (4, 1), "{report}");
}
