//! Finds and deletes domains that no account or stealer log uses, and counts missing ones.

use database::{Backend, DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::Integer;

use super::layout::Layout;
use super::schema::mail_domain;
use super::{accounts, mail_domains, unfiled_accounts};

/// Deletes a domain unless it's in use, and returns whether it did. Running loads then drop their
/// cached ids. The caller must have locked the accounts.
///
/// Never deletes anything on a distributed database: each domain would be a question to all servers,
/// and rows that a failed server has not committed yet aren't found.
pub fn remove_if_unused(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    let is_used = Layout::of(db)?.is_distributed() || is_used(db, id)?;
    if !is_used {
        mail_domains::delete(db, id)?;
    }
    Ok(!is_used)
}

/// Returns `true` if any account or stealer log uses the domain.
pub fn is_used(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    Ok(mail_domains::is_used_in_tables(db, id)? || accounts::has_accounts_in_runs(db, id)?)
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Integer)]
    id: i32,
}

/// Finds domains with ids from `first` to `last` that no account row or stealer log entry uses.
/// Doesn't look at runs. Finds none while the by-domain index is incomplete.
///
/// This is a single statement because querying each domain separately would take longer than
/// removing a breach's links.
fn unused_in_tables(db: &mut Db, first: i32, last: i32) -> Result<Vec<i32>, DatabaseError> {
    // The offset keeps PostgreSQL from turning the subqueries into joins. It then looks up each
    // domain in the indexes instead of reading all accounts for every page.
    let (accounts, offset, complete) = match db.backend() {
        Backend::Sqlite => ("domain_account", "", unfiled_accounts::NONE),
        Backend::Postgres => ("account", " OFFSET 0", "TRUE"),
    };
    let statement = format!(
        "SELECT d.id FROM mail_domain d WHERE d.id BETWEEN {first} AND {last} AND {complete} \
         AND NOT EXISTS (SELECT 1 FROM {accounts} a WHERE a.domain_id = d.id{offset}) \
         AND NOT EXISTS (SELECT 1 FROM stealer_log s WHERE s.website_id = d.id{offset}) \
         ORDER BY d.id"
    );
    let found: Vec<Found> = on_backend!(db, conn => diesel::sql_query(statement).load(conn))?;
    Ok(found.into_iter().map(|unused| unused.id).collect())
}

/// Number of domains examined by [`page_without_rows`].
const EXAMINED: i64 = 5_000;

/// A page of domains; see [`page_without_rows`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Domains without rows, in order.
    pub ids: Vec<i32>,
    /// Highest id examined. The next page starts after it.
    pub last: i32,
}

/// Examines the next few thousand domains with ids above `after` and finds the ones that no account
/// row or stealer log entry uses. Returns `None` at the end.
///
/// Like [`remove_if_unused`], this never finds any on a distributed database.
pub fn page_without_rows(db: &mut Db, after: i32) -> Result<Option<Page>, DatabaseError> {
    if Layout::of(db)?.is_distributed() {
        return Ok(None);
    }
    let ids: Vec<i32> = mail_domain::table
        .filter(mail_domain::id.gt(after))
        .order(mail_domain::id)
        .limit(EXAMINED)
        .select(mail_domain::id)
        .load(db)?;
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(None) };
    Ok(Some(Page { ids: unused_in_tables(db, *first, *last)?, last: *last }))
}

/// Deletes the given domains, skipping any that have come back into use. `ids` must be sorted, and
/// the caller must have locked the accounts.
pub fn remove_unused(db: &mut Db, ids: &[i32]) -> Result<(), DatabaseError> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
    let mut unused = Vec::new();
    for id in unused_in_tables(db, *first, *last)? {
        if ids.binary_search(&id).is_ok() && !accounts::has_accounts_in_runs(db, id)? {
            unused.push(id);
        }
    }
    mail_domains::delete_all(db, &unused)
}

/// Counts domains that accounts refer to, but that don't exist. Don't call this inside a
/// transaction.
pub fn count_missing(db: &mut Db) -> Result<u64, DatabaseError> {
    accounts::in_one_snapshot(db, |db| {
        let accounts = match db.backend() {
            Backend::Sqlite => "domain_account",
            Backend::Postgres => "account",
        };
        let statement = format!(
            "SELECT DISTINCT a.domain_id AS id FROM {accounts} a \
             WHERE NOT EXISTS (SELECT 1 FROM mail_domain d WHERE d.id = a.domain_id)"
        );
        let found: Vec<Found> = on_backend!(db, conn => diesel::sql_query(statement).load(conn))?;
        let mut missing = accounts::domains_in_runs(db)?;
        let mut after = i32::MIN;
        while !missing.is_empty() {
            let page = mail_domains::page(db, after)?;
            let Some(&(last, _)) = page.last() else { break };
            after = last;
            for (id, _) in page {
                missing.remove(id.cast_unsigned());
            }
        }
        missing.extend(found.into_iter().map(|row| row.id.cast_unsigned()));
        Ok(missing.len())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use diesel::connection::InstrumentationEvent;

    use super::*;
    use crate::store::{MIGRATIONS, stealer_logs};

    #[test]
    fn page_of_domains_is_examined_and_removed_with_a_few_statements() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let names: Vec<String> = (0..60).map(|n| format!("d{n}.example")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let statements = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&statements);
        let left = pools.write_blocking(|db| {
            let ids = mail_domains::ids(db, &names)?;
            let pairs: Vec<_> = names[..40]
                .iter()
                .map(|name| stealer_logs::NewPair {
                    k: 1,
                    seq: 0,
                    website_id: ids[*name],
                    breach_id: 1,
                })
                .collect();
            stealer_logs::add(db, &pairs)?;
            let count = move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { .. } = event {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            };
            on_backend!(db, conn => conn.set_instrumentation(count));
            let page = page_without_rows(db, i32::MIN)?.unwrap();
            assert_eq!(Some(page.last), ids.values().copied().max());
            assert_eq!(page_without_rows(db, page.last)?, None);
            remove_unused(db, &page.ids)?;
            mail_domains::page(db, i32::MIN)
        });
        let mut left: Vec<String> = left.unwrap().into_iter().map(|(_, name)| name).collect();
        left.sort();
        let mut expected = names[..40].to_vec();
        expected.sort_unstable();
        assert_eq!(left, expected);
        let statements = statements.load(Ordering::Relaxed);
        assert!(statements < 30, "{statements} statements");
    }
}
