//! Reading accounts: by address, by hash prefix, by domain.

use database::{Backend, DatabaseError, Db, on_backend};
use diesel::dsl::{auto_type, exists, not};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, SmallInt, Text};
use domain::EmailAddress;

use super::schema::{account, domain_account, mail_domain, paste_account, stealer_log};
use crate::model::{AccountKey, address_text};

/// An account with the name of its domain.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct AccountRow {
    /// Key, see [`AccountKey`].
    pub k: i64,
    /// Number among the addresses with this key.
    pub seq: i16,
    /// Local part as stored, see [`address_text`].
    pub local: String,
    /// Domain as A-labels.
    pub domain: String,
    /// Packed breach ids.
    pub breaches: Vec<u8>,
}

impl AccountRow {
    /// The normalised text of the address.
    pub fn address(&self) -> String {
        address_text::full_text(&self.local, &self.domain)
    }

    /// The local part of the address.
    pub fn alias(&self) -> &str {
        address_text::alias(&self.local)
    }

    /// The key as a type.
    pub fn key(&self) -> AccountKey {
        AccountKey(self.k)
    }
}

/// The accounts with a key; more than one only where 8 bytes of SHA-1 collide.
#[auto_type]
pub fn by_key(k: i64) -> _ {
    account::table.inner_join(mail_domain::table).filter(account::k.eq(k)).select((
        account::k,
        account::seq,
        account::local,
        mail_domain::name,
        account::breaches,
    ))
}

/// An account in a range; its key follows from its address.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct RangeRow {
    /// Local part as stored, see [`address_text`].
    pub local: String,
    /// Domain as A-labels.
    pub domain: String,
    /// Packed breach ids.
    pub breaches: Vec<u8>,
}

/// The accounts with keys between two keys.
#[auto_type]
pub fn by_range(low: i64, high: i64) -> _ {
    account::table.inner_join(mail_domain::table).filter(account::k.between(low, high)).select((
        account::local,
        mail_domain::name,
        account::breaches,
    ))
}

/// The same for PostgreSQL.
///
/// The domain is looked up for each row rather than joined: the plan that is kept for a prepared
/// statement does not know the keys, takes the range for large and would read all domains.
#[auto_type]
pub fn by_range_of_any_size(low: i64, high: i64) -> _ {
    account::table.filter(account::k.between(low, high)).select((
        account::local,
        mail_domain::table
            .filter(mail_domain::id.eq(account::domain_id))
            .select(mail_domain::name)
            .single_value()
            .assume_not_null(),
        account::breaches,
    ))
}

/// The accounts filed under a domain.
#[auto_type]
pub fn by_domain(domain_id: i32) -> _ {
    domain_account::table
        .inner_join(
            account::table
                .on(account::k.eq(domain_account::k).and(account::seq.eq(domain_account::seq))),
        )
        .filter(domain_account::domain_id.eq(domain_id))
        .select((account::k, account::seq, account::local, account::breaches))
}

/// The same for PostgreSQL, whose accounts have an index by domain.
#[auto_type]
pub fn by_indexed_domain(domain_id: i32) -> _ {
    account::table.filter(account::domain_id.eq(domain_id)).select((
        account::k,
        account::seq,
        account::local,
        account::breaches,
    ))
}

/// The account of an address.
pub fn find(db: &mut Db, address: &EmailAddress) -> Result<Option<AccountRow>, DatabaseError> {
    let rows = with_key(db, AccountKey::of(&address.sha1()))?;
    Ok(pick(rows, address))
}

/// The accounts with a key.
pub fn with_key(db: &mut Db, key: AccountKey) -> Result<Vec<AccountRow>, DatabaseError> {
    Ok(on_backend!(db, conn => by_key(key.0).load(conn))?)
}

/// The row of `address` among those with its key.
pub fn pick(rows: Vec<AccountRow>, address: &EmailAddress) -> Option<AccountRow> {
    rows.into_iter().find(|row| address_text::is(&row.local, &row.domain, address))
}

/// The accounts with keys from `low` to `high`, both included.
pub fn range(
    db: &mut Db,
    low: AccountKey,
    high: AccountKey,
) -> Result<Vec<RangeRow>, DatabaseError> {
    Ok(match db {
        Db::Sqlite(conn) => by_range(low.0, high.0).load(conn)?,
        Db::Pg(conn) => by_range_of_any_size(low.0, high.0).load(conn)?,
    })
}

/// Accounts that are read at once.
const PAGE: i64 = 5_000;

/// An account of a domain whose name is known.
type DomainRow = (i64, i16, String, Vec<u8>);

/// The accounts exactly at a domain, all in memory.
pub fn at_domain(db: &mut Db, domain: &str) -> Result<Vec<AccountRow>, DatabaseError> {
    let mut rows = Vec::new();
    each_at_domain(db, domain, |_, row| {
        rows.push(row);
        Ok::<(), DatabaseError>(())
    })?;
    Ok(rows)
}

