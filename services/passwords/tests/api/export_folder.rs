//! Exports for static web servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use passwords::model::{Entry, Kind};
use serde_json::Value;

use crate::app::{App, Data, Numbers, hash_list};

const MANIFEST: &str = "manifest.tsv";

fn export(data: &Data, corpus: &Path, folder: &Path, extra: &[&str]) -> [u64; 3] {
    let (corpus, folder) = (corpus.to_str().unwrap(), folder.to_str().unwrap());
    let export = ["export", "--format", "folder", "--json", "-o", folder, corpus];
    let report: Value = serde_json::from_str(&data.done(&[&export, extra].concat())).unwrap();
    ["written", "unchanged", "removed"].map(|name| report[name].as_u64().unwrap())
}

/// Returns the content and the modification time of each file in a folder.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let changed = entry.metadata().unwrap().modified().unwrap();
        let content = std::fs::read(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), (content, changed))
    };
    entries.map(file).collect()
}

/// Returns lists with one small range, and with others that the service compresses.
fn lists() -> [Vec<Entry>; 2] {
    let mut numbers = Numbers::new(1);
    let sizes: Vec<(u32, usize)> = (0..40).map(|at| (at * 26_000, 30)).collect();
    let mut old = numbers.entries(Kind::Sha1, &[&[(7, 2)][..], &sizes].concat());
    old.sort_by(Entry::compare);
    let mut new = old.clone();
    // One range is changed, one is emptied and one is added.
    new.iter_mut().find(|entry| entry.prefix() == 26_000).unwrap().count ^= 1;
    new.retain(|entry| entry.prefix() != 52_000);
    new.extend(numbers.entries(Kind::Sha1, &[(9, 40)]));
    new.sort_by(Entry::compare);
    [old, new]
}

fn built(data: &Data, entries: &[Entry]) -> std::path::PathBuf {
    let list = data.write("list.txt", hash_list(Kind::Sha1, entries));
    data.path_of(&["build", list.to_str().unwrap()])
}

#[actix_web::test]
async fn an_exported_folder_has_the_responses_and_tags_of_the_service() {
    let data = Data::new();
    let corpus = data.activate(Kind::Sha1, &lists()[0]);
    let folder = data.path().join("ranges");
    assert_eq!(export(&data, &corpus, &folder, &["--compress"]), [41, 0, 0]);
    let server = App::start(&data).await;
    let files = files(&folder);
    let manifest = String::from_utf8(files[MANIFEST].0.clone()).unwrap();
    assert!(manifest.starts_with("# sha1\n"), "{manifest}");
    let mut compressed = 0;
    for line in manifest.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [prefix, plain, packed, tag] = cells[..] else { panic!("{line}") };
        for (ending, coding, length) in [(".txt", "identity", plain), (".txt.gz", "gzip", packed)] {
            let request = server.get(&format!("/range/{prefix}"));
            let answer = request.header("accept-encoding", coding).send().await.unwrap();
            let sent =
                answer.headers()["etag"].to_str().unwrap().trim_start_matches("W/").to_owned();
            assert_eq!(sent, format!("\"{tag}\""));
            let is_coded = answer.headers().contains_key("content-encoding");
            let body = answer.bytes().await.unwrap();
            if ending == ".txt" || is_coded {
                let (file, _) = &files[&format!("{prefix}{ending}")];
                assert!(*file == body, "{prefix}{ending}");
                assert_eq!(length.parse::<usize>().unwrap(), body.len());
                compressed += usize::from(is_coded);
            } else {
                assert!(length == "0" && !files.contains_key(&format!("{prefix}{ending}")));
            }
        }
    }
    assert_eq!((compressed, files.len()), (40, 41 + 40 + 1));
}

#[test]
fn an_export_writes_only_the_ranges_that_changed() {
    let data = Data::new();
    let [old, new] = lists().map(|list| built(&data, &list));
    let (folder, fresh) = (data.path().join("ranges"), data.path().join("fresh"));
    export(&data, &old, &folder, &["--compress"]);
    let before = files(&folder);
    assert_eq!(export(&data, &old, &folder, &["--compress"]), [0, 41, 0]);
    assert_eq!(export(&data, &new, &folder, &["--compress"]), [2, 39, 1]);
    assert_eq!(export(&data, &new, &fresh, &["--compress"]), [41, 0, 0]);
    let after = files(&folder);
    let contents = |files: &BTreeMap<String, (Vec<u8>, SystemTime)>| -> Vec<(String, Vec<u8>)> {
        files.iter().map(|(name, (content, _))| (name.clone(), content.clone())).collect()
    };
    assert!(contents(&after) == contents(&files(&fresh)));
    let rewritten: Vec<&str> = after
        .iter()
        .filter(|(name, file)| before.get(*name) != Some(file))
        .map(|(name, _)| name.as_str())
        .collect();
    let expected = ["00009.txt", "00009.txt.gz", "06590.txt", "06590.txt.gz", MANIFEST];
    assert_eq!(rewritten, expected);
    // Without --compress, compressed files are removed, because they could become outdated.
    assert_eq!(export(&data, &new, &folder, &[]), [40, 1, 0]);
    assert!(files(&folder).keys().all(|name| !name.ends_with(".gz")));
    // A file that is missing or truncated is written again.
    std::fs::remove_file(folder.join("00007.txt")).unwrap();
    std::fs::write(folder.join("00009.txt"), "").unwrap();
    assert_eq!(export(&data, &new, &folder, &[]), [2, 39, 0]);
    let other = data.activate(Kind::Ntlm, &Numbers::new(2).entries(Kind::Ntlm, &[(5, 2)]));
    let [other, path] = [&other, &folder].map(|path| path.to_str().unwrap());
    let refused = data.run(&["export", "--format", "folder", "-o", path, other]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("has sha1 ranges"), "{}", refused.errors);
}

