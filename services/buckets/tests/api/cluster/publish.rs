//! Runs, publishes and the write lock.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use buckets::engine::{
    BucketLoss, EngineError, FileIndex, Limits, Mode, NewerFiles, PublishCounts, RemovalLimit,
};

use buckets::model::{Attribute, FileQuery};

use super::{Table, all_of, first_server, named, raw, tables_beginning, words};

#[test]
fn replace_drops_old_files_of_named_buckets_only() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (2, "c")]);
    let counts = table.publish(2, Mode::Replace, &[(1, "b"), (1, "d"), (1, "d")]);
    let expected = PublishCounts { added: 1, replaced: 1, unchanged: 0, removed: 1, duplicates: 1 };
    assert_eq!(counts, expected);
    assert_eq!(table.all(), ["c", "b", "d"]);
    let counts = table.publish(3, Mode::Append, &[(2, "c"), (2, "e")]);
    assert_eq!(
        counts,
        PublishCounts { added: 1, replaced: 1, unchanged: 0, removed: 0, duplicates: 0 }
    );
    assert_eq!(table.all(), ["b", "d", "c", "e"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn incomplete_bucket_loses_no_file() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (2, "c")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "b"), (2, "d")])).unwrap();
    let mut buckets = named(&[(1, ""), (2, "")]);
    buckets[0].partial = true;
    let counts = writer.publish(Mode::Replace, buckets, 6).unwrap();
    assert_eq!(
        counts,
        PublishCounts { added: 1, replaced: 1, unchanged: 0, removed: 1, duplicates: 0 }
    );
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["a", "b", "d"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn open_run_is_hidden_and_resumable() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "old")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "kept"), (2, "kept too")])).unwrap();
    writer.checkpoint("noted".to_owned()).unwrap();
    // More than a batch, so that some rows are stored after the checkpoint.
    let long = "x".repeat(4_000);
    let lost: Vec<String> = (0..4_000).map(|number| format!("lost/{number}/{long}")).collect();
    let lost: Vec<(u64, &str)> = lost.iter().map(|path| (3, path.as_str())).collect();
    writer.add(&all_of(&lost)).unwrap();
    assert_eq!(table.all(), ["old"]);
    drop(writer);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["old"]);
    let mut writer = table.index.writer(64).unwrap();
    let open = writer.journal().open.clone().unwrap();
    assert_eq!((open.run, open.progress.as_str()), (2, "noted"));
    assert_eq!(raw(&format!("SELECT count() FROM {}", table.all_files())).trim(), "3");
    writer.add(&all_of(&[(1, "after")])).unwrap();
    writer.publish(Mode::Replace, named(&[(1, ""), (2, "")]), 6).unwrap();
    assert!(table.index.refresh().unwrap());
    assert_eq!(table.all(), ["kept", "kept too", "after"]);
}

