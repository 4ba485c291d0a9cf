//! Disks that are full, read-only or busy.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use database::{DatabaseError, DatabaseSettings, Pools};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use testkit::{Database, until};

use crate::{NOTES, REMARKS, add, hits, note};

#[tokio::test(flavor = "multi_thread")]
async fn readiness_does_not_wait_for_pooled_connections() {
    let database = Database::new();
    let settings = DatabaseSettings { db_pool: 1, db_wait_ms: 200, ..database.settings() };
    let pools = settings.open(database.folder(), "test", &[&NOTES]).unwrap();
    // Opening a connection may take longer than the pool waits on a busy machine.
    pools.read_blocking(hits).unwrap();
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let holder = pools.clone();
    let holding = tokio::spawn(async move {
        holder
            .read(move |_| {
                began.send(()).unwrap();
                released.recv().unwrap();
                Ok::<_, DatabaseError>(())
            })
            .await
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    assert!(matches!(pools.read(hits).await, Err(DatabaseError::Busy)));
    until_ready(&pools).await;
    release.send(()).unwrap();
    holding.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_database_refuses_writes_and_answers_reads() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    pools.write(|db| add(db, "kept", None)).await.unwrap();
    let fill = |db: &mut database::Db| -> Result<(), DatabaseError> {
        db.batch_execute("PRAGMA max_page_count = 1")?;
        for number in 0..100 {
            add(db, &format!("{number} {}", "x".repeat(10_000)), None)?;
        }
        Ok(())
    };
    let refused = pools.write(fill).await.unwrap_err();
    assert!(matches!(refused, DatabaseError::Storage(_)), "{refused:?}");
    assert!(refused.to_string().ends_with("database or disk is full"), "{refused}");
    let texts =
        pools.read(|db| Ok::<Vec<String>, DatabaseError>(note::table.select(note::text).load(db)?));
    assert_eq!(texts.await.unwrap(), ["kept"]);
    // The disk is fine, because another connection can write.
    until_ready(&pools).await;
}

#[tokio::test]
async fn readiness_reports_a_folder_that_cannot_be_written() {
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    pools.watch_folder("media", &database.folder().join("later"));
    until_ready(&pools).await;
    // Files cannot be created there, not even by root.
    pools.watch_folder("pictures", std::path::Path::new("/proc/self/task"));
    let mut error = None;
    until("the folder is reported", async || {
        error = pools.ready().await.err();
        error.as_ref().is_some_and(|error| error.to_string().contains("pictures"))
    })
    .await;
    let error = error.unwrap();
    assert!(matches!(error, DatabaseError::Storage(_)), "{error:?}");
    assert!(!error.to_string().contains("/proc"), "{error}");
}

async fn until_not_ready(pools: &Pools, reason: &str) {
    until(reason, async || {
        let ready = pools.ready().await.map_err(|error| error.to_string());
        ready.is_err_and(|text| text.starts_with(reason) && !text.contains('/'))
    })
    .await;
}

pub async fn until_ready(pools: &Pools) {
    until("the database is ready", async || pools.ready().await.is_ok()).await;
}

#[tokio::test]
async fn readiness_reports_a_file_that_was_removed_or_replaced() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    until_ready(&pools).await;
    let (file, aside) = (database.file().unwrap(), database.folder().join("aside"));
    fs::rename(&file, &aside).unwrap();
    until_not_ready(&pools, "the database file was removed: ").await;
    assert!(!file.exists(), "the check creates no file");
    fs::write(&file, "").unwrap();
    until_not_ready(&pools, "the database file was replaced: ").await;
    fs::copy(&aside, &file).unwrap();
    until_not_ready(&pools, "the database file was replaced: ").await;
    fs::rename(&aside, &file).unwrap();
    until_ready(&pools).await;
}

#[tokio::test]
async fn readiness_reports_a_file_that_was_emptied() {
    let database = Database::in_file();
    let mut settings = database.settings();
    // Reading a mapped page after the end of the file would end the process.
    settings.sqlite.mmap_bytes = 0;
    let pools = settings.open(database.folder(), "test", &[&NOTES]).unwrap();
    until_ready(&pools).await;
    fs::write(database.file().unwrap(), "").unwrap();
    until_not_ready(&pools, "the database file was replaced: ").await;
}

#[tokio::test]
async fn readiness_names_a_missing_table() {
    let database = Database::new();
    let pools = database.open(&[&NOTES, &REMARKS]);
    until_ready(&pools).await;
    let mut db = pools.connect().unwrap();
    db.batch_execute("DROP TABLE remark").unwrap();
    until_not_ready(&pools, "the table remark is missing from the database: ").await;
    db.batch_execute("CREATE TABLE remark (id BIGINT, note_id BIGINT)").unwrap();
    until_ready(&pools).await;
    db.batch_execute("DROP TABLE __diesel_schema_migrations").unwrap();
    until_not_ready(&pools, "the table __diesel_schema_migrations is missing ").await;
}

#[test]
fn connections_of_pools_do_not_create_a_removed_file() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    let file = database.file().unwrap();
    fs::remove_file(&file).unwrap();
    assert!(pools.connect().is_err() && pools.connect_reader().is_err());
    assert!(!file.exists());
}

