//! Databases and indexes that do not belong together.

use std::fs;
use std::path::Path;

use rstest::rstest;

use crate::program::{Program, text};

const FILES: usize = 20;

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// A program with a SQLite database, and copies of its data.
struct Copies(Program);

impl Copies {
    fn new() -> Self {
        Self(Program::in_file())
    }

    fn load(&self, mark: usize) {
        self.0.done(&["load", text(&self.0.source(mark, FILES))]);
    }

    fn save(&self, name: &str) {
        copy(&self.0.folder().join("data"), &self.0.folder().join(name));
    }

    /// Restores the database from one copy and the index from another.
    fn restore(&self, database: &str, index: &str) {
        let folder = self.0.folder();
        let data = folder.join("data");
        fs::remove_dir_all(&data).unwrap();
        copy(&folder.join(database), &data);
        fs::remove_dir_all(self.0.index()).unwrap();
        copy(&folder.join(index).join("index"), &self.0.index());
    }

    /// Checks that all commands fail with this reason and change nothing.
    fn all_refuse(&self, reason: &str) {
        let source = self.0.source(9, FILES);
        let removals = self.0.done(&["removals"]);
        for command in [
            &["status"][..],
            &["verify"],
            &["export"],
            &["load", text(&source)],
            &["load", "--mode", "append", text(&source)],
            &["remove", "b1.s3.amazonaws.com"],
            &["rebuild"],
        ] {
            let ran = self.0.run(command);
            assert_eq!(ran.code, Some(1), "{command:?}: {}{}", ran.out, ran.errors);
            assert!(ran.errors.contains(reason), "{command:?}: {}", ran.errors);
        }
        assert_eq!(self.0.done(&["removals"]), removals);
    }

    /// Checks that both combinations of the copies "old" and "new" are rejected.
    async fn reject_mixed(&self) {
        for (database, index, reason) in
            [("old", "new", "the database is older"), ("new", "old", "the index is older")]
        {
            self.restore(database, index);
            let reason = format!("the database and the index do not match: {reason}");
            self.all_refuse(&reason);
            let (status, text) = self.readiness().await;
            assert_eq!(status, 503, "{text}");
            assert!(text.contains(&reason), "{text}");
        }
    }

    /// Returns status and text of a server's readiness check.
    async fn readiness(&self) -> (u16, String) {
        let server = self.0.served(&[]);
        let answer = server.get("/readyz").send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

#[actix_web::test]
async fn mixed_copies_of_database_and_index_are_rejected() {
    let copies = Copies::new();
    copies.load(1);
    copies.save("old");
    copies.load(2);
    copies.save("new");
    copies.reject_mixed().await;
    for (copy, mark) in [("old", 1), ("new", 2)] {
        copies.restore(copy, copy);
        assert_eq!(copies.0.published(), (Some(mark), FILES));
        assert_eq!(copies.readiness().await.0, 200);
        copies.load(3);
        assert_eq!(copies.0.published(), (Some(3), FILES));
    }
}

#[rstest]
#[case::bucket(&[], FILES - 3)]
#[case::prefix(&["--prefix", "dir/1 "], FILES - 1)]
#[actix_web::test]
async fn mixed_copies_from_before_and_after_removal_are_rejected(
    #[case] options: &[&str],
    #[case] kept: usize,
) {
    let copies = Copies::new();
    copies.load(1);
    copies.save("old");
    copies.0.done(&[&["remove", "b1.s3.amazonaws.com"], options].concat());
    copies.save("new");
    copies.reject_mixed().await;
    for (copy, files) in [("old", FILES), ("new", kept)] {
        copies.restore(copy, copy);
        assert_eq!(copies.0.published(), (Some(1), files));
        assert_eq!(copies.readiness().await.0, 200);
    }
    copies.load(2);
    assert_eq!(copies.0.published(), (Some(2), kept));
}

#[test]
fn mixed_copies_around_removal_in_first_load_are_rejected() {
    let copies = Copies::new();
    let source = copies.0.source(1, 30_000);
    let is_open = || {
        let journal = copies.0.journal(1).unwrap_or_default();
        journal["open"]["progress"].as_str().is_some_and(|text| text.contains("\"named\":[["))
    };
    assert!(copies.0.killed_when(&["load", text(&source)], is_open));
    copies.save("old");
    copies.0.done(&["remove", "b1.s3.amazonaws.com"]);
    copies.save("new");
    for (database, index, reason) in
        [("old", "new", "the database is older"), ("new", "old", "the index is older")]
    {
        copies.restore(database, index);
        copies.all_refuse(reason);
    }
    copies.restore("new", "new");
    copies.0.done(&["load", "--resume", "1"]);
    let export = copies.0.done(&["export"]);
    assert!(!export.contains("b1.s3.amazonaws.com") && export.contains("b2.s3.amazonaws.com"));
}

#[actix_web::test]
async fn database_from_before_rebuild_is_rejected() {
    let copies = Copies::new();
    copies.load(1);
    copies.save("old");
    copies.0.done(&["rebuild"]);
    copies.load(2);
    copies.save("new");
    copies.restore("old", "new");
    let source = copies.0.source(9, FILES);
    for command in [&["load", text(&source)][..], &["rebuild", text(&source)]] {
        let ran = copies.0.run(command);
        assert_eq!(ran.code, Some(1), "{}", ran.errors);
        assert!(ran.errors.contains("the index has generation 2"), "{}", ran.errors);
    }
    assert_eq!(copies.readiness().await.0, 503);
    // Both generations exist, as if a reader was still using the old one.
    copy(&copies.0.folder().join("old/index/generation-1"), &copies.0.index().join("generation-1"));
    let ran = copies.0.run(&["load", text(&source)]);
    assert!(ran.errors.contains("the index has generation 2"), "{}", ran.errors);
    copies.restore("new", "new");
    assert_eq!(copies.0.published(), (Some(2), FILES));
}

#[actix_web::test]
async fn new_database_with_old_index_is_rejected() {
    let copies = Copies::new();
    copies.load(1);
    let data = copies.0.folder().join("data");
    for suffix in ["", "-wal", "-shm"] {
        let _absent = fs::remove_file(data.join(format!("buckets.db{suffix}")));
    }
    copies.0.done(&["migrate"]);
    copies.all_refuse("the database belongs to another index");
    assert_eq!(copies.readiness().await.0, 503);
}

#[actix_web::test]
async fn missing_index_is_rejected_until_rebuilt_from_sources() {
    let copies = Copies::new();
    copies.load(1);
    fs::rename(copies.0.index(), copies.0.folder().join("away")).unwrap();
    copies.all_refuse("although a load was published");
    let (status, text) = copies.readiness().await;
    assert!(status == 503 && text.contains("the index is missing"), "{status} {text}");
    let source = copies.0.source(2, FILES);
    copies.0.done(&["rebuild", crate::program::text(&source)]);
    assert_eq!(copies.0.published(), (Some(2), FILES));
    assert_eq!(copies.readiness().await.0, 200);
    copies.load(3);
    assert_eq!(copies.0.published(), (Some(3), FILES));
}
