//! Reading accounts: by address, by hash prefix, by domain.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use domain::EmailAddress;

use super::schema::{account, domain_account, mail_domain};
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

/// The accounts exactly at a domain.
pub fn at_domain(db: &mut Db, domain: &str) -> Result<Vec<AccountRow>, DatabaseError> {
    let Some(id) = super::mail_domains::id(db, domain)? else { return Ok(Vec::new()) };
    let rows: Vec<(i64, i16, String, Vec<u8>)> = match db {
        Db::Sqlite(conn) => by_domain(id).load(conn)?,
        Db::Pg(conn) => by_indexed_domain(id).load(conn)?,
    };
    let domain = || domain.to_owned();
    Ok(rows
        .into_iter()
        .map(|(k, seq, local, breaches)| AccountRow { k, seq, local, domain: domain(), breaches })
        .collect())
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
