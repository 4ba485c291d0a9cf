//! Every format through the loader, with valid and with malicious content.

use std::io::Write;

use buckets::jobs::{Bad, Defaults, Item, JobError, Report, Sink, Taken, export, read};

use crate::app::{Fixture, line};

const LIST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>n</Name>
<Contents><Key>a &amp; b&#47;1.txt</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified><Size>5</Size></Contents>
<Contents><Key>dir/</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified><Size>0</Size></Contents>
<CommonPrefixes><Prefix>more/</Prefix></CommonPrefixes>
<IsTruncated>false</IsTruncated></ListBucketResult>"#;

const NAME: &str = "n.s3.eu-west-1.amazonaws.com.xml";

fn load(name: &str, content: impl AsRef<[u8]>) -> (Report, Vec<String>) {
    let fixture = Fixture::new();
    fixture.folder.write(format!("in/{name}"), content);
    let report = fixture.load(&[fixture.folder.join("in")]).unwrap();
    let mut out = Vec::new();
    export(&fixture.context, None, &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    (report, lines)
}

fn expected(bucket: &str, kind: &str, path: &str, size: i64) -> String {
    let path = serde_json::to_string(path).unwrap();
    format!(
        r#"{{"bucket":"{bucket}","type":"{kind}","fullPath":{path},"size":{size},"lastModified":1666666666}}"#
    )
}

const N: &str = "n.s3.eu-west-1.amazonaws.com";

#[test]
fn s3_listing() {
    let (report, lines) = load(NAME, LIST);
    assert_eq!(lines, [expected(N, "aws", "a & b/1.txt", 5)]);
    let tally = report.tally;
    assert_eq!((tally.skipped_directory_markers, tally.skipped_prefixes, tally.bad), (1, 1, 0));
    assert!(report.truncated.is_empty());
}

#[test]
fn s3_bucket_is_named_by_folder_or_file() {
    assert_eq!(load(&format!("{N}/page1"), LIST).1.len(), 1);
    assert_eq!(load(&format!("{NAME}.17"), LIST).1.len(), 1);
    let fixture = Fixture::new();
    let path = fixture.folder.write("listing.xml", LIST);
    assert!(fixture.load(&[path]).is_err(), "the host is missing");
}

#[test]
fn s3_file_may_have_several_pages_and_truncated_end() {
    let second = LIST.replace("1.txt", "2.txt").replace("<IsTruncated>false", "<IsTruncated>true");
    let (report, lines) = load(NAME, format!("{LIST}\n{second}"));
    assert_eq!(lines.len(), 2);
    assert_eq!(report.truncated, [N]);
    let (report, _) = load(NAME, format!("{second}{LIST}"));
    assert!(report.truncated.is_empty(), "the last page counts");
}

#[test]
fn s3_url_encoding_is_decoded_if_declared_last() {
    let list = LIST
        .replace("a &amp; b&#47;1.txt", "a%20%26+b%2F%C3%A91.txt")
        .replace("</ListBucketResult>", "<EncodingType>url</EncodingType></ListBucketResult>");
    assert_eq!(load(NAME, list).1, [expected(N, "aws", "a & b/é1.txt", 5)]);
}

#[test]
fn s3_versions_are_skipped() {
    let list = "<ListVersionsResult><Version><Key>a</Key><Size>1</Size></Version>\
                <DeleteMarker><Key>a</Key></DeleteMarker></ListVersionsResult>";
    let (report, lines) = load(NAME, list);
    assert_eq!(report.tally.skipped_versions, 2);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains(r#""fullPath":"/""#), "the bucket is empty: {lines:?}");
}

#[test]
fn azure_listing() {
    let list = r#"<?xml version="1.0"?><EnumerationResults ServiceEndpoint="https://Acc.blob.core.windows.net/" ContainerName="box">
<Blobs><Blob><Name>x/y.txt</Name><Properties><Last-Modified>Tue, 25 Oct 2022 02:57:46 GMT</Last-Modified><Content-Length>7</Content-Length></Properties></Blob>
<Blob><Name Encoded="true">a%EF%BF%BEb</Name><Properties><Last-Modified>Tue, 25 Oct 2022 02:57:46 GMT</Last-Modified><Content-Length>8</Content-Length></Properties></Blob>
<Blob><Name>old</Name><Snapshot>2020</Snapshot><Properties><Content-Length>8</Content-Length></Properties></Blob>
<BlobPrefix><Name>p/</Name></BlobPrefix></Blobs><NextMarker>more</NextMarker></EnumerationResults>"#;
    let (report, lines) = load("listing", list);
    let bucket = "acc.blob.core.windows.net/box";
    assert_eq!(
        lines,
        [expected(bucket, "azure", "x/y.txt", 7), expected(bucket, "azure", "a\u{fffe}b", 8)]
    );
    assert_eq!(report.truncated, [bucket]);
    assert_eq!((report.tally.skipped_versions, report.tally.skipped_prefixes), (1, 1));
}

#[test]
fn azure_directories_are_skipped() {
    let list = r#"<EnumerationResults ServiceEndpoint="https://acc.blob.core.windows.net/" ContainerName="box">
<Blobs><Blob><Name>dir</Name><Properties><ResourceType>directory</ResourceType><Content-Length>0</Content-Length></Properties></Blob>
<Blob><Name>dir/x.txt</Name><Properties><Last-Modified>Tue, 25 Oct 2022 02:57:46 GMT</Last-Modified><ResourceType>file</ResourceType><Content-Length>7</Content-Length></Properties></Blob></Blobs><NextMarker/></EnumerationResults>"#;
    let (report, lines) = load("listing", list);
    assert_eq!(lines, [expected("acc.blob.core.windows.net/box", "azure", "dir/x.txt", 7)]);
    assert_eq!(report.tally.skipped_directory_markers, 1);
}

#[test]
fn gcs_listings_and_item_arrays_are_loaded() {
    let items = r#"[{"kind":"storage#object","name":"x/y.txt","bucket":"box","size":"7","updated":"2022-10-25T02:57:46.000Z"},
 {"name":"gone","bucket":"box","size":"1","timeDeleted":"2022-10-25T02:57:46.000Z"}]"#;
    let page = format!(
        "{{\n \"kind\": \"storage#objects\", \"nextPageToken\": \"t\", \"prefixes\": [\"p/\"],\n \"items\": {items}}}\n"
    );
    let bucket = "box.storage.googleapis.com";
    let (report, lines) = load("listing.json", &page);
    assert_eq!(lines, [expected(bucket, "gcp", "x/y.txt", 7)]);
    assert_eq!(report.truncated, [bucket]);
    assert_eq!((report.tally.skipped_versions, report.tally.skipped_prefixes), (1, 1));
    let last = page.replace("\"nextPageToken\": \"t\", ", "");
    let (report, _) = load("listing.json", page.clone() + &last);
    assert_eq!((report.truncated.len(), report.counts.duplicates), (0, 1));
    assert_eq!(load("items.json", items).1.len(), 1);
}

#[test]
fn csv_and_tsv_are_loaded() {
    let csv = "Size,key,bucket,LastModified,other\r\n5,\"a, \"\"b\"\"\nc\",n.s3.eu-west-1.amazonaws.com,1666666666,x\r\n";
    assert_eq!(load("x.csv", csv).1, [expected(N, "aws", "a, \"b\"\nc", 5)]);
    let tsv = "\u{feff}bucket\tpath\tsize\tlastModified\nn.s3.eu-west-1.amazonaws.com\ta b\t5\t1666666666123\n";
    assert_eq!(load("x", tsv).1, [expected(N, "aws", "a b", 5)]);
}

#[test]
fn file_record_of_response_is_valid_line() {
    let line = r#"{"id":"1","bucket":"n.s3.eu-west-1.amazonaws.com","bucketId":6,"filename":"y","fullPath":"x/y","url":"u","size":5,"type":"aws","lastModified":1666666666}"#;
    assert_eq!(load("x", line).1, [expected(N, "aws", "x/y", 5)]);
}

#[test]
fn compression_is_detected_by_content() {
    let line = line(N, "x", 5, 1_666_666_666);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writeln!(gz, "{line}").unwrap();
    let gz = gz.finish().unwrap();
    assert_eq!(load("x.ndjson", [gz.clone(), gz].concat()).1.len(), 1, "two members, one file");
    let zst = zstd::encode_all(line.as_bytes(), 1).unwrap();
    assert_eq!(load("x.zst", zst).1, [expected(N, "aws", "x", 5)]);
}

#[test]
fn truncated_gzip_keeps_preceding_entries() {
    let lines: Vec<String> = (0..20_000).map(|n| line(N, &format!("file-{n}"), n, 1)).collect();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(lines.join("\n").as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let (report, lines) = load("x.gz", &gz[..gz.len() / 2]);
    assert_eq!(report.tally.incomplete.len(), 1);
    assert!(lines.len() > 1_000 && lines.len() < 20_000, "{}", lines.len());
}

#[test]
fn broken_xml_keeps_preceding_entries() {
    let broken = LIST.replace("</ListBucketResult>", "<Contents><Key>b</Size></Contents>");
    let (report, lines) = load(NAME, broken);
    assert_eq!((lines.len(), report.tally.incomplete.len()), (1, 1));
    assert!(report.tally.incomplete[0].contains("malformed XML"), "{:?}", report.tally.incomplete);
}

#[test]
fn xml_bombs_are_rejected() {
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"{}\"><!ENTITY b \"&a;&a;&a;\">]>{}",
        "x".repeat(1_000),
        LIST.replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "").replace("a &amp;", "&b;")
    );
    let fixture = Fixture::new();
    fixture.folder.write(format!("in/{NAME}"), bomb);
    assert!(fixture.load(&[fixture.folder.join("in")]).is_err());
    let unknown = LIST.replace("a &amp;", "&b;");
    let fixture = Fixture::new();
    fixture.folder.write(format!("in/{NAME}"), unknown);
    assert!(fixture.load(&[fixture.folder.join("in")]).is_err());
    let deep = format!("<ListBucketResult>{}", "<a>".repeat(100_000));
    let fixture = Fixture::new();
    fixture.folder.write(format!("in/{NAME}"), deep);
    assert!(fixture.load(&[fixture.folder.join("in")]).is_err());
}

