//! Incomplete sources: files that have not been read must not be removed.

use std::io::Write;
use std::path::{Path, PathBuf};

use buckets::Settings;
use buckets::jobs::{
    CheckpointPolicy, CrawlRequest, JobError, LoadOptions, MaxErrors, add_crawls, dry_run, export,
    rebuild_from, status, verify,
};
use rstest::rstest;
use testkit::{HttpPeer, PeerAnswer};

use crate::app::{Fixture, line};
use crate::program::{Program, text};
use crate::public_bucket::{Behaviour, PublicBucket};

pub const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

pub fn exported(fixture: &Fixture) -> String {
    let mut out = Vec::new();
    export(&fixture.context, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn rebuild(fixture: &Fixture, options: &LoadOptions) -> Result<(), JobError> {
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    rebuild_from(&fixture.context, options, checkpoints).map(drop)
}

/// Lines of files with different sizes.
pub fn lines(bucket: &str, count: i64) -> String {
    (0..count).map(|number| line(bucket, &format!("dir/{number}"), number, 1) + "\n").collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    gz.finish().unwrap()
}

#[test]
fn rebuild_from_incomplete_source_keeps_index() {
    let fixture = Fixture::new();
    let whole = fixture.folder.write("whole.ndjson", lines(A, 8_000) + &lines(B, 50));
    fixture.load(std::slice::from_ref(&whole)).unwrap();
    let before = exported(&fixture);
    let packed = gzip(&(lines(A, 8_000) + &lines(B, 50)));
    let cut = fixture.folder.write("cut.ndjson.gz", &packed[..packed.len() / 3]);
    let torn = lines(A, 3);
    let torn = fixture.folder.write("torn.ndjson", &torn[..torn.len() - 20]);
    let empty = fixture.folder.write("empty.ndjson", "");
    let page = fixture.folder.write(format!("{A}.xml"), "<ListBucketResult><Name>a</Name>");
    for (sources, why) in [
        (vec![cut.clone()], "cut.ndjson.gz: "),
        (vec![whole.clone(), cut], "cut.ndjson.gz: "),
        (vec![torn], "torn.ndjson: line 3 is incomplete"),
        (vec![page, whole.clone()], "ends inside an element"),
        (vec![empty], "the sources do not name a bucket"),
    ] {
        let refused = rebuild(&fixture, &Fixture::options(&sources)).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
        assert!(refused.ends_with(": the index is unchanged"), "{refused}");
        assert_eq!(exported(&fixture), before);
        let now = status(&fixture.context).unwrap();
        assert_eq!((&now["generation"], &now["runs"][0]["state"]), (&1.into(), &"failed".into()));
        assert!(!fixture.folder.join("index/generation-2").exists());
    }
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
    rebuild(&fixture, &Fixture::options(&[whole])).unwrap();
    assert_eq!(exported(&fixture).lines().count(), 8_050);
}

#[rstest]
#[case(
    "xml",
    "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>",
    "no source has a complete listing of a.s3.amazonaws.com; "
)]
#[case("xml", "<Prefix>dir/</Prefix><IsTruncated>false</IsTruncated>", "prefix or delimiter; ")]
#[case("xml", "<Marker>a</Marker><IsTruncated>false</IsTruncated>", "missing before it; ")]
#[case("xml", "<Delimiter>/</Delimiter><IsTruncated>false</IsTruncated>", "prefix or delimiter; ")]
#[case("txt", "2020-01-01 00:00:00         12 dir/1\n", "whether it is complete; ")]
#[case(
    "ndjson",
    "{\"bucket\":\"a.s3.amazonaws.com\",\"fullPath\":\"dir/1\",\"size\":1}\nerror\n\
     {\"bucket\":\"a.s3.amazonaws.com\",\"fullPath\":\"dir/2\",\"size\":1}\n",
    "a.s3.amazonaws.com.ndjson: line 2 does not describe a file; provide the whole list, or use load"
)]
fn rebuild_from_partial_listing_keeps_index(
    #[case] kind: &str,
    #[case] text: &str,
    #[case] why: &str,
) {
    let fixture = Fixture::new();
    let whole = fixture.folder.write("whole.ndjson", lines(A, 50));
    fixture.load(&[whole]).unwrap();
    let before = exported(&fixture);
    let entry = "<Contents><Key>dir/1</Key><Size>1</Size>\
                 <LastModified>2020-01-01T00:00:00Z</LastModified></Contents>";
    let text = match kind {
        "xml" => format!("<ListBucketResult><Name>a</Name>{text}{entry}</ListBucketResult>"),
        _ => text.to_owned(),
    };
    let part = fixture.folder.write(format!("{A}.{kind}"), text);
    let refused = rebuild(&fixture, &Fixture::options(&[part])).unwrap_err().to_string();
    assert!(refused.contains(why), "{refused}");
    assert!(refused.ends_with(": the index is unchanged"), "{refused}");
    assert_eq!(exported(&fixture), before);
}

