//! Removals, down to the bytes on disk.

use std::path::Path;

use buckets::engine::{FileIndex, Mode};

use super::{Table, raw};

#[test]
fn a_removal_leaves_no_byte_on_disk() {
    let Some(table) = Table::new() else { return };
    let (secret, other) = ("xqzjvkwpyfgmbhdc", "wdrtplhcnmvqzkxj");
    let gone = format!("it's/{secret}\\1.txt");
    // Even numbers: the shard of the first server, whose folder is looked at.
    table.publish(1, Mode::Replace, &[(2, &gone), (2, other), (4, &gone)]);
    let name = format!("buckets_files_{}", table.throwaway.generation);
    let path = raw(&format!("SELECT any(path) FROM system.parts WHERE table = '{name}'"));
    // Parts of all tables of a database lie beside each other.
    let folder = Path::new(path.trim()).parent().unwrap().parent().unwrap().to_owned();
    let number = table.throwaway.generation.to_string();
    let readable = std::fs::read_dir(&folder).is_ok();
    if readable {
        assert!(holds(&folder, &number, secret.as_bytes()));
    }
    let mut writer = table.index.writer(64).unwrap();
    assert_eq!(writer.remove(1, 2, Some("it's/"), None).unwrap(), 1);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other, gone.as_str()]);
    assert_eq!(writer.remove(2, 4, None, None).unwrap(), 1);
    assert_eq!(writer.journal().removal, Some(2));
    drop(writer);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), [other]);
    let words =
        format!("SELECT count() FROM {name}_all WHERE position(path_words, '{secret}') > 0");
    assert_eq!(raw(&words).trim(), "0");
    if readable {
        assert!(!holds(&folder, &number, secret.as_bytes()), "words or path are still on disk");
        assert!(!holds(&folder, &number, b"it's"), "the prefix is still on disk");
        assert!(holds(&folder, &number, other.as_bytes()));
    }
}

/// Whether a file of the generation's tables holds some bytes.
fn holds(folder: &Path, number: &str, bytes: &[u8]) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(number) {
                // Parts may be merged away meanwhile.
                let content = std::fs::read(&path).unwrap_or_default();
                if content.windows(bytes.len()).any(|window| window == bytes) {
                    return true;
                }
            }
        }
    }
    false
}
