//! Malicious sources and expressions: the program must stay within its limits and report the
//! reason.
//!
//! Memory is the peak memory of the process. The time limits fail only for code that hangs or is
//! exponential.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use rstest::rstest;

use crate::app::line;
use testkit::Ran;

use crate::program::{Program, text};

/// Maximum memory in MiB of a load that may use 64 MiB. The sources are larger, either uncompressed
/// or compressed.
const MOST: u64 = 200;
/// Maximum memory of a load with 20,000 new buckets.
const MOST_WITH_BUCKETS: u64 = 300;

const A: &str = "a.s3.amazonaws.com";
const MIB: usize = 1 << 20;

struct Case {
    program: Program,
    path: PathBuf,
}

impl Case {
    /// Writes a source in pieces.
    fn new(name: &str, write: impl FnOnce(&mut File)) -> Self {
        let program = Program::new();
        let path = program.folder().write(name, "");
        write(&mut File::create(&path).unwrap());
        Self { program, path }
    }

    fn load(&self, more: &[&str], most: u64) -> Ran {
        let mut arguments = vec!["load", "--json", text(&self.path)];
        arguments.extend_from_slice(more);
        let ran = self.program.run(&arguments);
        eprintln!("{}: {} MiB", self.path.display(), ran.peak_mib);
        assert!(ran.peak_mib > 0, "it was measured");
        assert!(ran.peak_mib <= most, "{} MiB of {most}", ran.peak_mib);
        assert!(ran.errors.len() < 10_000, "{}", ran.errors);
        assert_eq!(self.program.done(&["verify"]), "the index is sound\n");
        ran
    }

    /// Loads a source that does not contain good entries.
    fn refused(&self, reason: &str) {
        let ran = self.load(&[], MOST);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.errors);
        assert!(ran.errors.contains(reason), "{}", ran.errors);
        assert_eq!(self.program.status()["files"], 0);
    }

    /// Loads a source that contains good entries. Returns the report.
    fn loaded(&self) -> serde_json::Value {
        self.loaded_within(MOST)
    }

    fn loaded_within(&self, most: u64) -> serde_json::Value {
        let ran = self.load(&["--max-errors", "100%"], most);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.errors);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Loads an incomplete source that contains good entries. Returns the report.
    fn broken_off(&self) -> serde_json::Value {
        let ran = self.load(&["--max-errors", "100%"], MOST);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.errors);
        let last = ran.errors.lines().last().unwrap();
        assert!(last.contains("some sources are incomplete"), "{last}");
        serde_json::from_str(&ran.out).unwrap()
    }
}

const S3: &str = "a.s3.amazonaws.com.xml";

#[test]
fn exponential_entities_are_rejected() {
    let bomb = Case::new(S3, |file| {
        write!(file, "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a0 \"lol\">").unwrap();
        for n in 1..40 {
            let before = format!("&a{};", n - 1).repeat(10);
            write!(file, "<!ENTITY a{n} \"{before}\">").unwrap();
        }
        write!(file, "]><ListBucketResult><Contents><Key>&a39;</Key><Size>1</Size></Contents>")
            .unwrap();
    });
    bomb.refused("document types are not allowed");
}

#[rstest]
#[case::text("x")]
#[case::reference("&#120;")]
#[case::cdata("<![CDATA[x]]>")]
fn endless_key_breaks_listing(#[case] piece: &str) {
    let case = Case::new(S3, |file| {
        write!(file, "<ListBucketResult><Contents><Key>").unwrap();
        let block = piece.repeat(4 * MIB / piece.len());
        for _ in 0..40 {
            file.write_all(block.as_bytes()).unwrap();
        }
    });
    case.refused("longer than");
}

#[test]
fn endless_element_name_breaks_listing() {
    Case::new(S3, |file| {
        write!(file, "<ListBucketResult>").unwrap();
        for _ in 0..40 {
            write!(file, "<{}>", "x".repeat(4 * MIB)).unwrap();
        }
    })
    .refused("a name is longer than 1024 bytes");
}

#[test]
fn huge_keys_are_rejected() {
    let case = Case::new(S3, |file| {
        write!(file, "<ListBucketResult>").unwrap();
        let key = "k".repeat(MIB - 10);
        for _ in 0..250 {
            write!(file, "<Contents><Key>{key}</Key><Size>1</Size></Contents>").unwrap();
        }
        write!(file, "<Contents><Key>good</Key><Size>1</Size></Contents></ListBucketResult>")
            .unwrap();
    });
    let report = case.loaded();
    assert_eq!((&report["bad"], &report["added"]), (&250.into(), &1.into()));
    let reason = case.program.status()["rejected"][0]["reason"].clone();
    assert_eq!(reason, "the path is longer than 4096 bytes");
}

