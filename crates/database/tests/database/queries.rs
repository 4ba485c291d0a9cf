//! Portable SQL, which returns the same rows on both databases.

use database::{DatabaseError, Db, contains_pattern, on_backend, starts_with};
use diesel::prelude::*;
use testkit::Database;

use crate::{NOTES, add, note};

fn with_notes<T>(work: impl FnOnce(&mut Db) -> T) -> T {
    let database = Database::new();
    let mut db = database.open(&[&NOTES]).connect().unwrap();
    for (text, due) in
        [("50% off", Some(2)), ("500 off", None), ("a_b", Some(1)), (r"c:\d", Some(3))]
    {
        add(&mut db, text, due).unwrap();
    }
    work(&mut db)
}

fn texts(rows: Vec<String>) -> String {
    rows.join("|")
}

#[test]
fn pattern_characters_are_literal() {
    with_notes(|db| {
        let mut find = |needle: &str| {
            let query = note::table.filter(note::text.like(contains_pattern(needle)).escape('\\'));
            texts(query.select(note::text).load(db).unwrap())
        };
        assert_eq!(find("0%"), "50% off");
        assert_eq!(find("_"), "a_b");
        assert_eq!(find(r"\d"), r"c:\d");
        let start = note::table.filter(starts_with(note::text, "50"));
        assert_eq!(start.count().get_result::<i64>(db).unwrap(), 2);
    });
}

#[test]
fn upserts_and_batches_branch_on_the_backend() {
    with_notes(|db| {
        let rows = vec![
            (note::text.eq("a_b"), note::due.eq(9_i64)),
            (note::text.eq("new"), note::due.eq(8_i64)),
        ];
        on_backend!(db, conn => diesel::insert_into(note::table)
            .values(&rows)
            .on_conflict(note::text)
            .do_update()
            .set(note::due.eq(diesel::upsert::excluded(note::due)))
            .execute(conn))
        .unwrap();
        let due = note::table.filter(note::text.eq("a_b")).select(note::due);
        assert_eq!(due.first::<Option<i64>>(db).unwrap(), Some(9));
        assert_eq!(note::table.count().get_result::<i64>(db).unwrap(), 5);
    });
}

#[test]
fn second_row_with_a_key_is_a_conflict() {
    with_notes(|db| {
        assert!(matches!(add(db, "a_b", None), Err(DatabaseError::Conflict)));
    });
}
