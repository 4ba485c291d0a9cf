//! Output of common command-line tools.

use buckets::jobs::{JobError, LoadOptions, MaxErrors, Report, dry_run, export, sources_of};
use rstest::rstest;

use crate::app::{Fixture, line};

const BOX: &str = "box.s3.amazonaws.com";

/// Loads a file into an index that already has a file of the same bucket. Returns all lines.
fn loaded(name: &str, content: impl AsRef<[u8]>, bucket: Option<&str>) -> (Report, Vec<String>) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "kept", 1, 1)]);
    let path = fixture.folder.write(name, content);
    let options = LoadOptions {
        bucket: bucket.map(str::to_owned),
        max_errors: MaxErrors::Count(9),
        ..Fixture::options(std::slice::from_ref(&path))
    };
    let report = fixture.run(&options).unwrap();
    (report, lines(&fixture))
}

/// The lines of an export, sorted, without those of empty buckets.
pub fn lines(fixture: &Fixture) -> Vec<String> {
    let mut out = Vec::new();
    export(&fixture.context, None, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let files = text.lines().filter(|line| !line.contains(r#""fullPath":"/""#));
    let mut lines: Vec<String> = files.map(str::to_owned).collect();
    lines.sort();
    lines
}

pub fn expected(bucket: &str, kind: &str, path: &str, size: i64) -> String {
    format!(
        r#"{{"bucket":"{bucket}","type":"{kind}","fullPath":"{path}","size":{size},"lastModified":1666666666}}"#
    )
}

#[rstest]
#[case("ls.txt.bz2", b"BZh91AY&SY\x12\x9b", "is compressed with bzip2")]
#[case("ls.txt.xz", b"\xFD7zXZ\0\0\x04", "is compressed with xz")]
#[case("ls.zip", b"PK\x03\x04\x14", "is a ZIP archive")]
fn archives_are_refused_by_name(#[case] name: &str, #[case] content: &[u8], #[case] says: &str) {
    let fixture = Fixture::new();
    let path = fixture.folder.write(name, content);
    let refused = fixture.load(&[path]).unwrap_err().to_string();
    assert!(refused.contains(says), "{refused}");
}

#[test]
fn addresses_of_other_schemes_are_refused() {
    let refused = sources_of(&["ftp://box.example/".into()]).unwrap_err().to_string();
    assert!(refused.starts_with("ftp://box.example/: ftp addresses cannot be listed"), "{refused}");
}

const AWS: &str = "2022-10-25 02:57:46       1234 a b,c/1.txt
2022-10-25 02:57:46          0 dir/
                           PRE more/

Total Objects: 2
   Total Size: 1234
";
const S5CMD: &str = "2022/10/25 02:57:46              1234  a b,c/1.txt
                                  DIR  more/
";
const S5CMD_JSON: &str = r#"{"key":"s3://box/a b,c/1.txt","etag":"x","last_modified":"2022-10-25T02:57:46Z","type":"file","size":1234}
{"key":"s3://box/more/","type":"directory"}
"#;
const RCLONE: &str = r#"[
{"Path":"a b,c/1.txt","Name":"1.txt","Size":1234,"MimeType":"text/plain","ModTime":"2022-10-25T02:57:46.000000000Z","IsDir":false},
{"Path":"more","Name":"more","Size":-1,"MimeType":"inode/directory","ModTime":"2022-10-25T02:57:46Z","IsDir":true}
]
"#;

const CONTENTS: &str =
    r#"[{"Key":"a b,c/1.txt","LastModified":"2022-10-25T02:57:46+00:00","ETag":"x","Size":1234}]"#;
const ITEMS: &str = r#"[{"kind":"storage#object","bucket":"box","name":"a b,c/1.txt","size":"1234","updated":"2022-10-25T02:57:46Z"}]"#;
const GCLOUD_LS: &str = r#"[
  {"url":"gs://box/a b,c/1.txt#1","type":"cloud_object","metadata":{"bucket":"box","name":"a b,c/1.txt","size":"1234","updated":"2022-10-25T02:57:46.000Z"}},
  {"url":"gs://box/more/","type":"prefix"}
]"#;
const GCLOUD_LIST: &str = r#"[{"bucket":"box","creation_time":"2021-10-25T02:57:46+0000","name":"a b,c/1.txt","size":1234,"type":"text/plain","update_time":"2022-10-25T02:57:46+0000"}]"#;

#[rstest]
#[case::aws_s3_ls("list.txt", AWS)]
#[case::array_of_aws_s3api("list.json", CONTENTS)]
#[case::array_of_gcs_items("list.json", ITEMS)]
#[case::gcloud_storage_ls("list.json", GCLOUD_LS)]
#[case::gcloud_storage_objects_list("list.json", GCLOUD_LIST)]
#[case::s5cmd_ls("list.txt", S5CMD)]
#[case::s5cmd_json("list.json", S5CMD_JSON)]
#[case::rclone_lsjson("list.json", RCLONE)]
fn listings_without_end_add_files(#[case] name: &str, #[case] content: &str) {
    for (bucket, mark) in [(BOX, ""), (BOX, "\u{feff}"), ("s3://box", "")] {
        if bucket != BOX && content != S5CMD_JSON {
            continue;
        }
        let (report, lines) = loaded(name, format!("{mark}{content}"), Some(bucket));
        assert_eq!((report.tally.bad, report.tally.partial.len()), (0, 1));
        let kept = line_of_kept();
        assert_eq!(lines, [expected(BOX, "aws", "a b,c/1.txt", 1234), kept]);
    }
}

#[test]
fn array_of_several_buckets_adds_files_to_each() {
    let fixture = Fixture::new();
    let buckets = ["a.storage.googleapis.com", "b.storage.googleapis.com"];
    fixture
        .load_lines(&buckets.map(|bucket| line(bucket, "kept", 1, 1)).each_ref().map(|it| &**it));
    let text = r#"[{"bucket":"a","name":"1","size":1},{"bucket":"b","name":"2","size":1},
                   {"bucket":"a","name":"3","size":1}]"#;
    let path = fixture.folder.write("list.json", text);
    let report = fixture.load(&[path]).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (3, 0));
    assert_eq!(report.tally.partial.len(), 2, "{report}");
}