/// A folder that blocks test writes until this value is dropped.
struct HangingFolder(tempfile::TempDir);

impl HangingFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let made = std::process::Command::new("mkfifo").arg(folder.trial()).status().unwrap();
        assert!(made.success());
        folder
    }

    fn trial(&self) -> std::path::PathBuf {
        self.0.path().join(format!(".write-trial-{}", std::process::id()))
    }
}

impl Drop for HangingFolder {
    fn drop(&mut self) {
        // Unblocks the test writes.
        let _ = fs::OpenOptions::new().read(true).write(true).open(self.trial());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_hangs_does_not_end_requests() {
    let folder = HangingFolder::new();
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    pools.watch_folder("media", folder.0.path());
    let slept = pools.read(|db| -> Result<(), DatabaseError> {
        if matches!(db, database::Db::Pg(_)) {
            diesel::sql_query("SELECT pg_sleep(4)").execute(db)?;
        }
        Ok(())
    });
    let (slept, ready) = tokio::join!(slept, pools.ready());
    slept.unwrap();
    assert!(matches!(ready, Err(DatabaseError::Storage(_))), "{ready:?}");
    let again = pools.ready().await;
    assert!(matches!(again, Err(DatabaseError::Storage(_))), "{again:?}");
    drop(folder);
}

#[test]
fn wal_files_stay_after_a_stop_so_that_a_full_disk_can_be_read() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    pools.write_blocking(|db| add(db, "milk", None)).unwrap();
    drop(pools);
    let length = |ending: &str| {
        let file = database.file().unwrap().with_extension(format!("db-{ending}"));
        file.metadata().map(|found| found.len()).ok()
    };
    assert_eq!(length("wal"), Some(0));
    assert!(length("shm").is_some_and(|length| length > 0));
    let pools = database.open(&[&NOTES]);
    let count =
        pools.read_blocking(|db| Ok::<i64, DatabaseError>(note::table.count().get_result(db)?));
    assert_eq!(count.unwrap(), 1);
}

#[test]
fn restored_database_is_private_and_writable_whatever_the_mode_of_the_backup() {
    let folder = tempfile::tempdir().unwrap();
    let (copy, other) = (folder.path().join("copy.db"), folder.path().join("other"));
    let settings = DatabaseSettings::default();
    settings.open(folder.path(), "notes", &[&NOTES]).unwrap();
    settings.back_up(folder.path(), "notes", &copy).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o444)).unwrap();
    settings.restore(&other, "notes", &copy).unwrap();
    let mode = fs::metadata(other.join("notes.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let files: Vec<_> =
        fs::read_dir(&other).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["notes.db"], "the check leaves no files");
    let pools = settings.open(&other, "notes", &[&NOTES]).unwrap();
    pools.write_blocking(|db| add(db, "milk", None)).unwrap();
}
