//! Structural faults in a database.

use database::{Db, structural_faults};
use diesel::connection::SimpleConnection;
use testkit::Database;

use super::{NOTES, REMARKS};

#[test]
fn faults_are_named_and_a_sound_database_has_none() {
    let database = Database::new();
    let pools = database.open(&[&NOTES, &REMARKS]);
    let mut db = pools.connect().unwrap();
    assert_eq!(structural_faults(&mut db).unwrap(), Vec::<String>::new());
    db.batch_execute("INSERT INTO note (id, text) VALUES (1, 'a'), (2, 'b')").unwrap();
    match &mut db {
        Db::Sqlite(conn) => {
            conn.batch_execute(
                "PRAGMA foreign_keys = OFF; INSERT INTO remark (id, note_id) VALUES (1, 1), (2, 7), (3, 8)",
            )
            .unwrap();
            let found = structural_faults(&mut db).unwrap();
            assert_eq!(found, ["2 rows of remark refer to missing rows of note"]);
            // Creates an index that misses some rows.
            db.batch_execute(
                "DELETE FROM remark WHERE id > 1; CREATE INDEX odd ON note (text) WHERE id > 1; \
                 PRAGMA writable_schema = ON; \
                 UPDATE sqlite_schema SET sql = 'CREATE INDEX odd ON note (text)' WHERE name = 'odd'",
            )
            .unwrap();
            let found = structural_faults(&mut pools.connect_reader().unwrap()).unwrap();
            assert!(found.iter().any(|fault| fault.contains("index odd")), "{found:?}");
        }
        Db::Pg(conn) => {
            conn.batch_execute("UPDATE note SET due = 1").unwrap();
            // This fails because of duplicates, and leaves an invalid index behind.
            conn.batch_execute("CREATE UNIQUE INDEX CONCURRENTLY by_due ON note (due)")
                .unwrap_err();
            let found = structural_faults(&mut db).unwrap();
            assert_eq!(found, ["the index by_due is invalid: REINDEX it"]);
        }
    }
}