#[test]
fn report_names_a_limited_number_of_partial_listings() {
    let item = |n: usize| format!(r#"{{"bucket":"box{n}","name":"a","size":1}}"#);
    let items: Vec<String> = (0..1_203).map(item).collect();
    let (report, _) = loaded("list.json", format!("[{}]", items.join(",")), None);
    assert_eq!((report.buckets_new, report.tally.partial.len()), (1_203, 1_001));
    assert_eq!(report.tally.partial[1_000], "203 more listings do not cover their bucket");
}

#[rstest]
#[case::array("list.json", format!("[{}]", repeated(ARRAY_ITEMS, ",")))]
#[case::s5cmd("list.ndjson", repeated(S5CMD_ITEMS, "\n"))]
fn item_of_an_invalid_bucket_does_not_make_its_source_incomplete(
    #[case] name: &str,
    #[case] content: String,
) {
    let (report, _) = loaded(name, content, None);
    assert_eq!((report.tally.files, report.tally.bad), (400, 1), "{report}");
    // The listing does not say whether it is complete, and the item could have had any file.
    assert_eq!((report.tally.partial.len(), report.tally.incomplete.len()), (2, 0), "{report}");
}

/// An item of a valid bucket, and one of an invalid bucket.
const ARRAY_ITEMS: [&str; 2] =
    [r#"{"bucket":"box","name":"a","size":1}"#, r#"{"bucket":"not a bucket","name":"a","size":1}"#];
const S5CMD_ITEMS: [&str; 2] =
    [r#"{"key":"s3://box/a","size":1}"#, r#"{"key":"s3://not a bucket/a","size":1}"#];

/// Returns an invalid item among 400 valid ones.
fn repeated([valid, invalid]: [&str; 2], separator: &str) -> String {
    let mut items = vec![valid; 400];
    items.insert(200, invalid);
    items.join(separator)
}

#[test]
fn custom_metadata_of_gcs_items_is_ignored() {
    let text =
        r#"[{"bucket":"box","name":"a","size":"1","metadata":{"name":"b","IsDir":"x","Key":"c"}}]"#;
    let (report, lines) = loaded("list.json", text, None);
    assert_eq!((report.tally.bad, report.tally.incomplete.len()), (0, 0));
    assert!(lines.iter().any(|line| line.contains(r#""fullPath":"a""#)), "{lines:?}");
}

#[rstest]
#[case::blank(";;;\n;;;\n")]
#[case::spaces(" ; ;;\r\n\r\n")]
#[case::quoted("\"\";;;")]
fn empty_rows_below_a_table_are_skipped(#[case] end: &str) {
    let text = format!("bucket;fullPath;size;lastModified\n{BOX};a;1;1666666666\n{end}");
    let (report, lines) = loaded("table.csv", text, None);
    assert_eq!((report.tally.bad, report.tally.incomplete.len()), (0, 0));
    assert_eq!(lines, [expected(BOX, "aws", "a", 1)]);
}

#[rstest]
#[case::capitals("Bucket,Key,Size,LastModified")]
#[case::upper_case("BUCKET,KEY,SIZE,LASTMODIFIED")]
#[case::lower_case("bucket,fullpath,size,lastmodified")]
fn column_names_ignore_case(#[case] header: &str) {
    let (report, lines) = loaded("table.csv", format!("{header}\n{BOX},a,1,1666666666\n"), None);
    assert_eq!((report.tally.bad, lines), (0, vec![expected(BOX, "aws", "a", 1)]));
}

#[rstest]
#[case::column("list.csv", "key,path,bucket,size,lastModified\nk,p,s3://box,1,1666666666\n")]
#[case::path_before_key(
    "list.ndjson",
    r#"{"key":"k","path":"p","bucket":"s3://box","size":1,"lastModified":1666666666}"#
)]
#[case::null_is_absent(
    "list.ndjson",
    r#"{"fullPath":null,"path":"p","bucket":"s3://box","size":null,"Size":1,"LastModified":1666666666}"#
)]
#[case::all(
    "list.ndjson",
    r#"{"Key":"K","key":"k","path":"x","fullPath":"p","bucket":"s3://box","size":1,"Size":2,"lastModified":1666666666,"LastModified":5}"#
)]
fn first_documented_name_of_a_field_counts(#[case] name: &str, #[case] text: &str) {
    let (report, lines) = loaded(name, text, None);
    assert_eq!((report.tally.bad, lines), (0, vec![expected(BOX, "aws", "p", 1)]));
}

