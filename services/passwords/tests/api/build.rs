//! Builds from every format, and every parsing rule.

use std::io::Write;

use passwords::Corpus;
use passwords::model::{Entry, Kind};
use rstest::rstest;

use crate::app::{Data, Numbers, digest, hash_list};

const SHA1: &str = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8";
const NTLM: &str = "8846F7EAEE8FB117AD06BDD830B7586C";

fn entries(kind: Kind) -> Vec<Entry> {
    let mut numbers = Numbers::new(10);
    let sizes: Vec<(u32, usize)> = (0..300)
        .map(|_| ((numbers.next() % (1 << 20)) as u32, 1 + numbers.next() as usize % 9))
        .collect();
    let mut entries = numbers.entries(kind, &sizes);
    entries.extend(numbers.entries(kind, &[(0, 40), (0xFFFFF, 1200)]));
    entries.sort_by(Entry::compare);
    entries
}

fn id(data: &Data, arguments: &[&str]) -> String {
    let path = data.path_of(arguments);
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Returns the entries of a corpus as `HASH:COUNT` lines.
fn listed(data: &Data, arguments: &[&str]) -> String {
    let path = data.path_of(arguments);
    data.done(&["export", "--format", "hashes", path.to_str().unwrap()])
}

fn shuffled(entries: &[Entry]) -> Vec<Entry> {
    let mut numbers = Numbers::new(11);
    let mut shuffled = entries.to_vec();
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, numbers.next() as usize % (at + 1));
    }
    shuffled
}

/// Splits each count above 1 into two lines.
fn doubled(entries: &[Entry]) -> Vec<Entry> {
    let halves = |entry: &Entry| {
        let half = entry.count / 2;
        let rest = Entry { count: entry.count - half, ..*entry };
        if half == 0 { vec![rest] } else { vec![Entry { count: half, ..*entry }, rest] }
    };
    entries.iter().flat_map(halves).collect()
}

#[test]
fn equal_lists_in_different_formats_build_the_same_corpus() {
    for kind in Kind::ALL {
        let data = Data::new();
        let entries = entries(kind);
        let clean = data.write("clean.txt", hash_list(kind, &entries));
        let expected = id(&data, &["build", clean.to_str().unwrap()]);
        let text = hash_list(kind, &entries);
        let variants = [
            ("cr-lf", text.replace('\n', "\r\n")),
            ("unterminated", text.trim_end().to_owned()),
            ("lower", text.to_lowercase()),
            ("spaces", text.replace('\n', "  \n")),
            ("empty lines", text.replace('\n', "\n\n")),
            (
                "padding",
                text.replace('\n', &format!("\n{}:0\n", "0".repeat(kind.hash_bytes() * 2))),
            ),
            ("doubled", hash_list(kind, &doubled(&entries))),
            ("shuffled", hash_list(kind, &shuffled(&entries))),
            ("both", hash_list(kind, &shuffled(&doubled(&entries))).replace('\n', "\r\n")),
        ];
        for (name, text) in variants {
            let list = data.write(name, &text);
            assert_eq!(id(&data, &["build", list.to_str().unwrap()]), expected, "{name}");
            let unordered = ["build", "--unordered", "--memory", "1M", list.to_str().unwrap()];
            assert_eq!(id(&data, &unordered), expected, "{name}, unordered");
        }
        let (a, b): (Vec<Entry>, Vec<Entry>) =
            doubled(&entries).into_iter().partition(|entry| entry.count % 3 == 0);
        let a = data.write("a.txt", hash_list(kind, &a));
        let b = data.write("b.txt", hash_list(kind, &b));
        let both = ["build", a.to_str().unwrap(), b.to_str().unwrap()];
        assert_eq!(id(&data, &both), expected, "two ordered inputs");
        let piped = data.pipe(&["build", "--kind", kind.name(), "-"], text.as_bytes());
        assert!(piped.out.contains(&expected), "{}", piped.errors);
    }
}

