//! Migrations of several sources, which are applied once.

use std::os::unix::fs::FileExt;
use std::path::Path;

use database::{Backend, DatabaseError, DatabaseSettings, Migrations};
use testkit::Database;

use crate::{NOTES, REMARKS, add};

#[test]
fn two_sources_are_applied_once_and_in_order() {
    let database = Database::new();
    let migrate =
        |sources: &[&Migrations]| database.settings().migrate(database.folder(), "notes", sources);
    assert_eq!(migrate(&[&NOTES]).unwrap(), ["2026-01-01-000001_note"]);
    assert_eq!(migrate(&[&NOTES, &REMARKS]).unwrap(), ["2026-01-02-000001_remark"]);
    assert!(migrate(&[&NOTES, &REMARKS]).unwrap().is_empty());
}

#[test]
fn databases_of_another_service_and_of_a_newer_version_are_refused_unchanged() {
    let database = Database::new();
    let settings = DatabaseSettings { auto_migrate: true, ..database.settings() };
    let open = |sources: &[&Migrations]| settings.open(database.folder(), "notes", sources);
    open(&[&NOTES]).unwrap();
    let text = "the database belongs to another service: each service requires its own \
                DATABASE_URL";
    assert_eq!(open(&[&REMARKS]).unwrap_err().to_string(), text);
    let migrated = settings.migrate(database.folder(), "remarks", &[&REMARKS]);
    assert_eq!(migrated.unwrap_err().to_string(), text);
    open(&[&NOTES, &REMARKS]).unwrap();
    let newer = "the database has migrations that this program does not know: it belongs to a newer \
                 version, or to another service; nothing was changed";
    assert_eq!(open(&[&NOTES]).unwrap_err().to_string(), newer);
    assert_eq!(
        settings.open_unchanged(database.folder(), "notes", &[&NOTES]).unwrap_err().to_string(),
        newer
    );
    open(&[&NOTES, &REMARKS]).unwrap();
}

#[test]
fn preview_reports_what_a_start_would_do_and_changes_nothing() {
    let database = Database::new();
    let settings = DatabaseSettings { auto_migrate: false, ..database.settings() };
    let preview = |settings: &DatabaseSettings, sources: &[&Migrations]| {
        settings.preview(database.folder(), "notes", sources)
    };
    let migrating = DatabaseSettings { auto_migrate: true, ..database.settings() };
    let fresh = preview(&migrating, &[&NOTES, &REMARKS]).unwrap();
    match database.file() {
        Some(_) => assert!(fresh.ends_with("does not exist; `serve` creates it"), "{fresh}"),
        None => {
            assert_eq!(fresh, "PostgreSQL; `serve` applies 2 migrations");
            let refused = preview(&settings, &[&NOTES]).unwrap_err().to_string();
            assert!(refused.starts_with("the database is missing 1 migration:"), "{refused}");
            assert_eq!(tables_on_server(database.url()), 0);
        }
    }
    migrating.open(database.folder(), "notes", &[&NOTES]).unwrap();
    for _ in 0..2 {
        let one = preview(&migrating, &[&NOTES, &REMARKS]).unwrap();
        assert!(one.ends_with("`serve` applies 1 migration"), "{one}");
    }
    assert!(preview(&settings, &[&NOTES]).unwrap().ends_with("its schema is current"));
    assert!(preview(&settings, &[&REMARKS]).is_err());
}

#[test]
fn preview_names_a_missing_table() {
    use diesel::connection::SimpleConnection;
    let database = Database::new();
    database.open(&[&NOTES]).connect().unwrap().batch_execute("DROP TABLE counter").unwrap();
    let found = database.settings().preview(database.folder(), "notes", &[&NOTES]);
    let text = found.unwrap_err().to_string();
    assert!(text.starts_with("the table counter is missing from the database: "), "{text}");
}

#[test]
fn preview_reports_a_damaged_page_unless_the_database_is_large() {
    use diesel::connection::SimpleConnection;
    use diesel::prelude::*;
    use diesel::sql_types::BigInt;
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    let mut db = pools.connect().unwrap();
    database::clear_log(&mut db).unwrap();
    let start = "(SELECT (rootpage - 1) * page_size FROM sqlite_master, pragma_page_size \
                 WHERE name = 'note')";
    let start: i64 = diesel::select(diesel::dsl::sql::<BigInt>(start)).get_result(&mut db).unwrap();
    drop((db, pools));
    let preview = || database.settings().preview(database.folder(), "notes", &[&NOTES]);
    assert!(preview().is_ok());
    let file = std::fs::File::options().write(true).open(database.file().unwrap()).unwrap();
    file.write_all_at(&[0xff; 512], u64::try_from(start).unwrap()).unwrap();
    let text = preview().unwrap_err().to_string();
    assert!(text.contains("test.db is damaged: ") && text.lines().count() == 1, "{text}");
    // All these pages stay in the write-ahead log.
    let mut db = database.open(&[&NOTES]).connect().unwrap();
    db.batch_execute("PRAGMA wal_autocheckpoint = 0").unwrap();
    db.batch_execute("CREATE TABLE filler AS SELECT zeroblob(65 << 20) AS content").unwrap();
    assert!(database.file().unwrap().metadata().unwrap().len() < 1 << 20);
    let text = preview().unwrap();
    assert!(text.ends_with(" exceed 64 MiB; its schema is current"), "{text}");
}

