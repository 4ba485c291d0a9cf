//! Removals, including the bytes on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use buckets::engine::{FileIndex, Mode};

use super::{Table, raw};
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