#[test]
fn an_export_builds_the_same_corpus() {
    for kind in Kind::ALL {
        let data = Data::new();
        let list = data.write("list.txt", hash_list(kind, &entries(kind)));
        let corpus = data.path_of(&["build", list.to_str().unwrap()]);
        let (corpus, id_of) = (corpus.to_str().unwrap(), corpus.file_stem().unwrap());
        let (hashes, folder) = (data.path().join("hashes.txt"), data.path().join("folder"));
        for (format, output) in [("hashes", &hashes), ("folder", &folder)] {
            let output = output.to_str().unwrap();
            let exported = data.run(&["export", "--format", format, "-o", output, corpus]);
            assert!(exported.code == Some(0), "{}", exported.errors);
            let built = id(&data, &["build", output]);
            assert_eq!(built.as_str(), id_of, "{format}");
        }
        // A suffix can look as if it belongs to neither kind, so a folder needs `--kind`.
        let named = id(&data, &["build", "--kind", kind.name(), folder.to_str().unwrap()]);
        assert_eq!(named.as_str(), id_of);
    }
}

#[test]
fn folder_build_accepts_nested_compressed_and_bare_files() {
    let data = Data::new();
    let entries = Numbers::new(2).entries(Kind::Sha1, &[(0x00001, 4), (0x00002, 3), (0xABCDE, 5)]);
    let list = data.write("list.txt", hash_list(Kind::Sha1, &entries));
    let expected = id(&data, &["build", list.to_str().unwrap()]);
    let body = |prefix| crate::app::expected_range(Kind::Sha1, &entries, prefix);
    let folder = data.path().join("ranges");
    data.write("ranges/00001", body(1));
    data.write("ranges/00/00002.txt", body(2).to_lowercase());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(body(0xABCDE).as_bytes()).unwrap();
    data.write("ranges/ab/abcde.txt.gz", packed.finish().unwrap());
    data.write("ranges/.DS_Store", "x");
    assert_eq!(id(&data, &["build", folder.to_str().unwrap()]), expected);
    // The official downloader stores the entity tags of the ranges in these files.
    for name in ["sha1.index", "ntlm.index"] {
        data.write(&format!("ranges/{name}"), "00001 \"0x8DD\"\n");
    }
    let skipped = data.run(&["build", folder.to_str().unwrap()]);
    assert_eq!(skipped.code, Some(0), "{}", skipped.errors);
    assert!(skipped.out.contains(&expected), "{}", skipped.out);
    for name in ["sha1.index", "ntlm.index"] {
        let said = format!("{name} was skipped: it contains no ranges");
        assert_eq!(skipped.errors.matches(&said).count(), 1, "{}", skipped.errors);
    }
    data.write("ranges/ABCDE", body(0xABCDE));
    let twice = data.run(&["build", folder.to_str().unwrap()]);
    assert_eq!(twice.code, Some(1));
    assert!(twice.errors.contains("are for the same prefix"), "{}", twice.errors);
    let wrong = data.write("other/README.md", "x");
    let wrong = data.run(&["build", "--kind", "sha1", wrong.parent().unwrap().to_str().unwrap()]);
    assert!(wrong.errors.contains("is not named PREFIX"), "{}", wrong.errors);
}