/// Without an open run, states do not have an upper bound for ids. The rows of a new run must still
/// be hidden.
#[test]
fn run_started_during_search_is_hidden() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "old")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "new")])).unwrap();
    writer.checkpoint(String::new()).unwrap();
    assert_eq!(table.paths(&words("-other")), ["old"]);
    assert_eq!(table.paths(&words("new")), Vec::<String>::new());
    writer.abort().unwrap();
    assert_eq!(table.paths(&words("new")), Vec::<String>::new());
    table.index.refresh().unwrap();
    assert_eq!(table.paths(&words("old")), ["old"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn search_reads_single_state() {
    let Some(table) = Table::new() else { return };
    let files = |run: u64| -> Vec<String> { (0..60).map(|n| format!("run{run}/{n}")).collect() };
    let publish = |run: u64| {
        let paths = files(run);
        let files: Vec<(u64, &str)> =
            (0..).zip(&paths).map(|(n, path)| (n % 7 + 1, path.as_str())).collect();
        table.publish(run, Mode::Replace, &files);
    };
    publish(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let paths = table.all();
                let run = paths[0].split('/').next().unwrap();
                assert!(paths.iter().all(|path| path.starts_with(run)), "{paths:?}");
                assert_eq!(paths.len(), 60);
            }
        });
        (1..6).for_each(publish);
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn only_one_writer_is_allowed() {
    let Some(table) = Table::new() else { return };
    let writer = table.index.writer(64).unwrap();
    assert!(matches!(table.throwaway.open().writer(64), Err(EngineError::Locked(_))));
    drop(writer);
    drop(table.index.writer(64).unwrap());
    // Two holders on unknown machines. The lease of one has expired.
    let other = Lease::of(&table, "7");
    other.renewed_before(20);
    match table.index.writer(64) {
        Err(EngineError::Locked(holder)) => assert_eq!(holder, "run 7"),
        other => panic!("{:?}", other.err()),
    }
    other.remove();
    let other = Lease::of(&table, "8");
    other.renewed_before(40);
    let mut writer = table.index.writer(64).unwrap();
    assert!(!other.is_there(), "it was taken over");
    // Simulates that another process takes over this writer's lock.
    for name in Lease::all(&table) {
        raw(&format!("DROP TABLE default.{name}"));
    }
    let third = Lease::of(&table, "9");
    third.renewed_before(0);
    assert!(matches!(writer.begin(8), Err(EngineError::Locked(_))));
    drop(writer);
    assert!(third.is_there(), "a lock of another writer is not released");
    third.remove();
}

/// Returns the table with the rows of the first server.
fn files_of(table: &Table) -> String {
    format!("default.buckets_files_{}", table.throwaway.generation)
}

#[test]
fn rows_of_a_running_insert_are_deleted() {
    // Without a cluster, the server may be one that runs a single statement at a time.
    if std::env::var_os("TEST_CLICKHOUSE_CLUSTER").is_none() {
        return;
    }
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(2, "kept")]);
    let files = files_of(&table);
    let count = format!("SELECT count() FROM {}", table.all_files());
    std::thread::scope(|scope| {
        let slow = format!(
            "INSERT INTO {files} (bucket, id) SELECT 2 + sleepEachRow(0.7), number + 2 FROM numbers(4)"
        );
        let insert = scope.spawn(move || raw(&slow));
        let running = format!(
            "SELECT count() FROM system.processes WHERE startsWith(query, 'INSERT INTO {files} ')"
        );
        testkit::until_blocking("the insert runs", || raw(&running).trim() == "1");
        drop(table.index.writer(64).unwrap());
        insert.join().unwrap();
    });
    assert_eq!(raw(&count).trim(), "1");
}