#[test]
fn endless_entry_is_bounded() {
    let text = "x".repeat(40 << 20);
    let (report, lines) =
        load(NAME, LIST.replace("</ListBucketResult>", &format!("<Contents><Key>{text}")));
    assert_eq!((lines.len(), report.tally.incomplete.len()), (1, 1));
    let (report, lines) = load(
        "x.json",
        format!("[{{\"name\":\"a\",\"bucket\":\"box\",\"size\":\"1\"}},{{\"name\":\"{text}"),
    );
    assert_eq!((lines.len(), report.tally.incomplete.len()), (1, 1));
    let csv = format!("bucket,key,size\n{N},a,1\n{N},\"{text}");
    let (report, lines) = load("x.csv", csv);
    assert_eq!((lines.len(), report.tally.incomplete.len()), (1, 1));
    let fixture = Fixture::new();
    let path = fixture.folder.write(
        "x.ndjson",
        format!("{}\n{{\"x\":\"{text}\"}}\n{}", line(N, "a", 1, 1), line(N, "b", 1, 1)),
    );
    let report = fixture.load(&[path]).unwrap();
    assert_eq!((report.counts.added, report.tally.bad), (2, 1));
}

/// Loads a source that contains only bad entries, corrects the reject file and loads that.
fn corrected(name: &str, content: impl AsRef<[u8]>, wrong: &[u8], right: &str) -> Vec<String> {
    let fixture = Fixture::new();
    fixture.folder.write(format!("in/{name}"), content);
    let reject = fixture.folder.join("rejected");
    let options = buckets::jobs::LoadOptions {
        max_errors: buckets::jobs::MaxErrors::Count(9),
        reject: Some(reject.clone()),
        ..Fixture::options(&[fixture.folder.join("in")])
    };
    assert_eq!(fixture.run(&options).unwrap().tally.bad, 1, "{name}");
    let line = std::fs::read(&reject).unwrap();
    let place = line.windows(wrong.len()).position(|part| part == wrong);
    let place = place.unwrap_or_else(|| panic!("{name}: {}", String::from_utf8_lossy(&line)));
    let line = [&line[..place], right.as_bytes(), &line[place + wrong.len()..]].concat();
    let corrected = fixture.folder.write("corrected", line);
    assert_eq!(fixture.load(&[corrected]).unwrap().tally.bad, 0, "{name}");
    let mut out = Vec::new();
    export(&fixture.context, None, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn rejected_entries_load_after_correction() {
    let aws = [expected(N, "aws", "a \u{e9}", 5)];
    let csv =
        [b"Size,path,bucket,LastModified,key\n5,\"a \xff\",", N.as_bytes(), b",1666666666,x\n"];
    assert_eq!(corrected("x.csv", csv.concat(), b"\xff", "\u{e9}"), aws);
    let csv = "size,key,bucket,lastModified\n5,a \u{e9},nowhere,1666666666\n";
    assert_eq!(corrected("x.csv", csv, b"nowhere", N), aws);
    let entry = "<Contents><Key>a%20%FF</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified>\
                 <Size>5</Size></Contents>";
    let s3 =
        format!("<ListBucketResult>{entry}<EncodingType>url</EncodingType></ListBucketResult>");
    assert_eq!(corrected(NAME, s3, b"\xff", "\u{e9}"), aws);
    let s3 = format!("<ListBucketResult>{}</ListBucketResult>", entry.replace("5<", "big<"));
    let s3 = s3.replace("a%20%FF", "a \u{e9}");
    assert_eq!(corrected(NAME, s3, b"big", "5"), aws);
    let azure = r#"<EnumerationResults ServiceEndpoint="https://acc.blob.core.windows.net/" ContainerName="box">
<Blobs><Blob><Name>x</Name><Properties><Last-Modified>once</Last-Modified><Content-Length>7</Content-Length></Properties></Blob></Blobs></EnumerationResults>"#;
    let bucket = "acc.blob.core.windows.net/box";
    assert_eq!(
        corrected("listing", azure, b"once", "1666666666"),
        [expected(bucket, "azure", "x", 7)]
    );
    let gcs = r#"[{"name":"x","bucket":"box","size":"7 B","updated":"2022-10-25T02:57:46.000Z"}]"#;
    assert_eq!(
        corrected("x.json", gcs, b"7 B", "7"),
        [expected("box.storage.googleapis.com", "gcp", "x", 7)]
    );
}

/// A sink that keeps the ETags.
#[derive(Default)]
struct Etags(Vec<Option<String>>);

impl Sink for Etags {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.0.push(item.etag.map(str::to_owned));
        Ok(Ok(()))
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        panic!("{bad:?}");
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        panic!("{reason}");
    }
}

#[test]
fn listings_of_providers_have_etags() {
    let s3 = |etag: &str| {
        format!(
            "<Contents><Key>a</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified>{etag}\
             <Size>5</Size></Contents>"
        )
    };
    let s3 = format!(
        "<ListBucketResult>{}{}{}<IsTruncated>false</IsTruncated></ListBucketResult>",
        s3("<ETag>&quot;9b2c&quot;</ETag>"),
        s3(""),
        s3("<ETag/>"),
    );
    let azure = "<EnumerationResults ContainerName=\"https://a.blob.core.windows.net/b\"><Blobs>\
                 <Blob><Name>x</Name><Properties><Etag>0x8CB</Etag><Content-Length>7\
                 </Content-Length></Properties></Blob></Blobs><NextMarker/></EnumerationResults>";
    let gcs = r#"{"kind":"storage#objects","items":[
        {"name":"x","bucket":"b","size":"7","etag":"CAE="},
        {"name":"y","bucket":"b","size":"7"},
        {"name":"z","bucket":"b","size":"7","etag":null},
        {"Key":"s3api","Size":7,"ETag":8}]}"#;
    for (listing, expected) in [
        (s3.as_str(), &[Some("\"9b2c\""), None, None][..]),
        (azure, &[Some("0x8CB")][..]),
        (gcs, &[Some("\"CAE=\""), None, None, Some("8")][..]),
    ] {
        let mut etags = Etags::default();
        let defaults = Defaults { bucket: Some(N.to_owned()), ..Defaults::default() };
        read(std::path::Path::new("x"), listing.as_bytes(), &defaults, &mut etags).unwrap();
        let found: Vec<_> = etags.0.iter().map(Option::as_deref).collect();
        assert_eq!(found, expected, "{listing}");
    }
}