#[test]
fn rebuild_command_fails_on_incomplete_source() {
    let program = Program::new();
    let source = program.source(1, 50);
    program.done(&["load", text(&source)]);
    let packed = gzip(&std::fs::read_to_string(&source).unwrap());
    let cut = program.folder().write("cut.gz", &packed[..packed.len() - 9]);
    let ran = program.run(&["rebuild", text(&cut)]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("the index is unchanged"), "{}", ran.errors);
    assert_eq!(program.published(), (Some(1), 50));
}

/// Returns whether a source is complete, and its number of files.
fn tried(fixture: &Fixture, path: &Path) -> (bool, u64) {
    let max_errors = MaxErrors::Count(9);
    tried_with(fixture, &LoadOptions { max_errors, ..Fixture::options(&[path.to_owned()]) })
}

/// Like `tried`, with these options. A source that ends before its first line is an error, as in a
/// load.
fn tried_with(fixture: &Fixture, options: &LoadOptions) -> (bool, u64) {
    match dry_run(&fixture.context, options) {
        Ok(report) => (report.tally.incomplete.is_empty(), report.tally.files),
        Err(error) => {
            let error = error.to_string();
            assert!(error.starts_with("no source could be read: "), "{error}");
            (false, 0)
        }
    }
}

#[rstest]
#[case("list.ndjson.gz")]
#[case("list.ndjson.zst")]
#[case("two.ndjson.zst")]
fn compressed_source_cut_anywhere_is_incomplete(#[case] name: &str) {
    let fixture = Fixture::new();
    let text = lines(A, 40);
    let packed = match name.ends_with(".gz") {
        true => gzip(&text),
        false => zstd::encode_all(text.as_bytes(), 1).unwrap(),
    };
    // Several gzip members form one source.
    let packed = if name.starts_with("two") { [packed.clone(), packed].concat() } else { packed };
    let path = fixture.folder.write(name, &packed);
    assert!(tried(&fixture, &path).0);
    let half = if name.starts_with("two") { packed.len() / 2 } else { 0 };
    for end in 0..packed.len() {
        let path = fixture.folder.write(name, &packed[..end]);
        let whole = end > 0 && end == half;
        assert_eq!(tried(&fixture, &path).0, whole, "{end} of {} bytes", packed.len());
    }
}

const S3: &str = "<?xml version=\"1.0\"?><ListBucketResult><Name>a</Name><Contents><Key>1</Key>\
                  <Size>5</Size></Contents><IsTruncated>false</IsTruncated></ListBucketResult>";
const AZURE: &str = "<EnumerationResults ServiceEndpoint=\"https://acc.blob.core.windows.net/\" \
                     ContainerName=\"box\"><Blobs><Blob><Name>1</Name><Properties>\
                     <Content-Length>5</Content-Length></Properties></Blob></Blobs><NextMarker/>\
                     </EnumerationResults>";
const GCS: &str = r#"{"kind":"storage#objects","items":[{"name":"1","bucket":"box","size":"5"}]}"#;
const ARRAY: &str = r#"[{"name":"1","bucket":"box","size":"5"}]"#;

#[rstest]
#[case(&format!("{A}.xml"), S3)]
#[case("azure.xml", AZURE)]
#[case("gcs.json", GCS)]
#[case("gcs.json", ARRAY)]
fn listing_cut_anywhere_is_incomplete(#[case] name: &str, #[case] listing: &str) {
    let fixture = Fixture::new();
    let format = match name {
        "azure.xml" => "azure",
        "gcs.json" => "gcs",
        _ => "s3",
    };
    for end in 0..=listing.len() {
        let path = fixture.folder.write(name, &listing[..end]);
        let options = LoadOptions { format: Some(format.to_owned()), ..Fixture::options(&[path]) };
        let (whole, _) = tried_with(&fixture, &options);
        assert_eq!(whole, end == listing.len(), "{}", &listing[..end]);
    }
}

#[test]
fn partial_line_or_record_is_incomplete() {
    let fixture = Fixture::new();
    let tried = |name: &str, text: &str| tried(&fixture, &fixture.folder.write(name, text)).0;
    let text = lines(A, 2);
    let first = text.find('\n').unwrap() + 1;
    for end in first + 1..text.len() - 1 {
        assert!(!tried("list.ndjson", &text[..end]), "{}", &text[..end]);
    }
    assert!(tried("list.ndjson", text.trim_end()), "a last line needs no line feed");
    assert!(tried("list.ndjson", &format!("{{\n{text}")), "a bad line is not incomplete");
    let table = format!("bucket,key,size\n{A},1,5\n{A},2,5");
    assert!(tried("list.csv", &table));
    for cut in 3..30 {
        assert!(!tried("list.csv", &table[..table.len() - cut]) || cut > 21, "{cut}");
    }
    assert!(!tried("list.csv", ""), "no header");
}

