//! Damaged corpora: each change is detected, and none of them causes a panic.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use passwords::Corpus;
use passwords::model::{Bucket, Kind, render};

use crate::app::{App, Data, Numbers};

const DATA_START: u64 = 4096 + 16 * ((1 << 20) + 1);

/// Creates a corpus of three small buckets: at the start, in the middle and at the end of the file.
fn small(data: &Data, kind: Kind) -> std::path::PathBuf {
    let mut entries = Numbers::new(3).entries(kind, &[(0, 2), (0x5BAA6, 3), (0xFFFFF, 1)]);
    entries[1].count = 300;
    data.activate(kind, &entries)
}

/// Returns whether the library detects damage when it opens the file or reads its buckets, like
/// `verify`.
fn is_damaged(path: &Path) -> bool {
    Corpus::open(path, 0).map_or(true, |corpus| has_damaged_bucket(&corpus))
}

fn has_damaged_bucket(corpus: &Corpus) -> bool {
    let mut buffer = Vec::new();
    [0, 0x5BAA6, 0xFFFFF].into_iter().any(|value| {
        let prefix = domain::HashPrefix::from_value(value).unwrap();
        match corpus.sound_bytes(prefix, &mut buffer) {
            Ok(bytes) => Bucket::parse(corpus.kind(), bytes)
                .and_then(|bucket| bucket.entries(value).map(|_| ()))
                .is_err(),
            Err(_) => true,
        }
    })
}

/// Reads each entry like `check` and each bucket like `serve`, without verifying digests.
fn use_all(corpus: &Corpus) {
    let mut buffer = Vec::new();
    for value in [0, 0x5BAA6, 0xFFFFF] {
        let prefix = domain::HashPrefix::from_value(value).unwrap();
        if let Ok(bytes) = corpus.bytes(prefix, &mut buffer)
            && let Ok(bucket) = Bucket::parse(corpus.kind(), bytes)
        {
            let _ = render::text(&bucket);
            let _ = bucket.find(&[0x5B; 20]);
        }
    }
}

#[test]
fn every_changed_byte_of_header_and_buckets_is_detected() {
    for kind in Kind::ALL {
        let data = Data::new();
        let path = small(&data, kind);
        assert!(!is_damaged(&path));
        let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let length = file.metadata().unwrap().len();
        // A corpus that is not in memory reads buckets from the file each time.
        let open = Corpus::open(&path, 0).unwrap();
        for at in (0..4096).chain(DATA_START..length) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 0x01], at).unwrap();
            if at < 4096 {
                assert!(is_damaged(&path), "byte {at}");
            } else {
                assert!(has_damaged_bucket(&open), "byte {at}");
                use_all(&open);
            }
            file.write_all_at(&byte, at).unwrap();
        }
        assert!(!is_damaged(&path));
    }
}

#[test]
fn changed_bytes_of_the_index_are_detected() {
    let data = Data::new();
    let path = small(&data, Kind::Sha1);
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut numbers = Numbers::new(9);
    let ends = [4096, 4097, DATA_START - 16, DATA_START - 8, DATA_START - 1];
    let random = (0..60).map(|_| 4096 + numbers.next() % (DATA_START - 4096));
    for at in ends.into_iter().chain(random.collect::<Vec<_>>()) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x80], at).unwrap();
        assert!(is_damaged(&path), "byte {at}");
        file.write_all_at(&byte, at).unwrap();
    }
}

#[test]
fn every_truncation_is_detected() {
    let data = Data::new();
    let path = small(&data, Kind::Ntlm);
    let whole = fs::metadata(&path).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for length in (DATA_START..whole).rev() {
        file.set_len(length).unwrap();
        assert!(is_damaged(&path), "{length}");
    }
    for length in [DATA_START - 1, DATA_START / 2, 4097, 4096, 4095, 100, 8, 1, 0] {
        file.set_len(length).unwrap();
        assert!(is_damaged(&path), "{length}");
    }
}

#[test]
fn verify_names_the_prefix_and_the_reason_and_exits_with_10() {
    let data = Data::new();
    let path = small(&data, Kind::Sha1);
    let name = path.to_str().unwrap();
    let good = data.run(&["verify", name]);
    assert_eq!((good.code, good.out.as_str()), (Some(0), "good: 6 entries\n"));
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&[0xFF], length - 1).unwrap();
    let bad = data.run(&["verify", name]);
    assert_eq!(bad.code, Some(10));
    assert_eq!(bad.out, "FFFFF: the digest does not match\ndamaged: 1 problems\n");
    let json = data.run(&["verify", "--json", name]);
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&report["good"], &report["damaged"]), (&false.into(), &1.into()));
    assert_eq!(report["problems"][0]["prefix"], "FFFFF");
    assert_eq!(data.run(&["verify", "--quick", name]).code, Some(0));
    file.write_all_at(&[0xFF], 5000).unwrap();
    assert_eq!(data.run(&["verify", "--quick", name]).code, Some(10));
    file.set_len(10).unwrap();
    assert_eq!(data.run(&["verify", name]).code, Some(10));
    assert_eq!(data.run(&["verify", "/nowhere.pwr"]).code, Some(1));
}