#[rstest]
#[case::no_digest("hello", "expected 40 hexadecimal characters")]
#[case::short("5BAA6:3", "expected 40 hexadecimal characters")]
#[case::no_hex("ZBAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3", "expected 40 hexadecimal")]
#[case::negative(
    "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:-3",
    "the count must contain only digits"
)]
#[case::separators("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:1,000", "must contain only digits")]
#[case::no_count("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:", "must contain only digits")]
#[case::leading_space(" 5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3", "expected 40 hexadecimal")]
#[case::other_kind(
    "8846F7EAEE8FB117AD06BDD830B7586C:3",
    "different kind than those in earlier lines"
)]
fn invalid_line_is_reported_and_can_be_skipped(#[case] line: &str, #[case] reason: &str) {
    let data = Data::new();
    let good = "0".repeat(40);
    let list = data.write("list.txt", format!("{good}:1\n\n{line}\n"));
    let list = list.to_str().unwrap();
    for extra in [&[][..], &["--unordered"]] {
        let output = data.run(&[&["build", list], extra].concat());
        assert_eq!(output.code, Some(1));
        let message = output.errors;
        assert!(message.contains("list.txt, line 3: ") && message.contains(reason), "{message}");
        let output = data.run(&[&["build", "--lenient", "--json", list], extra].concat());
        let report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!((&report["entries"], &report["read"]["skipped"]), (&1.into(), &1.into()));
    }
    // Only the finished corpus remains.
    let left: Vec<String> = std::fs::read_dir(data.path().join("sha1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn skipped_lines_do_not_split_the_bucket_of_their_neighbours() {
    let data = Data::new();
    // The list is longer than the chunks in which it is read.
    let text: String = (0..40_000u32).map(|at| format!("AAAAA{at:035X}:1\nBBBBB\n")).collect();
    let list = data.write("list.txt", text);
    let report = data.done(&["build", "--lenient", "--json", list.to_str().unwrap()]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let (entries, skipped) = (&report["entries"], &report["read"]["skipped"]);
    assert_eq!((entries, skipped), (&40_000.into(), &40_000.into()));
}

#[test]
fn counts_saturate_add_up_and_default_to_one() {
    let data = Data::new();
    let (a, b, c) = ("A".repeat(40), "B".repeat(40), "C".repeat(40));
    let text = format!("{a}:99999999999\n{b}:2147483647\n{b}:5\n{c}\n{}:0\n", "D".repeat(40));
    let list = data.write("list.txt", text);
    let expected = format!("{a}:2147483647\n{b}:2147483647\n{c}:1\n");
    assert_eq!(listed(&data, &["build", list.to_str().unwrap()]), expected);
    assert_eq!(listed(&data, &["build", "--unordered", list.to_str().unwrap()]), expected);
}

#[test]
fn counts_of_several_inputs_are_added_or_the_larger_one_is_used() {
    let data = Data::new();
    let (a, b) = ("A".repeat(40), "B".repeat(40));
    let one = data.write("1.txt", format!("{a}:5\n{a}:2\n{b}:1\n"));
    let two = data.write("2.txt", format!("{a}:6\n"));
    let inputs = [one.to_str().unwrap(), two.to_str().unwrap()];
    for (option, count) in [("sum", 13), ("max", 7)] {
        for order in [&[][..], &["--unordered"]] {
            let arguments = [&["build", "--on-duplicate", option], order, &inputs].concat();
            assert_eq!(listed(&data, &arguments), format!("{a}:{count}\n{b}:1\n"), "{option}");
        }
    }
}

#[test]
fn unordered_file_is_sorted_on_a_second_pass() {
    let data = Data::new();
    let text = format!("{}:1\n{}:2\n", "B".repeat(40), "A".repeat(40));
    let list = data.write("list.txt", &text);
    let output = data.run(&["build", list.to_str().unwrap()]);
    assert!(output.code == Some(0));
    let message = output.errors;
    assert!(message.contains("list.txt, line 2: not sorted by hash"), "{message}");
    let output = data.pipe(&["build", "--kind", "sha1", "-"], text.as_bytes());
    assert_eq!(output.code, Some(1));
    let message = output.errors;
    assert!(message.contains("standard input, line 2: not sorted by hash; use --unordered"));
    let output = data.pipe(&["build", "--kind", "sha1", "--unordered", "-"], text.as_bytes());
    assert!(output.code == Some(0), "{}", output.errors);
}

#[test]
fn list_with_both_kinds_is_rejected() {
    let data = Data::new();
    let sha1 = data.write("sha1.txt", SHA1);
    let ntlm = data.write("ntlm.txt", NTLM);
    let (sha1, ntlm) = (sha1.to_str().unwrap(), ntlm.to_str().unwrap());
    for arguments in [&["build", sha1, ntlm][..], &["build", "--kind", "ntlm", sha1]] {
        let output = data.run(arguments);
        assert_eq!(output.code, Some(1));
        assert!(output.errors.contains("digests, not"), "{}", output.errors);
    }
    let output = data.pipe(&["build", ntlm, "-"], SHA1.as_bytes());
    assert!(output.errors.contains("digests, not"), "{}", output.errors);
    let output = data.pipe(&["build", "-"], b"");
    assert!(output.errors.contains("use --kind sha1 or --kind ntlm"), "{}", output.errors);
    let output = data.pipe(&["build", "-"], b"\npassword\n");
    assert!(
        output.errors.contains("standard input, line 2: expected a digest"),
        "{}",
        output.errors
    );
    let empty = data.write("empty.txt", "");
    let output = data.run(&["build", empty.to_str().unwrap()]);
    assert!(output.errors.contains("use --kind"), "{}", output.errors);
    let output = data.run(&["build", "--kind", "sha1", "--allow-empty", empty.to_str().unwrap()]);
    assert!(output.code == Some(0));
    let corpus = Corpus::open(output.out.trim().as_ref(), 0).unwrap();
    assert_eq!((corpus.header().entries, corpus.header().file_length), (0, 16_781_328));
}

#[test]
fn kind_of_a_piped_list_is_detected() {
    let data = Data::new();
    for kind in Kind::ALL {
        let text = hash_list(kind, &entries(kind));
        let list = data.write("list.txt", &text);
        let expected = data.done(&["build", list.to_str().unwrap()]);
        for piped in [text.clone(), format!("\u{feff}\r\n{text}")] {
            for order in [&["build", "-"][..], &["build", "--unordered", "-"]] {
                let built = data.pipe(order, piped.as_bytes());
                assert_eq!((built.code, &built.out), (Some(0), &expected), "{}", built.errors);
            }
        }
    }
}

#[test]
fn plaintext_builds_both_kinds_at_once() {
    let data = Data::new();
    let text = "password\r\n\npassword\n$HEX[70617373776f7264]\n spaced \np\u{fc}\n";
    let mut text = text.as_bytes().to_vec();
    text.extend_from_slice(b"p\xFC\nlast");
    let list = data.write("passwords.txt", &text);
    let output =
        data.run(&["build", "--input-format", "plaintext", "--json", list.to_str().unwrap()]);
    let reports: Vec<serde_json::Value> =
        output.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 2);
    let mut lists = Vec::new();
    for (kind, report) in Kind::ALL.iter().zip(&reports) {
        assert_eq!(report["kind"], kind.name());
        assert_eq!(report["entries"], 4);
        assert_eq!((&report["read"]["not_text"], &report["read"]["empty"]), (&1.into(), &1.into()));
        let path = report["path"].as_str().unwrap();
        lists.push(data.done(&["export", "--format", "hashes", path]));
    }
    assert!(lists[0].contains(&format!("{SHA1}:3\n")));
    assert!(lists[1].contains(&format!("{NTLM}:3\n")));
    let spaced = domain::Sha1Digest::of(b" spaced ").to_string();
    assert!(lists[0].contains(&spaced));
    let umlaut = domain::NtlmDigest::of("p\u{fc}").to_string();
    assert!(lists[1].contains(&umlaut));
    let latin1 = ["build", "--input-format", "plaintext", "--encoding", "latin1", "--kind", "ntlm"];
    let text = listed(&data, &[&latin1[..], &[list.to_str().unwrap()]].concat());
    assert!(text.contains(&umlaut), "{text}");
}

#[test]
fn plaintext_with_counts_is_accepted() {
    let data = Data::new();
    let list = data.write("counted.txt", "7 password\n3 password\n0 other\n2  x\n");
    let arguments = ["build", "--input-format", "plaintext", "--with-counts", "--kind", "sha1"];
    let text = listed(&data, &[&arguments[..], &[list.to_str().unwrap()]].concat());
    let spaced = domain::Sha1Digest::of(b" x").to_string();
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains(&format!("{SHA1}:10\n")) && text.contains(&format!("{spaced}:2\n")));
    let wrong = data.write("wrong.txt", "password\n");
    let output = data.run(&[&arguments[..], &[wrong.to_str().unwrap()]].concat());
    assert_eq!(output.code, Some(1));
    assert!(output.errors.contains("wrong.txt, line 1: expected a count and one space"));
}

#[test]
fn a_bucket_beyond_the_limit_is_an_error_that_names_the_prefix() {
    let data = Data::new();
    let text: String = (0..=65_535u32).map(|at| format!("ABCDE{at:035X}:1\n")).collect();
    let list = data.write("list.txt", text);
    let output = data.run(&["build", list.to_str().unwrap()]);
    assert_eq!(output.code, Some(1));
    assert!(output.errors.contains("prefix ABCDE has 65536 entries"), "{}", output.errors);
}

#[test]
fn a_missing_input_a_folder_of_passwords_and_a_full_disk_are_clear_errors() {
    let data = Data::new();
    let output = data.run(&["build", "/nowhere/list.txt"]);
    assert_eq!(output.code, Some(1));
    assert!(output.errors.contains("cannot read /nowhere/list.txt"), "{}", output.errors);
    let folder = data.path().to_str().unwrap();
    let output = data.run(&["build", "--input-format", "plaintext", folder]);
    assert!(output.errors.contains("is a folder, not a list of passwords"));
    assert_eq!(data.run(&["build"]).code, Some(2));
    assert_eq!(data.run(&["build", "--memory", "1", folder]).code, Some(2));
}

#[test]
fn a_full_disk_leaves_no_temporary_files() {
    let data = Data::new();
    let list = data.write("list.txt", hash_list(Kind::Sha1, &entries(Kind::Sha1)));
    for extra in ["", "--unordered"] {
        // A file size limit fails in the same way as a full disk: late, while writing.
        let script = format!(
            "trap '' XFSZ; ulimit -f 8000; exec {} build {extra} {}",
            env!("CARGO_BIN_EXE_passwords"),
            list.display()
        );
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &script]).env("DATA_DIR", data.path());
        let output = data.program().run_command(command);
        assert_eq!(output.code, Some(1), "{}", output.errors);
        assert!(output.errors.contains("cannot write"), "{}", output.errors);
        let left: Vec<_> = std::fs::read_dir(data.path().join("sha1"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(left, [".lock"]);
    }
}

#[test]
fn digests_in_reports_are_those_of_the_list() {
    let data = Data::new();
    let entries = entries(Kind::Sha1);
    let list = data.write("list.txt", hash_list(Kind::Sha1, &entries));
    let expected: String =
        entries.iter().map(|e| format!("{}:{}\n", digest(Kind::Sha1, e), e.count)).collect();
    assert_eq!(listed(&data, &["build", list.to_str().unwrap()]), expected);
}

#[test]
fn byte_order_mark_is_skipped_and_compressed_input_is_rejected() {
    let data = Data::new();
    let list = |content: &[u8]| data.write("list.txt", content).to_str().unwrap().to_owned();
    let marked = list(format!("\u{feff}{SHA1}:3\r\n").as_bytes());
    for order in [&[][..], &["--unordered"]] {
        assert_eq!(listed(&data, &[&["build", &marked], order].concat()), format!("{SHA1}:3\n"));
    }
    let plain = list("\u{feff}password\n".as_bytes());
    let build = ["build", "--input-format", "plaintext", "--kind", "sha1", &plain];
    assert_eq!(listed(&data, &build), format!("{SHA1}:1\n"));
    for (content, extra, said) in [
        (
            &b"\x1F\x8B\x08\0\0\0\0\0"[..],
            &[][..],
            "list.txt is compressed; decompress it first: `gzip -dc",
        ),
        (b"\x28\xB5\x2F\xFD\0\0", &["--input-format", "plaintext"], "is compressed"),
        (b"\xFF\xFE5\0B\0", &[], "is UTF-16 text"),
        (b"\nhash,count\n1,2\n", &[], "list.txt, line 2: expected a digest of 40 (SHA-1) or 32"),
    ] {
        let output = data.run(&[&["build", &list(content)], extra].concat());
        assert_eq!(output.code, Some(1));
        assert!(output.errors.contains(said), "{}", output.errors);
    }
    let header = list(format!("hash:count\n{SHA1}:3\n").as_bytes());
    let errors = data.run(&["build", &header]).errors;
    assert!(errors.contains("line 1: expected 40 hexadecimal characters"), "{errors}");
    assert_eq!(listed(&data, &["build", "--lenient", &header]), format!("{SHA1}:3\n"));
}

#[test]
fn both_kinds_of_a_password_list_are_activated_or_none() {
    let data = Data::new();
    let list = data.write("list.txt", "password\n");
    // A folder instead of `CURRENT` simulates a disk that fills up at the second kind.
    let blocked = data.path().join("ntlm/CURRENT");
    std::fs::create_dir_all(&blocked).unwrap();
    let build = ["build", "--input-format", "plaintext", "--activate", list.to_str().unwrap()];
    let output = data.run(&build);
    assert_eq!(output.code, Some(1), "{}", output.errors);
    assert!(!data.path().join("sha1/CURRENT").exists());
    assert!(!data.path().join("sha1/CURRENT.tmp").exists());
    std::fs::remove_dir(&blocked).unwrap();
    data.done(&build);
    assert!(data.path().join("sha1/CURRENT").exists() && blocked.is_file());
}