#[rstest]
#[case::path("9,\"dir/2")]
#[case::escaped_quote("9,\"dir/2\"\"")]
#[case::line_feed("9,\"dir/2\n")]
#[case::swallowed_records("9,\"dir/2\na.s3.amazonaws.com,9,dir/3\na.s3.amazonaws.com,9,dir/4\n")]
fn table_that_ends_inside_quotes_removes_no_file(#[case] end: &str) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let table = format!("bucket,size,key\n{A},9,\"dir/1\"\n{A},{end}");
    let report = fixture.load(&[fixture.folder.write("list.csv", table)]).unwrap();
    assert_eq!((report.counts.added, report.counts.replaced, report.counts.removed), (0, 1, 0));
    let incomplete = &report.tally.incomplete;
    assert!(
        incomplete[0].ends_with(": the record at line 3 has no closing quote"),
        "{incomplete:?}"
    );
    let table = format!("bucket,size,key\n{A},9,\"dir/1\"\n{A},9,\"dir/\"\"2\"\"\"");
    let report = fixture.load(&[fixture.folder.write("list.csv", table)]).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (1, 4), "a complete table");
}

#[test]
fn incomplete_source_removes_no_file() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1), &line(A, "1", 1, 1)]);
    let text = line(A, "1", 7, 1) + "\n" + &line(A, "2", 7, 1);
    let torn = fixture.folder.write("torn.ndjson", &text[..text.len() - 5]);
    let report = fixture.load(&[torn]).unwrap();
    assert_eq!((report.counts.removed, report.tally.incomplete.len()), (0, 1));
    assert_eq!(exported(&fixture).lines().count(), 2);
}

/// The second source could have had any of the files.
#[rstest]
#[case::of_one_bucket(Some(A))]
#[case::of_any_bucket(None)]
fn source_without_a_good_line_removes_no_file(#[case] bucket: Option<&str>) {
    let fixture = Fixture::new();
    let run = |second: &str| {
        let first = fixture.folder.write("1.ndjson", line(A, "1", 1, 1));
        let second = fixture.folder.write("2.ndjson", second);
        let bucket = bucket.map(str::to_owned);
        let options = LoadOptions { bucket, ..Fixture::options(&[first, second]) };
        fixture.run(&options).unwrap()
    };
    assert_eq!(run(&line(A, "2", 1, 1)).counts.added, 2);
    for answer in ["<html>502 Bad Gateway</html>", "{\"error\":\"slow down\"}\n", "null"] {
        let report = run(answer);
        assert_eq!((report.counts.unchanged, report.counts.removed), (1, 0), "{answer}: {report}");
        assert_ne!(report.tally.incomplete.len() + report.tally.partial.len(), 0, "{answer}");
    }
    assert_eq!(run(&line(A, "3", 1, 1)).counts.removed, 1);
}

fn listed(bucket: &PublicBucket, interface: &str) -> LoadOptions {
    LoadOptions {
        bucket: Some(A.to_owned()),
        format: Some("s3".to_owned()),
        ..Fixture::options(&[PathBuf::from(format!("{}/{interface}/", bucket.address))])
    }
}

#[rstest]
#[case("empty", "the source is not a listing")]
#[case("no-end", "the page does not say whether it is the last one")]
#[case("lost", "the listing is truncated, but has no marker for the next page")]
#[case("circle", "the listing is circular")]
#[case("counting", "100 consecutive pages are empty")]
fn endless_http_listing_is_incomplete(#[case] interface: &str, #[case] why: &str) {
    let bucket = PublicBucket::start(Behaviour::default());
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "kept", 1, 1)]);
    match fixture.run(&listed(&bucket, interface)) {
        Ok(report) => {
            assert_eq!(report.counts.removed, 0);
            assert!(report.tally.incomplete[0].contains(why), "{:?}", report.tally.incomplete);
        }
        Err(error) => assert!(error.to_string().contains(why), "{error}"),
    }
    assert!(exported(&fixture).contains("kept"));
    assert!(bucket.requests() < 105);
}