mod hostile {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        /// Damaged listings in any format must produce a report, never a panic.
        #[test]
        fn damaged_listings_are_read_or_refused(
            which in 0usize..4,
            cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            end in any::<prop::sample::Index>(),
        ) {
            let gcs = r#"{"kind": "storage#objects","items":[{"name":"x","bucket":"b","size":"7"}]}"#;
            let azure = r#"<EnumerationResults ContainerName="https://a.blob.core.windows.net/b"><Blobs><Blob><Name>x</Name><Properties><Content-Length>7</Content-Length></Properties></Blob></Blobs></EnumerationResults>"#;
            let csv = "bucket,key,size\nn.s3.amazonaws.com,\"a\",5\n";
            let mut bytes = [LIST, gcs, azure, csv][which].as_bytes().to_vec();
            for (fixture, byte) in cuts {
                let fixture = fixture.index(bytes.len());
                bytes[fixture] = byte;
            }
            bytes.truncate(end.index(bytes.len()) + 1);
            let mut sink = Ignore;
            let defaults = Defaults { bucket: Some(N.to_owned()), ..Default::default() };
            let path = std::path::Path::new("x");
            read(path, bytes.as_slice(), &defaults, &mut sink).unwrap_or_default();
        }
    }

    struct Ignore;

    impl Sink for Ignore {
        fn file(&mut self, _: &Item<'_>) -> Result<Taken, JobError> {
            Ok(Ok(()))
        }
        fn bad(&mut self, _: Bad) -> Result<(), JobError> {
            Ok(())
        }
        fn broken(&mut self, _: String) -> Result<(), JobError> {
            Ok(())
        }
    }
}
