//! Accounts that SQLite's by-domain index doesn't contain yet.
//!
//! Each transaction of a large load would rewrite most pages of the index. Such a load *postpones*
//! its index entries instead, and a job adds the missing ones afterwards, in the order of the
//! index. Until the index is complete, domains can't be searched. PostgreSQL's index is always
//! complete.

use database::{Backend, DatabaseError, Db};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use super::domain_accounts::{self, DomainAccount};
use super::schema::{account, domain_account};
use super::versions;

/// Meta entry: [`POSTPONED`], or the token of the job that adds the missing entries. It doesn't
/// exist if the index is complete.
const STATE: &str = "unfiled_accounts";
/// SQL condition that the index is complete.
pub const NONE: &str = "NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unfiled_accounts')";
/// Loads don't write index entries. Tokens are greater than this.
const POSTPONED: i64 = 1;
/// Number of accounts to read per query.
const PAGE: i64 = 5_000;

diesel::table! {
    /// Accounts that were removed while a job was adding index entries. Exists only during that
    /// time.
    removed_account (k, seq, domain_id) {
        k -> BigInt,
        seq -> SmallInt,
        domain_id -> Integer,
    }
}

/// Creates the table above and the trigger that fills it.
const RECORD_REMOVALS: &str = "\
    CREATE TABLE IF NOT EXISTS removed_account ( \
        k BIGINT NOT NULL, seq SMALLINT NOT NULL, domain_id INTEGER NOT NULL, \
        PRIMARY KEY (k, seq, domain_id) \
    ) WITHOUT ROWID; \
    CREATE TRIGGER IF NOT EXISTS account_removed_meanwhile AFTER DELETE ON account BEGIN \
        INSERT OR IGNORE INTO removed_account VALUES (OLD.k, OLD.seq, OLD.domain_id); \
    END;";
const STOP_RECORDING: &str = "DROP TRIGGER IF EXISTS account_removed_meanwhile;";
const FORGET_REMOVALS: &str = "DROP TABLE IF EXISTS removed_account;";

fn state(db: &mut Db) -> Result<Option<i64>, DatabaseError> {
    match db.backend() {
        Backend::Postgres => Ok(None),
        Backend::Sqlite => versions::get(db, STATE),
    }
}

/// Returns whether index entries may be missing.
pub fn any(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(state(db)?.is_some())
}

/// Returns whether loads should postpone their index entries.
pub fn is_postponed(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(state(db)? == Some(POSTPONED))
}

/// Makes sure that the index is complete.
///
/// # Errors
/// [`DatabaseError::NotReady`] if it isn't.
pub fn expect_none(db: &mut Db) -> Result<(), DatabaseError> {
    match any(db)? {
        false => Ok(()),
        true => Err(DatabaseError::NotReady(
            "the accounts are not indexed by domain yet; `breaches job list` shows the job",
        )),
    }
}

/// Adds a load's index entries, unless they're postponed.
pub fn file(db: &mut Db, rows: &mut [DomainAccount]) -> Result<(), DatabaseError> {
    match is_postponed(db)? {
        true => Ok(()),
        false => domain_accounts::add(db, rows),
    }
}

/// Makes loads postpone their index entries. A job that is adding entries has to stop. The removals
/// that were recorded are kept for the next job, because the stopped one may have added their
/// entries.
pub fn postpone(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = &mut *db else { return Ok(()) };
    conn.batch_execute(STOP_RECORDING)?;
    versions::set(db, STATE, POSTPONED)
}

/// Begins to add the missing entries and returns the job's token. From now on, loads write their
/// own entries, and removals are recorded.
pub fn begin(db: &mut Db) -> Result<i64, DatabaseError> {
    let token = state(db)?.unwrap_or(POSTPONED) + 1;
    if let Db::Sqlite(conn) = &mut *db {
        conn.batch_execute(RECORD_REMOVALS)?;
        versions::set(db, STATE, token)?;
    }
    Ok(token)
}

/// Returns whether this token's job should continue. It shouldn't if another job or a load has
/// begun in the meantime.
pub fn is_current(db: &mut Db, token: i64) -> Result<bool, DatabaseError> {
    Ok(state(db)? == Some(token))
}

/// Reads the index entries of the next few thousand accounts after `(k, seq)`, in key order.
pub fn page(db: &mut Db, (k, seq): (i64, i16)) -> Result<Vec<DomainAccount>, DatabaseError> {
    let later = account::k.ge(k).and(account::k.gt(k).or(account::seq.gt(seq)));
    Ok(account::table
        .filter(later)
        .order((account::k, account::seq))
        .limit(PAGE)
        .select((account::domain_id, account::k, account::seq))
        .load(db)?)
}

/// Stops recording removals. Call this once all entries have been added: from then on, removing an
/// account also removes its entry.
pub fn stop_recording(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    Ok(conn.batch_execute(STOP_RECORDING)?)
}