#[test]
fn publish_with_rows_of_another_writer_is_refused() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(2, "kept")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(2, "own")])).unwrap();
    raw(&format!("INSERT INTO {} (bucket, id) VALUES (2, 2)", files_of(&table)));
    match writer.publish(Mode::Replace, named(&[(2, "")]), 6) {
        Err(EngineError::Broken(why)) => assert!(why.contains("start another load"), "{why}"),
        other => panic!("{other:?}"),
    }
    writer.abort().unwrap();
    drop(writer);
    table.publish(3, Mode::Append, &[(2, "own")]);
    assert_eq!(table.all(), ["kept", "own"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn writer_without_lock_inserts_nothing() {
    let Some(table) = Table::new() else { return };
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(1).unwrap();
    for name in Lease::all(&table) {
        raw(&format!("DROP TABLE default.{name}"));
    }
    // More than a batch.
    let long = "x".repeat(4_000);
    let paths: Vec<String> = (0..4_000).map(|number| format!("{number}/{long}")).collect();
    let files: Vec<(u64, &str)> = paths.iter().map(|path| (2, path.as_str())).collect();
    assert!(matches!(writer.add(&all_of(&files)), Err(EngineError::Locked(_))));
    drop(writer);
    assert_eq!(raw(&format!("SELECT count() FROM {}", table.all_files())).trim(), "0");
}

#[test]
fn one_of_many_candidates_gets_lock() {
    let Some(table) = Table::new() else { return };
    // The table of a process that died before it wrote its name.
    let dead = Lease::of(&table, "7");
    let (writing, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 3 {
                    match table.index.writer(64) {
                        Ok(writer) => {
                            let now = writing.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(now, Ordering::SeqCst);
                            std::thread::yield_now();
                            writing.fetch_sub(1, Ordering::SeqCst);
                            drop(writer);
                            done += 1;
                            written.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(EngineError::Locked(_)) => std::thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!((written.into_inner(), most.into_inner()), (12, 1));
    assert!(!dead.is_there());
    assert_eq!(Lease::all(&table), Vec::<String>::new());
}

#[test]
fn writer_without_lock_deletes_nothing() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(2, "kept"), (4, "other")]);
    let mut writer = table.index.writer(64).unwrap();
    for name in Lease::all(&table) {
        raw(&format!("DROP TABLE default.{name}"));
    }
    assert!(matches!(writer.remove(1, 2, None, None), Err(EngineError::Locked(_))));
    drop(writer);
    let lock = table.throwaway.cluster.lock("a test").unwrap();
    for name in tables_beginning(&first_server(), "default", "buckets_lock_by_") {
        raw(&format!("DROP TABLE IF EXISTS default.{name}"));
    }
    let generation = table.throwaway.generation;
    let refused = table.throwaway.cluster.remove(generation, &lock);
    assert!(matches!(refused, Err(EngineError::Locked(_))));
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["kept", "other"]);
}

/// The write lock of a generation, held by another process.
struct Lease(String);

impl Lease {
    fn of(table: &Table, process: &str) -> Self {
        let name = format!("buckets_writer_{}_by_{process}", table.throwaway.generation);
        raw(&format!("CREATE TABLE default.{name} (holder String, at DateTime) ENGINE = Memory"));
        Self(name)
    }

    fn renewed_before(&self, seconds: u32) {
        let number = self.0.rsplit('_').next().unwrap();
        let holder = format!("1@elsewhere\\nrun {number}");
        raw(&format!("INSERT INTO default.{} SELECT '{holder}', now() - {seconds}", self.0));
    }

    fn is_there(&self) -> bool {
        raw(&format!("EXISTS TABLE default.{}", self.0)).trim() == "1"
    }

    fn remove(self) {
        raw(&format!("DROP TABLE default.{}", self.0));
    }

    /// Returns the names of all lock tables of the generation.
    fn all(table: &Table) -> Vec<String> {
        let begin = format!("buckets_writer_{}_", table.throwaway.generation);
        tables_beginning(&first_server(), "default", &begin)
    }
}

#[test]
fn publish_beyond_removal_limit_changes_nothing() {
    let Some(table) = Table::new() else { return };
    let files = [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (2, "e")];
    table.publish(1, Mode::Replace, &files);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "a"), (2, "d")])).unwrap();
    writer.rules().removal_limit = Some(RemovalLimit { files: 2, percent: 50 });
    match writer.publish(Mode::Replace, named(&files), 6) {
        Err(EngineError::TooManyRemoved(losses)) => {
            assert_eq!(losses, [(1, BucketLoss { removed: 2, before: 3 })]);
        }
        other => panic!("{other:?}"),
    }
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["a", "b", "c", "d", "e"]);
    writer.rules().removal_limit = None;
    let counts = writer.publish(Mode::Replace, named(&files), 6).unwrap();
    assert_eq!((counts.replaced, counts.removed), (2, 3));
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["a", "d"]);
}