#[rstest]
#[case::aws_s3_ls("2022-10-25 02:57:46 1234 a b,c/1.txt\n2022-10-25 02:57:46 12 to")]
#[case::s5cmd_ls("2022/10/25 02:57:46 1234  a b,c/1.txt\n2022/10/25 02:57:46 12  to")]
#[case::gsutil_ls(
    "1234  2022-10-25T02:57:46Z  gs://box/a b,c/1.txt\n1  2022-10-25T02:57:46Z  gs://box/to"
)]
fn partial_last_line_of_listing_is_incomplete(#[case] content: &str) {
    let (report, lines) = loaded("list.txt", content, Some(BOX));
    assert_eq!((report.tally.bad, report.tally.incomplete.len()), (0, 1));
    assert!(report.tally.incomplete[0].ends_with("line 2 is incomplete"));
    assert_eq!(lines, [expected(BOX, "aws", "a b,c/1.txt", 1234), line_of_kept()]);
}

#[test]
fn gsutil_listing_without_sizes_is_refused() {
    let fixture = Fixture::new();
    let path = fixture.folder.write("list.txt", "gs://box/a.txt\ngs://box/b.txt\n");
    let error = fixture.load(&[path]).unwrap_err().to_string();
    assert!(error.contains("the format is not recognised"), "{error}");
}

fn line_of_kept() -> String {
    format!(r#"{{"bucket":"{BOX}","type":"aws","fullPath":"kept","size":1,"lastModified":1}}"#)
}

#[test]
fn bucket_of_listing_is_named_by_folder_or_file() {
    for name in [format!("{BOX}/page1"), format!("{BOX}.txt"), format!("{BOX}.txt.2")] {
        assert_eq!(loaded(&name, AWS, None).1.len(), 2, "{name}");
    }
    for (ending, listing) in [("json", RCLONE), ("json", CONTENTS), ("txt", CONTENTS)] {
        assert_eq!(loaded(&format!("{BOX}.{ending}"), listing, None).1.len(), 2, "{listing}");
    }
    let fixture = Fixture::new();
    let path = fixture.folder.write("list.txt", AWS);
    let error = fixture.load(&[path]).unwrap_err().to_string();
    assert!(error.contains("use --bucket"), "{error}");
}

#[test]
fn gsutil_listing_names_its_bucket() {
    let text = "      1234  2022-10-25T02:57:46Z  gs://box/a b,c/1.txt
      5  2022-10-25T02:57:46Z  gs://box/v#1666666666000001  metageneration=1
                                 gs://box/more/
TOTAL: 2 objects, 1239 bytes (1.21 KiB)
";
    let (report, lines) = loaded("list.txt", text, None);
    assert_eq!((report.tally.bad, report.tally.skipped_prefixes), (0, 1));
    let address = "box.storage.googleapis.com";
    let both = [expected(address, "gcp", "a b,c/1.txt", 1234), expected(address, "gcp", "v", 5)];
    assert_eq!(lines[1..], both);
}

#[rstest]
#[case::all("", 0)]
#[case::prefix(r#","Prefix":"a""#, 1)]
#[case::start_after(r#","StartAfter":"a""#, 1)]
#[case::token(r#","Name":"box","Prefix":"","ContinuationToken":"t","IsTruncated":false"#, 1)]
#[case::marker(r#","Marker":"a""#, 1)]
#[case::no_marker(r#","Marker":"""#, 0)]
#[case::more(r#","NextToken":"t""#, 1)]
#[case::truncated(r#","IsTruncated":true"#, 1)]
#[case::versions(r#","DeleteMarkers":[{"Key":"x"}]"#, 1)]
#[case::folders(r#","CommonPrefixes":[{"Prefix":"x/"}]"#, 1)]
#[case::no_prefix(r#","Prefix":"","RequestCharged":null,"IsTruncated":false"#, 0)]
fn s3api_listing_removes_files_if_it_is_complete(#[case] more: &str, #[case] kept: usize) {
    let text = format!(
        r#"{{
    "Contents": [{{"Key":"a b,c/1.txt","LastModified":"2022-10-25T02:57:46+00:00","ETag":"x","Size":1234,"StorageClass":"STANDARD"}}]{more}
}}"#
    );
    let (report, lines) = loaded("list.json", text, Some(BOX));
    assert_eq!((report.tally.bad, lines.len()), (0, 1 + kept), "{lines:?}");
    assert_eq!(lines[0], expected(BOX, "aws", "a b,c/1.txt", 1234));
}