#[test]
fn text_between_entries_is_discarded() {
    let case = Case::new(S3, |file| {
        write!(file, "<ListBucketResult>").unwrap();
        let text = "t".repeat(MIB - 10);
        for n in 0..250 {
            write!(file, "{text}<Contents><Key>{n}</Key><Size>1</Size></Contents>").unwrap();
        }
        write!(file, "</ListBucketResult>").unwrap();
    });
    assert_eq!(case.loaded()["added"], 250);
}

#[rstest]
#[case::quoted_by_the_reason(r#"""#, r#"""#, "broken JSON")]
#[case::unknown_buckets(r#"{"fullPath":"x","size":1,"bucket":""#, r#""}"#, "the bucket address")]
#[case::deep("[", "", "broken JSON")]
fn long_lines_are_rejected_and_discarded(
    #[case] front: &str,
    #[case] back: &str,
    #[case] reason: &str,
) {
    let case = Case::new("x.ndjson", |file| {
        let good = line(A, "good", 1, 1);
        writeln!(file, "{good}").unwrap();
        for n in 0..250 {
            let body = if front == "[" { "[" } else { "b" }.repeat(MIB - 100);
            writeln!(file, "{front}{n}{body}{back}").unwrap();
        }
        // Otherwise, the source would be incomplete.
        writeln!(file, "{good}").unwrap();
    });
    let report = case.loaded();
    assert_eq!((&report["bad"], &report["added"]), (&250.into(), &1.into()));
    let first = case.program.status()["rejected"][0].clone();
    assert!(first["reason"].as_str().unwrap().starts_with(reason), "{first}");
    assert!(first.to_string().len() < 2_000, "{first}");
}

#[test]
fn million_bad_lines_stop_run_or_are_counted() {
    let case = Case::new("x.ndjson", |file| {
        writeln!(file, "{}", line(A, "good", 1, 1)).unwrap();
        let block = b"{\"bucket\":\"a.s3.amazonaws.com\",\"fullPath\":\"\xff\xfe\",\"size\":1}\n";
        let block = block.repeat(10_000);
        for _ in 0..100 {
            file.write_all(&block).unwrap();
        }
    });
    let ran = case.load(&[], MOST);
    assert_eq!(ran.code, Some(3));
    for text in ["999 of 1000 lines are bad: nothing was published", "; --reject FILE collects"] {
        assert!(ran.errors.contains(text), "{}", ran.errors);
    }
    let report = case.loaded();
    assert_eq!((&report["bad"], &report["added"]), (&1_000_000.into(), &1.into()));
    let status = case.program.status();
    assert_eq!(status["rejected"][0]["reason"], "the line is not UTF-8");
}

#[test]
fn every_line_may_name_another_bucket() {
    let case = Case::new("x.ndjson", |file| {
        for n in 0..20_000 {
            let bucket = format!("b{n}.{}.s3.amazonaws.com", "x".repeat(400));
            writeln!(file, "{}", line(&bucket, "1", 1, 1)).unwrap();
        }
    });
    let report = case.loaded_within(MOST_WITH_BUCKETS);
    assert_eq!((&report["buckets_new"], &report["bad"]), (&20_000.into(), &0.into()));
}

#[rstest]
#[case::quote("x.csv", "bucket,key,size\na.s3.amazonaws.com,good,1\na.s3.amazonaws.com,\"")]
#[case::name("x.json", r#"[{"name":"good","bucket":"box","size":"1"},{"name":""#)]
fn endless_record_breaks_source(#[case] name: &str, #[case] front: &str) {
    let case = Case::new(name, |file| {
        write!(file, "{front}").unwrap();
        let block = "x".repeat(4 * MIB);
        for _ in 0..60 {
            file.write_all(block.as_bytes()).unwrap();
        }
    });
    let report = case.broken_off();
    assert_eq!((&report["bad"], &report["added"]), (&0.into(), &1.into()));
    assert_eq!(report["incomplete"].as_array().unwrap().len(), 1);
}

