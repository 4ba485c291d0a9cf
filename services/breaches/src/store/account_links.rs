//! Changes to individual accounts: linking, unlinking and removing them.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use diesel::prelude::*;
use domain::EmailAddress;

use super::accounts::{self, AccountRow, Linked};
use super::domain_accounts::{self, DomainAccount};
use super::schema::{account, paste_account, stealer_log};
use super::shard;
use crate::model::{AccountKey, address_text, id_list};

/// Number of accounts to look up per statement.
const MANY: usize = 1_000;

/// Replaces an account's packed list of breach ids.
pub fn set_list(db: &mut Db, (k, seq): (i64, i16), list: &[u8]) -> Result<(), DatabaseError> {
    let row = shard::key_is::<account::table>(k).and(account::seq.eq(seq));
    diesel::update(account::table.filter(row)).set(account::breaches.eq(list)).execute(db)?;
    Ok(())
}

/// Moves the accounts with this key from runs into the table so that they can be changed.
pub fn merge_key(db: &mut Db, key: AccountKey) -> Result<(), DatabaseError> {
    merge_between(db, key.0, key.0).map(drop)
}

/// Moves the accounts in a key range from runs into the table. Returns how many were moved.
pub fn merge_between(db: &mut Db, low: i64, high: i64) -> Result<usize, DatabaseError> {
    let mut moved = Linked::default();
    let accounts = accounts::merge(db, low, high, &mut moved)?;
    domain_accounts::add(db, &mut moved.filings)?;
    Ok(accounts)
}

/// Looks up an account by address, after moving all of its data into the table.
pub fn find_merged(
    db: &mut Db,
    address: &EmailAddress,
) -> Result<Option<AccountRow>, DatabaseError> {
    let key = AccountKey::of(&address.sha1());
    merge_key(db, key)?;
    Ok(accounts::pick(accounts::in_table(db, key)?, address))
}

/// Like [`find_merged`], but creates the account with an empty list if it doesn't exist.
pub fn ensure(db: &mut Db, address: &EmailAddress) -> Result<AccountRow, DatabaseError> {
    let key = AccountKey::of(&address.sha1());
    merge_key(db, key)?;
    let same_key = accounts::in_table(db, key)?;
    let seq = same_key.iter().map(|row| row.seq + 1).max().unwrap_or(0);
    if let Some(row) = accounts::pick(same_key, address) {
        return Ok(row);
    }
    let (k, domain) = (key.0, address.domain());
    let ids = super::mail_domains::ids(db, &[domain])?;
    let domain_id = ids.get(domain).copied().ok_or(DatabaseError::NotFound)?;
    let local = address_text::stored_local(address).into_owned();
    let row = (
        account::k.eq(k),
        account::seq.eq(seq),
        account::domain_id.eq(domain_id),
        account::local.eq(&local),
        account::breaches.eq(&[][..]),
    );
    match db {
        Db::Sqlite(conn) => diesel::insert_into(account::table).values(row).execute(conn)?,
        Db::Pg(conn) => diesel::insert_into(account::table)
            .values((row, account::shard.eq(shard::of_key(k))))
            .execute(conn)?,
    };
    domain_accounts::add(db, &mut [DomainAccount { domain_id, k, seq }])?;
    Ok(AccountRow { k, seq, local, domain: domain.to_owned(), breaches: Vec::new() })
}

/// Links an address to a breach. Returns `false` if the link already existed.
pub fn link_one(db: &mut Db, address: &EmailAddress, breach: u16) -> Result<bool, DatabaseError> {
    let row = ensure(db, address)?;
    let Some(longer) = id_list::with(&row.breaches, breach) else { return Ok(false) };
    set_list(db, (row.k, row.seq), &longer)?;
    Ok(true)
}

/// Stores a shortened list, or removes the account if it has no data left.
pub fn shorten(db: &mut Db, place: (i64, i16), list: &[u8]) -> Result<(), DatabaseError> {
    if list.is_empty() && is_bare(db, place)? {
        remove(db, place)
    } else {
        set_list(db, place, list)
    }
}

/// True if an account has neither stealer log entries nor pastes.
pub fn is_bare(db: &mut Db, (k, seq): (i64, i16)) -> Result<bool, DatabaseError> {
    let pairs = shard::key_is::<stealer_log::table>(k).and(stealer_log::seq.eq(seq));
    let pair = stealer_log::table.filter(pairs).select(stealer_log::k);
    let links = shard::key_is::<paste_account::table>(k).and(paste_account::seq.eq(seq));
    let link = paste_account::table.filter(links).select(paste_account::k);
    Ok(pair.first::<i64>(db).optional()?.is_none() && link.first::<i64>(db).optional()?.is_none())
}

/// Finds the accounts that have stealer log entries or pastes.
pub fn with_data(db: &mut Db, places: &[(i64, i16)]) -> Result<HashSet<(i64, i16)>, DatabaseError> {
    let mut found = HashSet::new();
    for places in places.chunks(MANY) {
        let keys: Vec<i64> = places.iter().map(|(k, _)| *k).collect();
        let pairs = stealer_log::table.filter(stealer_log::k.eq_any(&keys));
        let pairs = pairs.select((stealer_log::k, stealer_log::seq));
        let links = paste_account::table.filter(paste_account::k.eq_any(&keys));
        let links = links.select((paste_account::k, paste_account::seq));
        match db {
            Db::Sqlite(conn) => {
                found.extend(pairs.load::<(i64, i16)>(conn)?);
                found.extend(links.load::<(i64, i16)>(conn)?);
            }
            Db::Pg(conn) => {
                let shards: Vec<i16> = keys.iter().map(|k| shard::of_key(*k)).collect();
                let pairs = pairs.filter(stealer_log::shard.eq_any(&shards));
                found.extend(pairs.load::<(i64, i16)>(conn)?);
                let links = links.filter(paste_account::shard.eq_any(&shards));
                found.extend(links.load::<(i64, i16)>(conn)?);
            }
        }
    }
    Ok(found)
}

/// Deletes an account with its stealer log entries and paste links.
pub fn remove(db: &mut Db, (k, seq): (i64, i16)) -> Result<(), DatabaseError> {
    let pairs = shard::key_is::<stealer_log::table>(k).and(stealer_log::seq.eq(seq));
    diesel::delete(stealer_log::table.filter(pairs)).execute(db)?;
    let links = shard::key_is::<paste_account::table>(k).and(paste_account::seq.eq(seq));
    diesel::delete(paste_account::table.filter(links)).execute(db)?;
    let row = shard::key_is::<account::table>(k).and(account::seq.eq(seq));
    diesel::delete(account::table.filter(row)).execute(db)?;
    Ok(())
}

/// Returns the key of an address in the form that loads sort by: the local part as stored, `@`, and
/// the domain.
pub fn sorted_key(sorted_text: &str) -> AccountKey {
    let (local, domain) = split(sorted_text);
    AccountKey::of(&address_text::digest(local, domain))
}

/// Finds the account for `sorted_text` among the rows with its key.
pub fn pick_sorted(rows: Vec<AccountRow>, sorted_text: &str) -> Option<AccountRow> {
    let (local, domain) = split(sorted_text);
    rows.into_iter().find(|row| row.local == local && row.domain == domain)
}

fn split(sorted_text: &str) -> (&str, &str) {
    sorted_text.rsplit_once('@').unwrap_or((sorted_text, ""))
}