#[test]
fn source_changed_during_load_fails() {
    use std::process::Stdio;

    let program = Program::new();
    program.done(&["load", text(&program.source(1, 20))]);
    // The load is waiting for standard input, which is its first source.
    let growing = program.folder().write("growing.ndjson", line(A, "1", 1, 1) + "\n");
    let mut command = program.command(&["load", "-", text(&growing)]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut load = command.spawn().unwrap();
    let input = load.stdin.take().unwrap();
    while program.status()["open_run"].is_null() {
        std::thread::yield_now();
    }
    std::fs::write(&growing, lines(A, 3)).unwrap();
    drop(input);
    let ended = load.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("changed since the run started"), "{said}");
    assert_eq!(program.published(), (Some(1), 20));
}

#[rstest]
#[case::prefix("<Prefix>dir/</Prefix>")]
#[case::delimiter("<Delimiter>/</Delimiter>")]
#[case::groups("<CommonPrefixes><Prefix>other/</Prefix></CommonPrefixes>")]
#[case::missing_first_page("<Marker>dir/0</Marker>")]
#[case::missing_last_page("<IsTruncated>true</IsTruncated>")]
fn partial_listing_removes_no_file(#[case] part: &str) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let entry = "<Contents><Key>dir/1</Key><Size>9</Size></Contents>";
    let end = if part.contains("IsTruncated") { "" } else { "<IsTruncated>false</IsTruncated>" };
    let listing = format!("<ListBucketResult>{part}{entry}{end}</ListBucketResult>");
    let report = fixture.load(&[fixture.folder.write(format!("{A}.xml"), listing)]).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0));
    let parts = report.tally.partial.len() + report.truncated.len();
    assert_eq!((parts, report.tally.incomplete.len()), (1, 0), "{report}");
    let end = "<IsTruncated>false</IsTruncated>";
    let listing = format!("<ListBucketResult><Prefix/>{entry}{end}</ListBucketResult>");
    let report = fixture.load(&[fixture.folder.write(format!("{A}.xml"), listing)]).unwrap();
    assert_eq!((report.counts.unchanged, report.counts.removed), (1, 4));
    assert_eq!(report.tally.partial, [""; 0]);
}

#[rstest]
#[case(&format!("{A}.xml"), S3, "<IsTruncated>false</IsTruncated>")]
#[case(&format!("{A}.xml"), S3, "false")]
#[case("azure.xml", AZURE, "<NextMarker/>")]
fn listing_that_does_not_say_whether_it_is_complete_removes_no_file(
    #[case] name: &str,
    #[case] listing: &str,
    #[case] end: &str,
) {
    let fixture = Fixture::new();
    let listing = listing.replace("<Key>1<", "<Key>dir/1<").replace("<Name>1<", "<Name>dir/1<");
    let bucket = if name == "azure.xml" { "acc.blob.core.windows.net/box" } else { A };
    fixture.load(&[fixture.folder.write("all.ndjson", lines(bucket, 5))]).unwrap();
    let silent = listing.replace(end, "");
    let report = fixture.load(&[fixture.folder.write(name, silent)]).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0));
    let report = fixture.load(&[fixture.folder.write(name, listing)]).unwrap();
    assert_eq!((report.counts.unchanged, report.counts.removed), (1, 4));
}

#[test]
fn listing_of_versions_removes_no_file() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let listing = "<ListVersionsResult><Version><Key>dir/1</Key></Version></ListVersionsResult>";
    let report = fixture.load(&[fixture.folder.write(format!("{A}.xml"), listing)]).unwrap();
    assert_eq!((report.tally.skipped_versions, report.counts.removed), (1, 0));
}

#[rstest]
#[case::whole_bucket("", false)]
#[case::prefix("p/", true)]
fn crawl_whose_listing_does_not_cover_its_bucket_is_incomplete(
    #[case] prefix: &str,
    #[case] is_complete: bool,
) {
    let server = HttpPeer::start(|_| {
        let page = "<ListBucketResult><CommonPrefixes><Prefix>p/dir/</Prefix></CommonPrefixes>\
                    <Contents><Key>p/a.txt</Key><Size>1</Size></Contents>\
                    <IsTruncated>false</IsTruncated></ListBucketResult>";
        PeerAnswer::Body(200, page.to_owned())
    });
    let fixture = Fixture::new();
    let request = CrawlRequest {
        url: server.url("/"),
        format: Some("s3".to_owned()),
        bucket: Some(A.to_owned()),
        kind: Some("aws".to_owned()),
        every_seconds: 3_600,
        prefix: prefix.to_owned(),
        ..CrawlRequest::default()
    };
    add_crawls(&fixture.context, vec![request]).unwrap();
    let [done] = &fixture.crawl(None).unwrap()[..] else { panic!("it is due") };
    assert_eq!((done.new, done.complete), (1, is_complete), "{done:?}");
    assert_eq!(done.outcome.contains("; incomplete: "), !is_complete, "{done:?}");
}