#[test]
fn files_that_are_newer_than_the_run_stay() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (1, "confirmed")]);
    let found = table.index.search(&FileQuery::default(), &Limits::none()).unwrap();
    let confirmed = found.rows.iter().filter(|row| row.path == "confirmed").map(|row| row.id);
    let last = table.index.summary().journal.published_id();
    table.publish(2, Mode::Append, &[(1, "new"), (1, "newer")]);
    let mut writer = table.index.writer(64).unwrap();
    // Two of five files would be too many, and one is not.
    writer.rules().removal_limit = Some(RemovalLimit { files: 1, percent: 30 });
    let confirmed = confirmed.collect();
    let newer = NewerFiles { after: last, confirmed, ..NewerFiles::default() };
    writer.rules().newer = Some(newer);
    writer.begin(3).unwrap();
    writer.add(&all_of(&[(1, "b"), (1, "newer")])).unwrap();
    let counts = writer.publish(Mode::Replace, named(&[(1, "")]), 7).unwrap();
    let expected = PublishCounts { added: 0, replaced: 1, unchanged: 1, removed: 1, duplicates: 0 };
    assert_eq!(counts, expected);
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["confirmed", "new", "newer", "b"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn newer_files_stay_if_there_are_more_than_a_statement_names() {
    let Some(table) = Table::new() else { return };
    let paths: Vec<String> = (0..12_000).map(|number| format!("b/{number:05}")).collect();
    let old = paths.iter().map(|path| (1, path.as_str())).chain([(1, "a/1"), (1, "a/2")]);
    table.publish(1, Mode::Replace, &old.collect::<Vec<_>>());
    let confirmed = (1..=12_000).collect();
    let newer = NewerFiles { after: 12_002, confirmed, ..NewerFiles::default() };
    let publish = |run: u64, mode: Mode, files: &[(u64, &str)]| {
        let mut writer = table.index.writer(64).unwrap();
        writer.rules().removal_limit = Some(RemovalLimit { files: 1, percent: 50 });
        writer.rules().newer = Some(newer.clone());
        writer.begin(run).unwrap();
        writer.add(&all_of(files)).unwrap();
        writer.publish(mode, named(files), 5).unwrap()
    };
    let counts = publish(2, Mode::Append, &[(1, "a/1")]);
    assert_eq!(counts, PublishCounts { replaced: 1, ..PublishCounts::default() });
    let counts = publish(3, Mode::Replace, &[(1, "a/1"), (1, "b/00000")]);
    assert_eq!(counts, PublishCounts { unchanged: 2, removed: 1, ..PublishCounts::default() });
    table.index.refresh().unwrap();
    assert_eq!(table.index.summary().counts[&1], 12_001);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn unchanged_files_stay() {
    let Some(table) = Table::new() else { return };
    let files = [(1, "a"), (1, "b"), (1, "c"), (2, "d")];
    table.publish(1, Mode::Replace, &files);
    for mode in [Mode::Replace, Mode::Append] {
        let found = table.index.search(&FileQuery::default(), &Limits::none()).unwrap();
        let mut writer = table.index.writer(64).unwrap();
        writer.begin(1).unwrap();
        let mut all = all_of(&[(1, "b"), (1, "a"), (1, "new"), (2, "d")]);
        all.iter_mut().for_each(|file| file.attributes[Attribute::Size] = 101);
        writer.add(&all).unwrap();
        let counts = writer.publish(mode, named(&files), 6).unwrap();
        table.index.refresh().unwrap();
        let again = table.index.search(&FileQuery::default(), &Limits::none()).unwrap();
        if mode == Mode::Replace {
            assert_eq!((counts.unchanged, counts.added, counts.removed), (3, 1, 1));
            assert_eq!(table.all(), ["a", "b", "d", "new"]);
            assert_eq!((&again.rows[0], &again.rows[1]), (&found.rows[0], &found.rows[1]));
        } else {
            assert_eq!((counts.unchanged, counts.replaced, counts.removed), (4, 0, 0));
            assert_eq!(again.rows, found.rows);
        }
    }
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}
