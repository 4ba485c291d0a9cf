//! Removals, including the bytes on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use buckets::engine::{Cluster, ClusterIndex, FileIndex, Mode};
use reqwest::Url;
use testkit::{HttpPeer, PeerAnswer};

use super::{Servers, Table, Throwaway, first_server, raw};
use crate::paging::removed_while_read;

#[test]
fn all_rows_are_read_during_removal() {
    let Some(table) = Table::new() else { return };
    removed_while_read(&table.index, &table.throwaway.open());
}

#[test]
fn removal_erases_files_from_disk() {
    let Some(table) = Table::new() else { return };
    let (secret, other, replaced) = ("xqzjvkwpyfgmbhdc", "wdrtplhcnmvqzkxj", "kzvqmnbxtrwplsdf");
    let gone = format!("it's/{secret}\\1.txt");
    // Even bucket ids are on the shard of the first server, whose folders are checked.
    table.publish(1, Mode::Replace, &[(2, replaced), (2, &gone), (2, other), (4, &gone)]);
    // Replaced rows may stay on disk, but a removal erases them too.
    table.publish(2, Mode::Replace, &[(2, &gone), (2, &gone), (2, other), (4, &gone)]);
    let mut folders = table_folders(&table);
    if let Some(folders) = &folders {
        assert!(holds(folders, secret) && holds(folders, other));
    }
    let mut writer = table.index.writer(64).unwrap();
    assert_eq!(writer.remove(1, 2, Some("it's/"), None).unwrap(), 1);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other, gone.as_str()]);
    assert_eq!(writer.remove(2, 4, None, None).unwrap(), 1);
    assert_eq!(writer.remove(2, 4, None, None).unwrap(), 1, "killed before it was recorded");
    assert_eq!(writer.journal().removal, Some(2));
    drop(writer);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other]);
    let all = table.all_files();
    let words = format!("SELECT count() FROM {all} WHERE position(path_words, '{secret}') > 0");
    assert_eq!(raw(&words).trim(), "0");
    if let Some(folders) = &mut folders {
        folders.extend(table_folders(&table).unwrap());
        assert!(!holds(folders, secret), "words or path are still on disk");
        assert!(!holds(folders, replaced), "a replaced path is still on disk");
        assert!(!holds(folders, "it's"), "the prefix is still on disk");
        assert!(holds(folders, other));
    }
}

#[test]
fn removal_erases_the_earlier_progress_of_a_run() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(2, "a")]);
    let last_name = "xqzjvkwpyfgmbhdc";
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.checkpoint(last_name.to_owned()).unwrap();
    assert_eq!(writer.remove(1, 2, None, Some("{}".to_owned())).unwrap(), 1);
    let journal = format!("default.buckets_journal_{}", table.throwaway.generation);
    assert_eq!(raw(&format!("SELECT count() FROM {journal}")).trim(), "1");
    if let Some(folders) = table_folders(&table) {
        assert!(!holds(&folders, last_name));
    }
}

/// Part of the statement with which a verification begins.
const CHECK: &str = "sum(cityHash64(id";

/// Starts a server that passes requests on to the first server. Does some work before it passes on a
/// request with this text.
fn passing_on(text: &'static str, work: impl Fn() + Send + Sync + 'static) -> HttpPeer {
    HttpPeer::start(move |request| {
        if request.body.contains(text) {
            work();
        }
        let asked = Url::parse(&format!("http://x{}", request.target)).unwrap();
        let mut url = Url::parse(&first_server()).unwrap();
        url.set_query(asked.query());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = reqwest::Client::new().post(url).body(request.body.clone());
            let answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            PeerAnswer::Full(status, Vec::new(), answer.bytes().await.unwrap().to_vec())
        })
    })
}

#[test]
fn removal_during_verify_is_not_damage() {
    let Some(throwaway) = Throwaway::on(Servers::One) else { return };
    let table = Table { index: throwaway.open(), throwaway };
    table.publish(1, Mode::Replace, &[(1, "a"), (2, "b")]);
    let (removing, is_done) = (table.throwaway.open(), AtomicBool::new(false));
    let peer = passing_on(CHECK, move || {
        if !is_done.swap(true, Ordering::Relaxed) {
            assert_eq!(removing.writer(64).unwrap().remove(1, 2, None, None).unwrap(), 1);
        }
    });
    let index = opened_through(&peer, &table);
    assert_eq!(index.verify().unwrap(), Vec::<String>::new());
    assert_eq!(index.summary().counts.len(), 1, "the removal took place");
}

#[test]
fn verify_of_an_index_that_keeps_changing_says_so() {
    let Some(throwaway) = Throwaway::on(Servers::One) else { return };
    let table = Table { index: throwaway.open(), throwaway };
    let files: Vec<(u64, &str)> = (1..10).map(|bucket| (bucket, "a")).collect();
    table.publish(1, Mode::Replace, &files);
    let (removing, removals) = (table.throwaway.open(), AtomicU64::new(0));
    let peer = passing_on(CHECK, move || {
        let removal = removals.fetch_add(1, Ordering::Relaxed) + 1;
        let mut writer = removing.writer(64).unwrap();
        assert_eq!(writer.remove(removal as i64, removal, None, None).unwrap(), 1);
    });
    let refused = opened_through(&peer, &table).verify().unwrap_err().to_string();
    let expected = "the index is being written: it changed during each check; run verify again";
    assert_eq!(refused, expected);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

/// Opens the table's generation through a server that passes requests on.
fn opened_through(peer: &HttpPeer, table: &Table) -> ClusterIndex {
    let mut url = Url::parse(&first_server()).unwrap();
    url.set_ip_host(peer.address().ip()).unwrap();
    url.set_port(Some(peer.address().port())).unwrap();
    Cluster::connect(url.as_str(), None).unwrap().open(table.throwaway.generation).unwrap()
}

/// Returns the folders of the tables, or `None` if they cannot be read.
fn table_folders(table: &Table) -> Option<BTreeSet<PathBuf>> {
    let number = table.throwaway.generation;
    // The characters are too random to be compressed, so a path can be found on disk.
    let parts = raw(&format!(
        "SELECT DISTINCT path FROM system.parts WHERE database = 'default' AND table LIKE '%_{number}'"
    ));
    let folder = |part: &str| Path::new(part).parent().map(Path::to_owned);
    let folders: BTreeSet<PathBuf> = parts.lines().filter_map(folder).collect();
    folders.iter().all(|folder| std::fs::read_dir(folder).is_ok()).then_some(folders)
}

/// Returns true if any file in the folders contains a string.
fn holds(folders: &BTreeSet<PathBuf>, text: &str) -> bool {
    let mut folders: Vec<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // Parts may be merged in the meantime.
            let content = std::fs::read(&path).unwrap_or_default();
            if content.windows(text.len()).any(|window| window == text.as_bytes()) {
                return true;
            }
        }
    }
    false
}
