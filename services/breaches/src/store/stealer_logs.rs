//! Stealer log entries. Each one pairs an address with a website.

use database::{DatabaseError, Db};
use diesel::dsl::{auto_type, exists};
use diesel::prelude::*;

use super::accounts::in_one_snapshot;
use super::mail_domains::OddPage;
use super::schema::{account, domain_account, mail_domain, stealer_log};
use super::shard::{self, KeyIs};
use super::{accounts, mail_domains, unfiled_accounts};
use crate::model::website;

/// An entry as returned by domain queries.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, QueryableByName)]
#[diesel(table_name = pair)]
pub struct Pair {
    /// Account key.
    pub k: i64,
    /// Sequence number among accounts with the same key.
    seq: i16,
    /// Local part as stored.
    pub local: String,
    /// The address's domain when reading by website, otherwise the website.
    pub domain: String,
    website_id: i32,
    /// Id of the breach the entry belongs to.
    pub breach: i32,
}

/// Query for an account's websites.
#[auto_type]
pub fn by_account(k: i64, seq: i16) -> _ {
    let has_key: KeyIs<stealer_log::table> = shard::key_is(k);
    stealer_log::table
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(has_key)
        .filter(stealer_log::seq.eq(seq))
        .select((mail_domain::name, stealer_log::breach_id))
}

/// Columns of [`Pair`].
#[auto_type]
fn pair_columns() -> _ {
    (
        stealer_log::k,
        stealer_log::seq,
        account::local,
        mail_domain::name,
        stealer_log::website_id,
        stealer_log::breach_id,
    )
}

/// Join condition between an entry and its account.
#[auto_type]
fn account_of_pair() -> _ {
    account::k.eq(stealer_log::k).and(account::seq.eq(stealer_log::seq))
}

/// Query for the accounts captured at a website.
#[auto_type]
pub fn by_website(website_id: i32) -> _ {
    stealer_log::table
        .inner_join(account::table.on(account_of_pair()))
        .inner_join(mail_domain::table.on(mail_domain::id.eq(account::domain_id)))
        .filter(stealer_log::website_id.eq(website_id))
        .select(pair_columns())
}

/// Query for the websites of all accounts at a domain.
#[auto_type]
pub fn by_domain(domain_id: i32) -> _ {
    domain_account::table
        .inner_join(
            stealer_log::table.on(domain_account::k
                .eq(stealer_log::k)
                .and(domain_account::seq.eq(stealer_log::seq))),
        )
        .inner_join(account::table.on(account_of_pair()))
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(domain_account::domain_id.eq(domain_id))
        .select(pair_columns())
}

/// Like [`by_domain()`], but for PostgreSQL, which has an index by domain.
#[auto_type]
pub fn by_indexed_domain(domain_id: i32) -> _ {
    account::table
        .inner_join(
            stealer_log::table.on(account_of_pair().and(stealer_log::shard.eq(account::shard))),
        )
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(account::domain_id.eq(domain_id))
        .select(pair_columns())
}

/// Reads an account's websites, along with the breach each entry belongs to.
pub fn websites(db: &mut Db, (k, seq): (i64, i16)) -> Result<Vec<(String, i32)>, DatabaseError> {
    Ok(by_account(k, seq).load(db)?)
}

// Columns returned by a cursor.
diesel::table! {
    pair (k) {
        k -> BigInt,
        seq -> SmallInt,
        local -> Text,
        domain -> Text,
        website_id -> Integer,
        breach -> Integer,
    }
}

/// Number of entries to read per query.
const PAGE: i64 = 5_000;

/// Position of the last entry of the previous page: account key, sequence number, website and
/// breach.
type After = (i64, i16, i32, i32);

const START: After = (i64::MIN, -1, i32::MIN, i32::MIN);

/// Visits the accounts captured at a website while keeping only a few thousand in memory.
pub fn each_at_website<E: From<DatabaseError>>(
    db: &mut Db,
    website: &str,
    visit: impl FnMut(&mut Db, Pair) -> Result<(), E>,
) -> Result<(), E> {
    let Some(id) = mail_domains::id(db, website)? else { return Ok(()) };
    let page = |conn: &mut SqliteConnection, after| website_page(conn, id, after);
    each_pair(db, page, &format!("{OF_WEBSITE} WHERE stealer_log.website_id = {id}"), visit)
}