#[test]
fn huge_list_as_size_is_rejected() {
    let case = Case::new("x.json", |file| {
        write!(file, r#"[{{"name":"good","bucket":"box","size":"1"}}"#).unwrap();
        for n in 0..10 {
            let list = "0,".repeat(6 * MIB);
            write!(file, r#",{{"name":"{n}","bucket":"box","size":[{list}0]}}"#).unwrap();
        }
        write!(file, "]").unwrap();
    });
    let report = case.broken_off();
    assert_eq!((&report["bad"], &report["added"]), (&10.into(), &1.into()));
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

#[test]
fn highly_compressed_source_is_streamed() {
    let case = Case::new("x.ndjson.gz", |file| {
        let good = format!("{}\n", line(A, "good", 1, 1));
        file.write_all(&packed(good.as_bytes())).unwrap();
        let zeros = packed(&vec![b' '; 4 * MIB]);
        for _ in 0..100 {
            file.write_all(&zeros).unwrap();
        }
        file.write_all(&packed(format!("\n{}", line(A, "more", 1, 1)).as_bytes())).unwrap();
    });
    assert!(case.path.metadata().unwrap().len() < 4 * MIB as u64);
    let report = case.loaded();
    assert_eq!(report["added"], 2);
}

#[test]
fn large_truncated_gzip_keeps_preceding_entries() {
    let case = Case::new("x.ndjson.gz", |file| {
        let lines: Vec<String> = (0..50_000).map(|n| line(A, &format!("file-{n}"), n, 1)).collect();
        let whole = packed(lines.join("\n").as_bytes());
        file.write_all(&whole[..whole.len() / 2]).unwrap();
    });
    let report = case.broken_off();
    let added = report["added"].as_u64().unwrap();
    assert!(added > 1_000 && added < 50_000, "{added}");
    assert!(report["incomplete"][0].as_str().unwrap().contains("line "), "{report}");
}

#[test]
fn zstd_window_of_two_gigabytes_is_rejected() {
    // Magic number, a header without a size, a window of 2^31 bytes, and one raw block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0x00, 0x00, b'x'];
    Case::new("x.ndjson.zst", |file| file.write_all(&frame).unwrap()).refused("no source could");
}

/// Expressions that are expensive because of backtracking, unrolling or multiplied classes.
const SLOW: [&str; 14] = [
    r"(a*)*b",
    r"(a|aa)+$",
    r"(a|a|a|a)*c",
    r"(.*a){12}x",
    r"(?:a?){60}a{60}",
    r".*.*.*.*.*.*=.*",
    r"([a-z]*[0-9]*)*!",
    r"(\w+\s?)*!",
    r"[^x]*[^y]*[^z]*[^a]*!",
    r"(?:(?:a{0,9}){0,9}){0,9}",
    r"(((((a{1,99}){1,99}){1,99}){1,99}){1,99})",
    r"\w{1000}\w{1000}",
    r"(\p{L}{1,50}\p{N}?){9}",
    r"[\p{L}--\p{Lu}&&[^\d]]{1,300}!",
];

#[actix_web::test]
async fn slow_expressions_stay_within_time_and_memory() {
    let program = Program::new();
    let lines: Vec<String> = (0..300)
        .map(|n| line(A, &format!("{}{n}", "a".repeat(1_000 + n as usize * 10)), 1, 1))
        .collect();
    program.done(&["load", text(&program.folder().write("long.ndjson", lines.join("\n")))]);
    let key = program.done(&["keys", "issue", "tester", "--plan", "enterprise"]);
    let mut serving = program.served(&["--search-timeout", "2"]);
    let long = format!("(?:{})", "(a|b)*".repeat(160));
    let classes = r"[\w&&[^\d]]".repeat(90);
    for expression in SLOW.into_iter().chain([long.as_str(), classes.as_str()]) {
        for correct in ["", "&noautocorrect=1"] {
            let bytes = expression.bytes();
            let query: String = bytes.map(|byte| format!("%{byte:02X}")).collect();
            let target = format!("/api/v2/files?regexp=1&full-path=1&keywords={query}{correct}");
            let request = serving.get(&target).bearer_auth(key.trim());
            // The time limit is 2 s. The rest is tolerance for busy machines.
            let response = request.timeout(Duration::from_secs(60)).send().await.unwrap();
            let status = response.status().as_u16();
            let text = response.text().await.unwrap();
            let body: serde_json::Value = serde_json::from_str(&text).unwrap();
            let (shown, peak): (String, _) =
                (expression.chars().take(40).collect(), serving.process().peak_mib());
            eprintln!("{status} {peak} MiB {shown}");
            match status {
                200 => {}
                400 => assert_eq!(body["code"], "invalid_regexp", "{expression}"),
                503 => assert_eq!(body["code"], "search_timeout", "{expression}"),
                _ => panic!("{status} {body}: {expression}"),
            }
        }
    }
    assert!(serving.process().peak_mib() <= MOST, "{} MiB", serving.process().peak_mib());
}