#[test]
fn advice_for_an_old_file_names_the_start_that_migrates_it() {
    let database = Database::in_file();
    drop(database.open(&[&NOTES]));
    let opened =
        database.settings().open_unchanged(database.folder(), "notes", &[&NOTES, &REMARKS]);
    assert_eq!(
        opened.unwrap_err().to_string(),
        "the database is missing 1 migration: run `notes migrate` first, or start the server, \
         which migrates the file"
    );
}

#[test]
fn preview_does_not_change_a_file() {
    let database = Database::in_file();
    let file = database.file().unwrap();
    let preview = || {
        let found = database.settings().preview(database.folder(), "notes", &[&NOTES, &REMARKS]);
        found.unwrap()
    };
    std::fs::write(&file, "").unwrap();
    assert!(preview().ends_with("`serve` applies 2 migrations"));
    assert!(database.settings().open_unchanged(database.folder(), "notes", &[&NOTES]).is_err());
    assert_eq!(file.metadata().unwrap().len(), 0);
    // A copy doesn't use the write-ahead log yet.
    let other = Database::in_file();
    drop(other.open(&[&NOTES]));
    std::fs::remove_file(&file).unwrap();
    other.settings().back_up(other.folder(), "notes", &file).unwrap();
    let before = std::fs::read(&file).unwrap();
    assert!(preview().ends_with("`serve` applies 1 migration"));
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let files = std::fs::read_dir(database.folder()).unwrap();
    assert_eq!(files.count(), 1, "no journals are created");
}

#[test]
fn files_of_a_crashed_server_are_examined_without_changes() {
    let running = Database::in_file();
    let pools = running.open(&[&NOTES]);
    pools.write_blocking(|db| add(db, "milk", None)).unwrap();
    let crashed = Database::in_file();
    let log = |file: &Path| file.with_extension("db-wal");
    let (from, to) = (running.file().unwrap(), crashed.file().unwrap());
    std::fs::copy(&from, &to).unwrap();
    std::fs::copy(log(&from), log(&to)).unwrap();
    let bytes = || [std::fs::read(&to).unwrap(), std::fs::read(log(&to)).unwrap()];
    let before = bytes();
    assert!(!before[1].is_empty());
    let (settings, folder) = (crashed.settings(), crashed.folder());
    let found = settings.preview(folder, "notes", &[&NOTES]).unwrap();
    assert!(found.ends_with("its schema is current"), "{found}");
    assert!(bytes() == before, "the check changed the files");
    let examined = settings.open_unchanged(folder, "notes", &[&NOTES]).unwrap();
    assert!(examined.read_blocking(crate::hits).is_ok());
    drop(examined);
    assert!(bytes() == before, "the examination changed the files");
}

fn tables_on_server(url: &str) -> i64 {
    use diesel::prelude::*;
    let mut server = PgConnection::establish(url).unwrap();
    let count = "(SELECT count(*) FROM pg_tables WHERE schemaname = 'public')";
    let count = diesel::dsl::sql::<diesel::sql_types::BigInt>(count);
    diesel::select(count).get_result(&mut server).unwrap()
}

#[test]
fn foreign_keys_hold_after_a_migration() {
    use diesel::prelude::*;
    let database = Database::new();
    let mut db = database.open(&[&NOTES, &REMARKS]).connect().unwrap();
    let orphan = diesel::insert_into(crate::remark::table).values(crate::remark::note_id.eq(7_i64));
    assert!(matches!(
        DatabaseError::from(orphan.execute(&mut db).unwrap_err()),
        DatabaseError::Conflict
    ));
}

#[test]
fn processes_that_start_concurrently_migrate_once() {
    for _ in 0..20 {
        let database = Database::new();
        std::thread::scope(|scope| {
            let starts: Vec<_> =
                (0..8).map(|_| scope.spawn(|| database.open(&[&NOTES, &REMARKS]))).collect();
            for start in starts {
                let pools = start.join().unwrap();
                assert!(pools.read_blocking(crate::hits).is_ok());
            }
        });
    }
}

#[test]
fn sqlite_migrates_at_start_and_postgres_requires_the_command() {
    let database = Database::new();
    let mut settings = database.settings();
    settings.auto_migrate = false;
    let opened = settings.open(database.folder(), "notes", &[&NOTES, &REMARKS]);
    match opened {
        Ok(pools) => assert_eq!(pools.backend(), Backend::Sqlite),
        Err(error) => assert_eq!(
            error.to_string(),
            "the database is missing 2 migrations: run `notes migrate` first, or start with \
             --auto-migrate"
        ),
    }
    settings.migrate(database.folder(), "notes", &[&NOTES, &REMARKS]).unwrap();
    let pools = settings.open(database.folder(), "notes", &[&NOTES, &REMARKS]).unwrap();
    assert!(pools.write_blocking(|db| add(db, "milk", None)).is_ok());
}
