//! Database files that are missing, empty or replaced while the database is in use.

use std::fs;

use database::DatabaseError;
use diesel::prelude::*;
use testkit::Database;

use crate::{NOTES, add, note};

/// Returns the errors of everything that opens, creates or migrates the database.
fn refusals(database: &Database) -> Vec<String> {
    let (settings, folder) = (database.settings(), database.folder());
    let copy = folder.join("copy.db");
    let errors = [
        settings.open(folder, "notes", &[&NOTES]).unwrap_err(),
        settings.open_unchanged(folder, "notes", &[&NOTES]).unwrap_err(),
        settings.preview(folder, "notes", &[&NOTES]).unwrap_err(),
        settings.migrate(folder, "notes", &[&NOTES]).unwrap_err(),
        settings.back_up(folder, "notes", &copy).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| matches!(error, DatabaseError::Setup(_))), "{errors:?}");
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn file_that_was_moved_away_is_not_replaced_and_its_journal_is_kept() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    pools.write_blocking(|db| add(db, "milk", None)).unwrap();
    let (file, aside) = (database.file().unwrap(), database.folder().join("aside"));
    fs::rename(&file, &aside).unwrap();
    for text in refusals(&database) {
        let is_known = text.contains(" does not exist, but its journal contains data; ")
            || text.ends_with(" does not exist; nothing was created");
        assert!(is_known, "{text}");
    }
    assert!(!file.exists());
    fs::write(&file, "").unwrap();
    for text in refusals(&database) {
        assert!(text.contains(" is empty, but its journal contains data; "), "{text}");
        assert!(text.contains("put the database file back"), "{text}");
    }
    assert!(pools.connect().is_err() && pools.connect_reader().is_err());
    assert_eq!(file.metadata().unwrap().len(), 0);
    fs::rename(&aside, &file).unwrap();
    let count = |db: &mut database::Db| -> Result<i64, DatabaseError> {
        Ok(note::table.count().get_result(db)?)
    };
    assert_eq!(database.open(&[&NOTES]).read_blocking(count).unwrap(), 1);
}

#[test]
fn file_of_a_running_server_is_not_replaced() {
    let database = Database::in_file();
    let pools = database.open(&[&NOTES]);
    assert!(pools.register_server());
    database::clear_log(&mut pools.connect().unwrap()).unwrap();
    let file = database.file().unwrap();
    fs::rename(&file, database.folder().join("aside")).unwrap();
    fs::write(&file, "").unwrap();
    for text in refusals(&database) {
        assert!(text.contains(" is empty, but a server or a load is using it; "), "{text}");
    }
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[test]
fn file_replaced_under_a_running_server_or_load_is_refused() {
    let database = Database::in_file();
    let (file, aside) = (database.file().unwrap(), database.folder().join("aside"));
    let pools = database.open(&[&NOTES]);
    database::clear_log(&mut pools.connect().unwrap()).unwrap();
    fs::copy(&file, &aside).unwrap();
    for is_load in [false, true] {
        let pools = database.open(&[&NOTES]);
        let lock = if is_load { pools.lock_out_servers() } else { None };
        assert!(lock.is_some() || pools.register_server());
        drop(database.open(&[&NOTES]));
        let earlier = database.folder().join("earlier");
        fs::rename(&file, &earlier).unwrap();
        fs::rename(&aside, &file).unwrap();
        for text in refusals(&database) {
            assert!(text.contains(" was replaced, but a server or a load is using "), "{text}");
        }
        assert!(pools.connect().is_err() && pools.connect_reader().is_err());
        // Once the server or the load has ended, its record has no effect.
        drop((pools, lock));
        drop(database.open(&[&NOTES]));
        fs::rename(&earlier, &aside).unwrap();
    }
}

#[test]
fn empty_file_is_a_new_database_but_not_existing_data() {
    let database = Database::in_file();
    let (settings, folder) = (database.settings(), database.folder());
    let file = database.file().unwrap();
    fs::write(&file, "").unwrap();
    let text = settings.refuse_missing(folder, "notes").unwrap_err().to_string();
    assert!(text.contains(" is empty; nothing was changed: put its file back, or "), "{text}");
    assert!(text.ends_with("`notes migrate`"), "{text}");
    let unchanged = settings.open_unchanged(folder, "notes", &[&NOTES]).unwrap_err().to_string();
    assert_eq!(unchanged, text);
    assert_eq!(file.metadata().unwrap().len(), 0);
    settings.open(folder, "notes", &[&NOTES]).unwrap();
    settings.refuse_missing(folder, "notes").unwrap();
}