/// Visits the accounts exactly at a domain, some thousand in memory at a time.
pub fn each_at_domain<E: From<DatabaseError>>(
    db: &mut Db,
    domain: &str,
    mut visit: impl FnMut(&mut Db, AccountRow) -> Result<(), E>,
) -> Result<(), E> {
    let Some(id) = super::mail_domains::id(db, domain)? else { return Ok(()) };
    let mut visit_rows = |db: &mut Db, rows: Vec<DomainRow>| {
        for (k, seq, local, breaches) in rows {
            visit(db, AccountRow { k, seq, local, domain: domain.to_owned(), breaches })?;
        }
        Ok(())
    };
    match db.backend() {
        Backend::Sqlite => each_page_of_domain(db, id, visit_rows),
        Backend::Postgres => {
            // A cursor ends with its transaction, whatever that did.
            let visited: Result<Result<(), E>, diesel::result::Error> =
                db.transaction(|db| Ok(fetch_domain(db, id, &mut visit_rows)));
            visited.map_err(DatabaseError::from)?
        }
    }
}

/// The accounts of a domain are filed in the order of their keys: each page begins behind the last one.
fn each_page_of_domain<E: From<DatabaseError>>(
    db: &mut Db,
    id: i32,
    mut visit: impl FnMut(&mut Db, Vec<DomainRow>) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = (i64::MIN, -1_i16);
    loop {
        let (k, seq) = after;
        let behind =
            domain_account::k.ge(k).and(domain_account::k.gt(k).or(domain_account::seq.gt(seq)));
        let page = by_domain(id)
            .filter(behind)
            .order((domain_account::k, domain_account::seq))
            .limit(PAGE);
        let rows: Vec<DomainRow> = page.load(db).map_err(DatabaseError::from)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = (last.0, last.1);
        visit(db, rows)?;
    }
}

/// The same in PostgreSQL, whose index by domain has no order of keys.
fn fetch_domain<E: From<DatabaseError>>(
    db: &mut Db,
    id: i32,
    visit: &mut impl FnMut(&mut Db, Vec<DomainRow>) -> Result<(), E>,
) -> Result<(), E> {
    let run = |db: &mut Db, statement: String| -> Result<Vec<FetchedRow>, DatabaseError> {
        Ok(diesel::sql_query(statement).load(db)?)
    };
    let select = "SELECT k, seq, local, breaches FROM account WHERE domain_id";
    let declare = format!("DECLARE at_domain NO SCROLL CURSOR FOR {select} = {id}");
    diesel::sql_query(declare).execute(db).map_err(DatabaseError::from)?;
    loop {
        let rows = run(db, format!("FETCH {PAGE} FROM at_domain"))?;
        if rows.is_empty() {
            break;
        }
        visit(db, rows.into_iter().map(|row| (row.k, row.seq, row.local, row.breaches)).collect())?;
    }
    diesel::sql_query("CLOSE at_domain").execute(db).map_err(DatabaseError::from)?;
    Ok(())
}

/// A row of a cursor.
#[derive(QueryableByName)]
struct FetchedRow {
    #[diesel(sql_type = BigInt)]
    k: i64,
    #[diesel(sql_type = SmallInt)]
    seq: i16,
    #[diesel(sql_type = Text)]
    local: String,
    #[diesel(sql_type = Binary)]
    breaches: Vec<u8>,
}

/// The next accounts behind a place, some thousand, without a part of those with one key.
pub fn page(db: &mut Db, place: (i64, i16)) -> Result<Vec<AccountRow>, DatabaseError> {
    let mut rows = after(db, place, PAGE)?;
    let full = rows.len() as i64 == PAGE;
    if let (true, Some(last)) = (full, rows.last().map(|row| row.k))
        && rows.first().is_some_and(|row| row.k != last)
    {
        rows.retain(|row| row.k != last);
    }
    Ok(rows)
}

/// Number of accounts without a breach, a stealer log or a paste.
pub fn count_empty(db: &mut Db) -> Result<i64, DatabaseError> {
    let pair = stealer_log::k.eq(account::k).and(stealer_log::seq.eq(account::seq));
    let paste = paste_account::k.eq(account::k).and(paste_account::seq.eq(account::seq));
    Ok(account::table
        .filter(account::breaches.eq(&[][..]))
        .filter(not(exists(stealer_log::table.filter(pair))))
        .filter(not(exists(paste_account::table.filter(paste))))
        .count()
        .get_result(db)?)
}

/// The next accounts in key order behind `(k, seq)`.
pub fn after(
    db: &mut Db,
    (k, seq): (i64, i16),
    limit: i64,
) -> Result<Vec<AccountRow>, DatabaseError> {
    Ok(account::table
        .inner_join(mail_domain::table)
        .filter(account::k.ge(k).and(account::k.gt(k).or(account::seq.gt(seq))))
        .order((account::k, account::seq))
        .limit(limit)
        .select((account::k, account::seq, account::local, mail_domain::name, account::breaches))
        .load(db)?)
}

/// Number of accounts.
pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(account::table.count().get_result(db)?)
}

/// The packed list of the account at a place.
pub fn by_place(db: &mut Db, (k, seq): (i64, i16)) -> Result<Option<Vec<u8>>, DatabaseError> {
    Ok(account::table.find((k, seq)).select(account::breaches).first(db).optional()?)
}