/// Visits the captured accounts at an email domain while keeping only a few thousand in memory.
pub fn each_at_domain<E: From<DatabaseError>>(
    db: &mut Db,
    domain: &str,
    visit: impl FnMut(&mut Db, Pair) -> Result<(), E>,
) -> Result<(), E> {
    let Some(id) = mail_domains::id(db, domain)? else { return Ok(()) };
    unfiled_accounts::expect_none(db)?;
    let page = |conn: &mut SqliteConnection, after| domain_page(conn, id, after);
    each_pair(db, page, &format!("{OF_DOMAIN} WHERE account.domain_id = {id}"), visit)
}

/// Reads a page of accounts captured at a website.
fn website_page(
    conn: &mut SqliteConnection,
    website_id: i32,
    (k, seq, _, breach): After,
) -> QueryResult<Vec<Pair>> {
    let same_account = stealer_log::seq.eq(seq).and(stealer_log::breach_id.gt(breach));
    let later = stealer_log::k.gt(k).or(stealer_log::seq.gt(seq)).or(same_account);
    by_website(website_id)
        .filter(stealer_log::k.ge(k).and(later))
        .order((stealer_log::k, stealer_log::seq, stealer_log::breach_id))
        .limit(PAGE)
        .load(conn)
}

/// Reads a page of captured accounts at an email domain, in index order.
fn domain_page(
    conn: &mut SqliteConnection,
    domain_id: i32,
    (k, seq, website, breach): After,
) -> QueryResult<Vec<Pair>> {
    use domain_account as entry;
    let same_site = stealer_log::website_id.eq(website).and(stealer_log::breach_id.gt(breach));
    let same_account = entry::seq.eq(seq).and(stealer_log::website_id.gt(website).or(same_site));
    let later = entry::k.gt(k).or(entry::seq.gt(seq)).or(same_account);
    by_domain(domain_id)
        .filter(entry::k.ge(k).and(later))
        .order((entry::k, entry::seq, stealer_log::website_id, stealer_log::breach_id))
        .limit(PAGE)
        .load(conn)
}

/// PostgreSQL uses cursors because its indexes by website and domain aren't in key order.
const OF_WEBSITE: &str = "SELECT stealer_log.k, stealer_log.seq, account.local, \
    mail_domain.name AS domain, stealer_log.website_id, stealer_log.breach_id AS breach \
    FROM stealer_log JOIN account ON account.shard = stealer_log.shard AND account.k = stealer_log.k \
    AND account.seq = stealer_log.seq JOIN mail_domain ON mail_domain.id = account.domain_id";
const OF_DOMAIN: &str = "SELECT stealer_log.k, stealer_log.seq, account.local, \
    mail_domain.name AS domain, stealer_log.website_id, stealer_log.breach_id AS breach \
    FROM account JOIN stealer_log ON account.shard = stealer_log.shard AND account.k = stealer_log.k \
    AND account.seq = stealer_log.seq JOIN mail_domain ON mail_domain.id = stealer_log.website_id";

/// Visits entries on a single snapshot, using pages on SQLite and a cursor on PostgreSQL.
fn each_pair<E: From<DatabaseError>>(
    db: &mut Db,
    page: impl Fn(&mut SqliteConnection, After) -> QueryResult<Vec<Pair>>,
    select: &str,
    mut visit: impl FnMut(&mut Db, Pair) -> Result<(), E>,
) -> Result<(), E> {
    in_one_snapshot(db, |db| {
        if let Db::Pg(conn) = db {
            let declare = format!("DECLARE pairs NO SCROLL CURSOR FOR {select}");
            diesel::sql_query(declare).execute(conn).map_err(DatabaseError::from)?;
        }
        let mut after = START;
        loop {
            let pairs = match db {
                Db::Sqlite(conn) => page(conn, after),
                Db::Pg(conn) => diesel::sql_query(format!("FETCH {PAGE} FROM pairs")).load(conn),
            };
            let pairs = pairs.map_err(DatabaseError::from)?;
            let Some(last) = pairs.last() else { return Ok(()) };
            after = (last.k, last.seq, last.website_id, last.breach);
            for pair in pairs {
                visit(db, pair)?;
            }
        }
    })
}

