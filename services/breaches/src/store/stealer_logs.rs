//! Pairs of address and website from stealer logs.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::auto_type;
use diesel::prelude::*;

use super::schema::{account, domain_account, mail_domain, stealer_log};

/// A pair as the domain operations read it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Pair {
    /// Key of the account.
    pub k: i64,
    /// Local part as stored.
    pub local: String,
    /// Domain of the address (by website) or the website (by domain of the address).
    pub domain: String,
    /// Breach whose data hold the pair.
    pub breach: i32,
}

/// Websites of one account.
#[auto_type]
pub fn by_account(k: i64, seq: i16) -> _ {
    stealer_log::table
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(stealer_log::k.eq(k).and(stealer_log::seq.eq(seq)))
        .select((mail_domain::name, stealer_log::breach_id))
}

/// Accounts captured at one website.
#[auto_type]
pub fn by_website(website_id: i32) -> _ {
    stealer_log::table
        .inner_join(
            account::table.on(account::k.eq(stealer_log::k).and(account::seq.eq(stealer_log::seq))),
        )
        .inner_join(mail_domain::table.on(mail_domain::id.eq(account::domain_id)))
        .filter(stealer_log::website_id.eq(website_id))
        .select((account::k, account::local, mail_domain::name, stealer_log::breach_id))
}

/// Websites of all accounts at one domain.
#[auto_type]
pub fn by_domain(domain_id: i32) -> _ {
    domain_account::table
        .inner_join(
            stealer_log::table.on(domain_account::k
                .eq(stealer_log::k)
                .and(domain_account::seq.eq(stealer_log::seq))),
        )
        .inner_join(
            account::table.on(account::k.eq(stealer_log::k).and(account::seq.eq(stealer_log::seq))),
        )
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(domain_account::domain_id.eq(domain_id))
        .select((account::k, account::local, mail_domain::name, stealer_log::breach_id))
}

/// The same for PostgreSQL, whose accounts have an index by domain.
#[auto_type]
pub fn by_indexed_domain(domain_id: i32) -> _ {
    account::table
        .inner_join(
            stealer_log::table
                .on(account::k.eq(stealer_log::k).and(account::seq.eq(stealer_log::seq))),
        )
        .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
        .filter(account::domain_id.eq(domain_id))
        .select((account::k, account::local, mail_domain::name, stealer_log::breach_id))
}

/// The websites of an account with the breach of each pair.
pub fn websites(db: &mut Db, (k, seq): (i64, i16)) -> Result<Vec<(String, i32)>, DatabaseError> {
    Ok(by_account(k, seq).load(db)?)
}

/// The accounts captured at a website.
pub fn at_website(db: &mut Db, website: &str) -> Result<Vec<Pair>, DatabaseError> {
    match super::mail_domains::id(db, website)? {
        Some(id) => Ok(by_website(id).load(db)?),
        None => Ok(Vec::new()),
    }
}

/// The captured accounts at a mail domain.
pub fn at_domain(db: &mut Db, domain: &str) -> Result<Vec<Pair>, DatabaseError> {
    match super::mail_domains::id(db, domain)? {
        Some(id) => Ok(match db {
            Db::Sqlite(conn) => by_domain(id).load(conn)?,
            Db::Pg(conn) => by_indexed_domain(id).load(conn)?,
        }),
        None => Ok(Vec::new()),
    }
}

/// Number of addresses at a mail domain that were captured, without those of some breaches.
pub fn captured_at_domain(db: &mut Db, domain: &str, hidden: &[i32]) -> Result<i64, DatabaseError> {
    use diesel::dsl::count;
    let Some(id) = super::mail_domains::id(db, domain)? else { return Ok(0) };
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
                stealer_log::table
                    .on(account::k.eq(stealer_log::k).and(account::seq.eq(stealer_log::seq))),
            )
            .filter(account::domain_id.eq(id))
            .filter(stealer_log::breach_id.ne_all(hidden))
            .select(count(stealer_log::k).aggregate_distinct())
            .first(conn)?,
    })
}

/// A pair to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Insertable)]
#[diesel(table_name = stealer_log, treat_none_as_default_value = false)]
pub struct NewPair {
    /// Key of the account.
    pub k: i64,
    /// Number of the account within its key.
    pub seq: i16,
    /// Website, filed as a domain.
    pub website_id: i32,
    /// Breach whose data hold the pair.
    pub breach_id: i32,
}

/// Adds pairs; returns how many were new.
pub fn add(db: &mut Db, pairs: &[NewPair]) -> Result<usize, DatabaseError> {
    let mut added = 0;
    for chunk in pairs.chunks(1_000) {
        added += on_backend!(db, conn => diesel::insert_into(stealer_log::table)
            .values(chunk)
            .on_conflict_do_nothing()
            .execute(conn))?;
    }
    Ok(added)
}

/// Removes the pairs that a breach brought between two keys, both included.
pub fn remove_between(
    db: &mut Db,
    breach: u16,
    low: i64,
    high: i64,
) -> Result<usize, DatabaseError> {
    let rows = stealer_log::table
        .filter(stealer_log::k.between(low, high))
        .filter(stealer_log::breach_id.eq(i32::from(breach)));
    Ok(diesel::delete(rows).execute(db)?)
}

/// Removes the pairs that a breach brought for one account.
pub fn remove_of(db: &mut Db, (k, seq): (i64, i16), breach: u16) -> Result<usize, DatabaseError> {
    let rows = stealer_log::table
        .filter(stealer_log::k.eq(k).and(stealer_log::seq.eq(seq)))
        .filter(stealer_log::breach_id.eq(i32::from(breach)));
    Ok(diesel::delete(rows).execute(db)?)
}

/// Number of pairs.
pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(stealer_log::table.count().get_result(db)?)
}
