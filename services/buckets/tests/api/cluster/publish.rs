//! Runs, their publish, and who may write.

use std::sync::atomic::{AtomicBool, Ordering};

use buckets::engine::{EngineError, FileIndex, Mode, PublishCounts};

use super::{Table, all_of, named, raw, words};

#[test]
fn replacing_drops_the_old_files_of_named_buckets_only() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (2, "c")]);
    let counts = table.publish(2, Mode::Replace, &[(1, "b"), (1, "d"), (1, "d")]);
    let expected = PublishCounts { added: 1, replaced: 1, removed: 1, duplicates: 1 };
    assert_eq!(counts, expected);
    assert_eq!(table.all(), ["c", "b", "d"]);
    let counts = table.publish(3, Mode::Append, &[(2, "c"), (2, "e")]);
    assert_eq!(counts, PublishCounts { added: 1, replaced: 1, removed: 0, duplicates: 0 });
    assert_eq!(table.all(), ["b", "d", "c", "e"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn a_bucket_whose_source_broke_off_loses_no_file() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (2, "c")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "b"), (2, "d")])).unwrap();
    let mut buckets = named(&[(1, ""), (2, "")]);
    buckets[0].partial = true;
    let counts = writer.publish(Mode::Replace, buckets, 6).unwrap();
    assert_eq!(counts, PublishCounts { added: 1, replaced: 1, removed: 1, duplicates: 0 });
    table.index.refresh().unwrap();
    assert_eq!(table.all(), ["a", "b", "d"]);
    assert_eq!(table.index.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn half_a_run_is_invisible_and_goes_on_from_its_checkpoint() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "old")]);
    let mut writer = table.index.writer(64).unwrap();
    writer.begin(2).unwrap();
    writer.add(&all_of(&[(1, "kept"), (2, "kept too")])).unwrap();
    writer.checkpoint("noted".to_owned()).unwrap();
    // More than is sent at once, so that rows are stored behind the checkpoint.
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

/// A state without a run asks for no bound of ids, which a run that begins must not show.
#[test]
fn a_run_that_began_after_the_state_was_read_stays_hidden() {
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
fn a_search_sees_one_published_state() {
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
fn one_writes_at_a_time() {
    let Some(table) = Table::new() else { return };
    let writer = table.index.writer(64).unwrap();
    assert!(matches!(table.throwaway.open().writer(64), Err(EngineError::Locked(_))));
    drop(writer);
    drop(table.index.writer(64).unwrap());
    // A holder that was silent for too long, on a machine of which nothing is known.
    let lease = format!("default.buckets_writer_{}", table.throwaway.generation);
    raw(&format!(
        "CREATE TABLE {lease} (token String, holder String, at DateTime) ENGINE = Memory"
    ));
    raw(&format!("INSERT INTO {lease} SELECT 'x', '1@elsewhere\\nrun 7', now() - 20"));
    match table.index.writer(64) {
        Err(EngineError::Locked(holder)) => assert_eq!(holder, "run 7"),
        other => panic!("{:?}", other.err()),
    }
    raw(&format!("DROP TABLE {lease}"));
    raw(&format!(
        "CREATE TABLE {lease} (token String, holder String, at DateTime) ENGINE = Memory"
    ));
    raw(&format!("INSERT INTO {lease} SELECT 'x', '1@elsewhere\\nrun 7', now() - 40"));
    let mut writer = table.index.writer(64).unwrap();
    // Another one did the same to this writer.
    raw(&format!("INSERT INTO {lease} SELECT 'y', '2@elsewhere\\nrun 8', now()"));
    assert!(matches!(writer.begin(8), Err(EngineError::Locked(_))));
    drop(writer);
    raw(&format!("DROP TABLE {lease}"));
}