/// Counts captured addresses at an email domain. Breaches in `hidden` don't count.
pub fn captured_at_domain(db: &mut Db, domain: &str, hidden: &[i32]) -> Result<i64, DatabaseError> {
    use diesel::dsl::count;
    let Some(id) = mail_domains::id(db, domain)? else { return Ok(0) };
    unfiled_accounts::expect_none(db)?;
    Ok(match db {
        Db::Sqlite(conn) => domain_account::table
            .inner_join(stealer_log::table.on(
                domain_account::k.eq(stealer_log::k).and(domain_account::seq.eq(stealer_log::seq)),
            ))
            .filter(domain_account::domain_id.eq(id))
            .filter(stealer_log::breach_id.ne_all(hidden))
            .select(count(stealer_log::k).aggregate_distinct())
            .first(conn)?,
        Db::Pg(conn) => account::table
            .inner_join(
                stealer_log::table.on(account_of_pair().and(stealer_log::shard.eq(account::shard))),
            )
            .filter(account::domain_id.eq(id))
            .filter(stealer_log::breach_id.ne_all(hidden))
            .select(count(stealer_log::k).aggregate_distinct())
            .first(conn)?,
    })
}

/// An entry to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Insertable)]
#[diesel(table_name = stealer_log, treat_none_as_default_value = false)]
pub struct NewPair {
    /// Account key.
    pub k: i64,
    /// Sequence number among accounts with the same key.
    pub seq: i16,
    pub website_id: i32,
    /// Id of the breach the entry belongs to.
    pub breach_id: i32,
}

/// Adds entries. Returns how many were new.
pub fn add(db: &mut Db, pairs: &[NewPair]) -> Result<usize, DatabaseError> {
    let mut added = 0;
    for chunk in pairs.chunks(1_000) {
        added += match db {
            Db::Sqlite(conn) => diesel::insert_into(stealer_log::table)
                .values(chunk)
                .on_conflict_do_nothing()
                .execute(conn)?,
            Db::Pg(conn) => {
                let sharded =
                    |pair: &NewPair| (*pair, stealer_log::shard.eq(shard::of_key(pair.k)));
                diesel::insert_into(stealer_log::table)
                    .values(chunk.iter().map(sharded).collect::<Vec<_>>())
                    .on_conflict_do_nothing()
                    .execute(conn)?
            }
        };
    }
    Ok(added)
}

/// Deletes an account's entries from a breach. Returns the number of entries.
pub fn remove_of(db: &mut Db, (k, seq): (i64, i16), breach: u16) -> Result<usize, DatabaseError> {
    let rows = stealer_log::table
        .filter(shard::key_is::<stealer_log::table>(k).and(stealer_log::seq.eq(seq)))
        .filter(stealer_log::breach_id.eq(i32::from(breach)));
    Ok(diesel::delete(rows).execute(db)?)
}

/// Finds websites that can't be real, i.e. passwords mistaken for websites; see [`FindOdd`].
///
/// [`FindOdd`]: mail_domains::FindOdd
pub fn odd_websites(db: &mut Db, after: i32) -> Result<Option<OddPage>, DatabaseError> {
    let page = mail_domains::page(db, after)?;
    let Some(&(last, _)) = page.last() else { return Ok(None) };
    let mut ids = Vec::new();
    for (id, _) in page.iter().filter(|(_, name)| !website::is_stored(name)) {
        let pairs = stealer_log::table.filter(stealer_log::website_id.eq(id));
        if diesel::select(exists(pairs.select(stealer_log::k))).get_result::<bool>(db)? {
            ids.push(*id);
        }
    }
    Ok(Some(OddPage { ids, last }))
}

/// Deletes the entries of odd websites, as well as their names unless an account uses them. Returns
/// the number of websites that had entries. The names are read again, because an id can belong to
/// another name after a failover that loses transactions.
pub fn remove_odd_websites(db: &mut Db, ids: &[i32]) -> Result<u64, DatabaseError> {
    let mut removed = 0;
    for (id, name) in mail_domains::names(db, ids)? {
        if website::is_stored(&name) {
            continue;
        }
        let pairs = stealer_log::table.filter(stealer_log::website_id.eq(id));
        removed += u64::from(diesel::delete(pairs).execute(db)? > 0);
        if !accounts::has_accounts_in_runs(db, id)? {
            mail_domains::remove_unused(db, id)?;
        }
    }
    Ok(removed)
}

pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(stealer_log::table.count().get_result(db)?)
}