#[rstest]
#[case::complete("", 0)]
#[case::folders(r#","CommonPrefixes":[{"Prefix":"x/"}]"#, 1)]
fn s3api_page_may_continue_previous_page(#[case] more: &str, #[case] kept: usize) {
    let page =
        |key: &str, more: &str| format!(r#"{{"Contents":[{{"Key":"{key}","Size":1}}]{more}}}"#);
    let first = page("a", r#","IsTruncated":true,"NextContinuationToken":"t""#);
    let second = page("b", &format!(r#","ContinuationToken":"t"{more}"#));
    let (report, lines) = loaded("list.json", first + "\n" + &second, Some(BOX));
    assert_eq!((report.tally.bad, lines.len()), (0, 2 + kept), "{lines:?}");
}

#[test]
fn long_list_of_versions_is_skipped() {
    let version = format!(r#"{{"Key":"{}"}}"#, "x".repeat(1 << 20));
    let versions = vec![version; 20].join(",");
    let text = format!(r#"{{"Contents":[{{"Key":"a","Size":1}}],"Versions":[{versions}]}}"#);
    let (report, lines) = loaded("list.json", text, Some(BOX));
    assert_eq!((report.tally.skipped_versions, lines.len()), (20, 2));
    assert_eq!(report.tally.incomplete, Vec::<String>::new());
}

#[test]
fn tables_with_semicolons_and_utf_16_are_loaded() {
    let text =
        "bucket;fullPath;size;lastModified\r\ns3://box;\u{e9},1.txt;5;2022-10-25 02:57:46\r\n";
    let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for content in [text.as_bytes(), &little, &big] {
        let (report, lines) = loaded("table.csv", content, None);
        assert_eq!(report.tally.bad, 0);
        assert_eq!(lines, [expected(BOX, "aws", "\u{e9},1.txt", 5)]);
    }
}

#[rstest]
#[case::excel("sep=;\r\nbucket;fullPath;size\r\ns3://box;a,1.txt;5\r\n")]
#[case::quoted("\"sep=;\"\nbucket;fullPath;size\ns3://box;a,1.txt;5\n")]
#[case::more_commas_in_the_header("SEP=;\nbucket;fullPath;size;a,b,c,d,e\ns3://box;a,1.txt;5;\n")]
#[case::comma("sep=,\nbucket,fullPath,size\ns3://box,\"a,1.txt\",5\n")]
#[case::tab("sep=\t\r\nbucket\tfullPath\tsize\r\ns3://box\ta,1.txt\t5\r\n")]
#[case::bar("sep=|\nbucket|fullPath|size\ns3://box|a,1.txt|5\n")]
fn line_that_declares_the_separator_precedes_the_header(#[case] text: &str) {
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    for (name, content) in [
        ("table.csv", text.as_bytes().to_vec()),
        ("table", format!("\u{feff}{text}").into_bytes()),
        ("table.txt", utf_16(text)),
    ] {
        let (report, lines) = loaded(name, content, None);
        assert_eq!((report.tally.bad, report.counts.added), (0, 1), "{name}: {report}");
        assert!(lines[0].contains(r#""fullPath":"a,1.txt","size":5"#), "{lines:?}");
    }
}

#[test]
fn line_of_the_separator_counts_in_positions() {
    let fixture = Fixture::new();
    let path = fixture
        .folder
        .write("a.csv", format!("sep=;\nbucket;fullPath;size\n{BOX};a;1\n{BOX};b;x\n"));
    let reject = fixture.folder.join("bad.ndjson");
    let options = LoadOptions {
        reject: Some(reject.clone()),
        max_errors: MaxErrors::Count(9),
        ..Fixture::options(&[path])
    };
    fixture.run(&options).unwrap();
    let reasons = std::fs::read_to_string(fixture.folder.join("bad.ndjson.reasons")).unwrap();
    assert!(reasons.contains(":4"), "{reasons}");
    assert!(!std::fs::read_to_string(reject).unwrap().contains("sep="));
}

#[test]
fn dates_before_1970_are_kept() {
    let text = format!(
        "{{\"bucket\":\"{BOX}\",\"fullPath\":\"a\",\"size\":1,\"lastModified\":\"1969-12-31 00:00:00\"}}\n"
    );
    let (_, lines) = loaded("list.ndjson", text, None);
    assert!(lines[0].contains("\"lastModified\":-86400"), "{lines:?}");
    let (_, again) = loaded("again.ndjson", lines[0].clone() + "\n", None);
    assert_eq!(again, lines);
}

#[test]
fn rounded_sizes_are_bad() {
    let text = "2022-10-25 02:57:46    1.2 KiB a.txt\n".repeat(2);
    let fixture = Fixture::new();
    let path = fixture.folder.write("list.txt", text);
    let options = LoadOptions {
        bucket: Some(BOX.to_owned()),
        format: Some("aws-ls".to_owned()),
        ..Fixture::options(&[path])
    };
    match dry_run(&fixture.context, &options) {
        Err(JobError::TooManyBad { bad: 2, lines: 2, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_in_bytes_with_unit_are_read() {
    let text = "2022-10-25 02:57:46   10 Bytes a b.txt\n2022-10-25 02:57:46    0 Bytes c.txt\n";
    let (report, lines) = loaded("list.txt", text, Some(BOX));
    assert_eq!(report.tally.bad, 0);
    let files = [expected(BOX, "aws", "a b.txt", 10), expected(BOX, "aws", "c.txt", 0)];
    assert_eq!(lines[..2], files);
}

#[rstest]
#[case::only_known_members("list.json", r#"{"RequestCharged":null,"Prefix":""}"#)]
#[case::no_contents(
    "list.json",
    "{\n  \"Name\": \"box\",\n  \"KeyCount\": 0,\n  \"IsTruncated\": false\n}"
)]
#[case::empty_contents("list.json", r#"{"Contents":[]}"#)]
#[case::page_of_gcs("list.json", r#"{"kind":"storage#objects"}"#)]
fn empty_listing_empties_its_bucket(#[case] name: &str, #[case] content: &str) {
    let (report, lines) = loaded(name, content, Some(BOX));
    assert_eq!((report.tally.bad, report.counts.removed, lines.len()), (0, 1, 0), "{report}");
    assert_eq!(report.tally.incomplete, Vec::<String>::new());
}

#[rstest]
#[case::prefix(r#"{"RequestCharged":null,"Prefix":"a"}"#)]
#[case::more(r#"{"IsTruncated":true}"#)]
#[case::bad_entries(r#"{"Contents":[{"Key":""}]}"#)]
fn empty_part_of_listing_removes_nothing(#[case] content: &str) {
    let (_, lines) = loaded("list.json", content, Some(BOX));
    assert_eq!(lines, [line_of_kept()]);
}

#[rstest]
#[case::object("{}\n")]
#[case::nulls("null\nnull\n")]
#[case::arrays("[]\n[]\n")]
#[case::error_after_array("[]\n{\"error\":\"slow down\"}\n")]
fn listing_that_does_not_say_that_it_is_empty_is_refused(#[case] content: &str) {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(BOX, "kept", 1, 1)]);
    let path = fixture.folder.write("list.json", content);
    for format in [None, Some("s3api".to_owned()), Some("gcs".to_owned())] {
        let options = LoadOptions {
            bucket: Some(BOX.to_owned()),
            format,
            ..Fixture::options(std::slice::from_ref(&path))
        };
        let error = fixture.run(&options).unwrap_err().to_string();
        assert!(error.contains("no source could be read"), "{error}");
    }
    let unnamed = fixture.folder.write("page.json", r#"{"kind":"storage#objects"}"#);
    let error = fixture.load(&[unnamed]).unwrap_err().to_string();
    assert!(error.contains("does not name its bucket: use --bucket"), "{error}");
    assert_eq!(lines(&fixture), [line_of_kept()]);
}