/// Deletes the entries of some of the recorded removals, unless the account has been added again.
/// Returns `false` once there are none left.
pub fn remove_stale(db: &mut Db) -> Result<bool, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(false) };
    let removed: Vec<DomainAccount> = removed_account::table
        .order((removed_account::k, removed_account::seq, removed_account::domain_id))
        .limit(PAGE)
        .select((removed_account::domain_id, removed_account::k, removed_account::seq))
        .load(conn)?;
    for DomainAccount { domain_id, k, seq } in &removed {
        let row = account::table.find((k, seq)).filter(account::domain_id.eq(domain_id));
        if row.select(account::k).first::<i64>(conn).optional()?.is_none() {
            diesel::delete(domain_account::table.find((domain_id, k, seq))).execute(conn)?;
        }
        diesel::delete(removed_account::table.find((k, seq, domain_id))).execute(conn)?;
    }
    Ok(!removed.is_empty())
}

/// Marks the index as complete.
pub fn finish(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = &mut *db else { return Ok(()) };
    conn.batch_execute(FORGET_REMOVALS)?;
    versions::unset(db, STATE)
}

#[cfg(test)]
mod tests {
    use database::Pools;
    use domain::EmailAddress;

    use super::*;
    use crate::store::{MIGRATIONS, account_links};

    /// Opens a SQLite database in which the accounts `a`, `b` and `c` lack their index entries.
    fn unfiled(database: &testkit::Database) -> Pools {
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let fill = |db: &mut Db| {
            for name in ["a", "b", "c"] {
                account_links::ensure(db, &address(name))?;
            }
            diesel::delete(domain_account::table).execute(db)?;
            postpone(db)
        };
        pools.write_blocking(fill).unwrap();
        pools
    }

    fn address(name: &str) -> EmailAddress {
        EmailAddress::parse(&format!("{name}@example.com")).unwrap()
    }

    fn remove(db: &mut Db, name: &str) -> Result<(), DatabaseError> {
        let row = account_links::find_merged(db, &address(name))?.unwrap();
        account_links::remove(db, (row.k, row.seq))
    }

    /// Returns all index entries, and the entries that there should be.
    fn entries(db: &mut Db) -> Result<[Vec<DomainAccount>; 2], DatabaseError> {
        let columns = (domain_account::domain_id, domain_account::k, domain_account::seq);
        let found = domain_account::table.select(columns).order(columns).load(db)?;
        let mut expected = page(db, (i64::MIN, -1))?;
        expected.sort_unstable();
        Ok([found, expected])
    }

    #[test]
    fn accounts_removed_and_added_while_entries_are_added_are_indexed_correctly() {
        let database = testkit::Database::in_file();
        let pools = unfiled(&database);
        pools
            .write_blocking(|db| {
                let token = begin(db)?;
                let mut missing = page(db, (i64::MIN, -1))?;
                assert_eq!(missing.len(), 3);
                remove(db, "a")?;
                remove(db, "b")?;
                account_links::ensure(db, &address("b"))?;
                account_links::ensure(db, &address("d"))?;
                domain_accounts::add(db, &mut missing)?;
                stop_recording(db)?;
                remove(db, "c")?;
                assert!(remove_stale(db)?);
                assert!(!remove_stale(db)?);
                assert!(is_current(db, token)? && any(db)?);
                finish(db)?;
                let [found, expected] = entries(db)?;
                assert_eq!((found.len(), found), (2, expected));
                assert!(!any(db)? && !is_current(db, token)?);
                Ok::<_, DatabaseError>(())
            })
            .unwrap();
    }

    #[test]
    fn later_job_or_load_stops_a_job() {
        let database = testkit::Database::in_file();
        let pools = unfiled(&database);
        pools
            .write_blocking(|db| {
                let first = begin(db)?;
                remove(db, "a")?;
                let second = begin(db)?;
                assert!(!is_current(db, first)? && is_current(db, second)?);
                assert!(
                    remove_stale(db)?,
                    "the second job knows what was removed during the first"
                );
                postpone(db)?;
                assert!(!is_current(db, second)? && is_postponed(db)?);
                remove(db, "b")?;
                begin(db)?;
                assert!(!remove_stale(db)?);
                Ok::<_, DatabaseError>(())
            })
            .unwrap();
    }

    #[test]
    fn entry_added_after_a_removal_is_deleted_even_if_a_load_stops_the_job() {
        let database = testkit::Database::in_file();
        let pools = unfiled(&database);
        pools
            .write_blocking(|db| {
                begin(db)?;
                let mut missing = page(db, (i64::MIN, -1))?;
                remove(db, "a")?;
                domain_accounts::add(db, &mut missing)?;
                postpone(db)?;
                begin(db)?;
                let mut present = page(db, (i64::MIN, -1))?;
                domain_accounts::add(db, &mut present)?;
                stop_recording(db)?;
                while remove_stale(db)? {}
                finish(db)?;
                let [found, expected] = entries(db)?;
                assert_eq!((found.len(), found), (2, expected));
                Ok::<_, DatabaseError>(())
            })
            .unwrap();
    }

    #[test]
    fn domains_are_searched_only_if_the_index_is_complete() {
        let database = testkit::Database::in_file();
        let pools = unfiled(&database);
        pools
            .write_blocking(|db| {
                let found = crate::store::accounts::domain_walk::at_domain(db, "example.com");
                assert!(matches!(found, Err(DatabaseError::NotReady(_))));
                let found = crate::store::stealer_logs::captured_at_domain(db, "example.com", &[]);
                assert!(matches!(found, Err(DatabaseError::NotReady(_))));
                begin(db)?;
                assert!(matches!(expect_none(db), Err(DatabaseError::NotReady(_))));
                finish(db)?;
                expect_none(db)
            })
            .unwrap();
    }
}