#[actix_web::test]
async fn damaged_corpus_is_not_loaded_and_the_old_one_stays() {
    let data = Data::new();
    small(&data, Kind::Sha1);
    let server = App::start(&data).await;
    let before = server.text("/range/5BAA6").await;
    let mut entries = Numbers::new(30).entries(Kind::Sha1, &[(0x5BAA6, 2)]);
    entries[0].count = 1;
    let other = data.activate(Kind::Sha1, &entries);
    let file = fs::OpenOptions::new().write(true).open(&other).unwrap();
    file.write_all_at(&[0xFF], 6000).unwrap();
    server.service.reload(false);
    assert_eq!(server.text("/range/5BAA6").await, before);
    assert_eq!(server.admin_status("/readyz").await, 200);
    fs::write(data.path().join("sha1/CURRENT"), "missing.pwr\n").unwrap();
    server.service.reload(false);
    assert_eq!(server.text("/range/5BAA6").await, before);
    fs::write(data.path().join("sha1/CURRENT"), "../../etc/passwd\n").unwrap();
    server.service.reload(false);
    assert_eq!(server.text("/range/5BAA6").await, before);
}

/// Changes a byte of a bucket.
fn damage(path: &Path, prefix: u32) {
    let corpus = Corpus::open(path, 0).unwrap();
    let (begin, end) = corpus.index().range(domain::HashPrefix::from_value(prefix).unwrap());
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, end - 1).unwrap();
    file.write_all_at(&[byte[0] ^ 1], end - 1).unwrap();
    assert!(begin < end);
}

#[test]
fn merge_refuses_a_damaged_base() {
    let data = Data::new();
    let sizes: Vec<(u32, usize)> = (0..500).map(|at| (at * 2000, 20)).collect();
    let base = data.activate(Kind::Sha1, &Numbers::new(5).entries(Kind::Sha1, &sizes));
    let current = || fs::read_to_string(data.path().join("sha1/CURRENT")).unwrap();
    let before = current();
    damage(&base, 2000);
    let more = data.write("more.txt", format!("{}:1\n", "F".repeat(40)));
    let (from, more) = (base.to_str().unwrap(), more.to_str().unwrap());
    for order in [&[][..], &["--unordered"]] {
        let merge = [&["merge", "--base", from, "--activate", more][..], order].concat();
        let merged = data.run(&merge);
        assert_eq!(merged.code, Some(1), "{}", merged.out);
        let said = "prefix 007D0: the digest does not match";
        assert!(merged.errors.contains(said), "{}", merged.errors);
        assert_eq!(current(), before);
    }
    let corpora = fs::read_dir(data.path().join("sha1")).unwrap().flatten();
    let corpora = corpora.filter(|entry| entry.path().extension().is_some_and(|e| e == "pwr"));
    assert_eq!(corpora.count(), 1);
}

#[test]
fn activate_keeps_an_intact_file_if_its_copy_is_damaged() {
    let data = Data::new();
    let sizes: Vec<(u32, usize)> = (0..500).map(|at| (at * 2000, 20)).collect();
    let active = data.activate(Kind::Sha1, &Numbers::new(5).entries(Kind::Sha1, &sizes));
    let (intact, copy) = (fs::read(&active).unwrap(), data.path().join("copy.pwr"));
    fs::copy(&active, &copy).unwrap();
    // Checks of a few random buckets often miss the damage.
    damage(&copy, 2000);
    for _ in 0..5 {
        let activated = data.run(&["activate", copy.to_str().unwrap()]);
        assert_eq!(activated.code, Some(1), "{}", activated.errors);
        assert!(fs::read(&active).unwrap() == intact);
    }
    // An intact copy repairs the file.
    fs::write(&copy, &intact).unwrap();
    damage(&active, 2000);
    data.done(&["activate", copy.to_str().unwrap()]);
    assert!(fs::read(&active).unwrap() == intact);
}

#[test]
fn export_of_a_damaged_corpus_keeps_the_earlier_export() {
    let data = Data::new();
    let sizes: Vec<(u32, usize)> = (0..50).map(|at| (at * 2000, 20)).collect();
    let path = data.activate(Kind::Sha1, &Numbers::new(5).entries(Kind::Sha1, &sizes));
    damage(&path, 4000);
    let target = data.write("hashes.txt", "an earlier export");
    let (file, out) = (path.to_str().unwrap(), target.to_str().unwrap());
    let exported = data.run(&["export", "--format", "hashes", "-o", out, file]);
    assert_eq!(exported.code, Some(1));
    assert_eq!(fs::read_to_string(&target).unwrap(), "an earlier export");
}