#[test]
fn an_exported_folder_with_compressed_files_can_be_built() {
    let data = Data::new();
    let corpus = built(&data, &lists()[0]);
    let folder = data.path().join("ranges");
    export(&data, &corpus, &folder, &["--compress"]);
    assert_eq!(data.path_of(&["build", folder.to_str().unwrap()]), corpus);
}

#[test]
fn a_folder_with_ranges_that_no_manifest_lists_is_refused() {
    let data = Data::new();
    let corpus = built(&data, &lists()[0]);
    let folder = data.path().join("ranges");
    std::fs::create_dir(&folder).unwrap();
    // The corpus has no digests with this prefix, so the export would keep the file.
    std::fs::write(folder.join("FFFFF.txt"), "0018A45C4D1DEF81644B54AB7F969B88D65:1").unwrap();
    let [from, to] = [&corpus, &folder].map(|path| path.to_str().unwrap());
    let refused = data.run(&["export", "--format", "folder", "-o", to, from]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("ranges that no manifest lists"), "{}", refused.errors);
    assert_eq!(files(&folder).len(), 1);
}

#[test]
fn an_interrupted_export_leaves_no_removed_or_unlisted_range() {
    let data = Data::new();
    let [old, new] = [[(7, 2)], [(9, 2)]]
        .map(|sizes| built(&data, &Numbers::new(5).entries(Kind::Sha1, &sizes)));
    let folder = data.path().join("ranges");
    export(&data, &old, &folder, &[]);
    let names = || -> Vec<String> { files(&folder).into_keys().collect() };
    assert_eq!(names(), ["00007.txt", MANIFEST]);
    // One range is marked for removal, and the entry of a range that was written is not yet in the
    // journal.
    std::fs::write(folder.join("manifest.journal"), "# sha1\n00007\t-\n").unwrap();
    std::fs::write(folder.join("0000A.txt"), "unlisted").unwrap();
    std::fs::write(folder.join("0000A.txt.gz"), "unlisted").unwrap();
    export(&data, &new, &folder, &[]);
    assert_eq!(names(), ["00009.txt", MANIFEST]);
}

#[test]
fn an_export_marks_all_ranges_to_replace_before_it_replaces_any() {
    let data = Data::new();
    let [old, new] = lists().map(|list| built(&data, &list));
    let (folder, fresh) = (data.path().join("ranges"), data.path().join("fresh"));
    export(&data, &old, &folder, &[]);
    // The first range cannot be written.
    let blocked = folder.join("00009.txt");
    std::fs::create_dir(&blocked).unwrap();
    let [from, to] = [&new, &folder].map(|path| path.to_str().unwrap());
    let failed = data.run(&["export", "--format", "folder", "-o", to, from]);
    assert_eq!(failed.code, Some(1), "{}", failed.errors);
    let journal = std::fs::read_to_string(folder.join("manifest.journal")).unwrap();
    assert_eq!(journal, "# sha1\n06590\t-\n0CB20\t-\n");
    std::fs::remove_dir(&blocked).unwrap();
    assert_eq!(export(&data, &new, &folder, &[]), [2, 39, 0]);
    export(&data, &new, &fresh, &[]);
    let contents = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        files(folder).into_iter().map(|(name, (content, _))| (name, content)).collect()
    };
    assert!(contents(&folder) == contents(&fresh));
}

#[test]
fn an_unfinished_export_is_not_built() {
    let data = Data::new();
    let corpus = built(&data, &lists()[0]);
    let folder = data.path().join("ranges");
    export(&data, &corpus, &folder, &[]);
    std::fs::write(folder.join("manifest.journal"), "# sha1\n").unwrap();
    let refused = data.run(&["build", folder.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("is an unfinished export"), "{}", refused.errors);
    export(&data, &corpus, &folder, &[]);
    assert_eq!(data.path_of(&["build", folder.to_str().unwrap()]), corpus);
}

#[test]
fn a_killed_export_resumes_and_never_keeps_a_wrong_range() {
    const RANGES: u32 = 6_000;
    let data = Data::new();
    let sizes: Vec<(u32, usize)> = (0..RANGES).map(|at| (at, 1)).collect();
    let old = Numbers::new(3).entries(Kind::Sha1, &sizes);
    let new: Vec<Entry> =
        old.iter().map(|entry| Entry { count: entry.count ^ 1, ..*entry }).collect();
    let [old, new] = [old, new].map(|list| {
        let list: Vec<Entry> =
            list.into_iter().map(|entry| Entry { count: entry.count.max(2), ..entry }).collect();
        built(&data, &list)
    });
    let (folder, fresh) = (data.path().join("ranges"), data.path().join("fresh"));
    let to = folder.to_str().unwrap();
    let killed = |corpus: &Path, longest: u64| {
        let journal = folder.join("manifest.journal");
        let export = ["export", "--format", "folder", "-o", to, corpus.to_str().unwrap()];
        let mut process = data.program().start(&export);
        let length = || std::fs::metadata(&journal).map_or(0, |journal| journal.len());
        assert!(process.kill_when(|| length() > longest), "it was killed in the middle");
    };
    killed(&old, 10_000);
    let [written, unchanged, _] = export(&data, &old, &folder, &[]);
    assert!(written > 0 && unchanged > 0, "{written} {unchanged}");
    // Some of the ranges are already new when the old corpus is exported again. Each of them has a
    // mark of 8 bytes.
    killed(&new, u64::from(10 * RANGES));
    export(&data, &old, &folder, &[]);
    export(&data, &old, &fresh, &[]);
    let contents = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        files(folder).into_iter().map(|(name, (content, _))| (name, content)).collect()
    };
    assert!(contents(&folder) == contents(&fresh));
}
