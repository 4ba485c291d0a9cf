//! Writes single accounts: links them to a breach, removes links, removes accounts.

use database::{DatabaseError, Db};
use diesel::dsl::exists;
use diesel::prelude::*;
use domain::EmailAddress;

use super::accounts::{self, AccountRow, Linked};
use super::domain_accounts::{self, DomainAccount};
use super::schema::{account, paste_account, stealer_log};
use crate::model::{AccountKey, address_text, id_list};

/// Replaces the packed list of an account.
pub fn set_list(db: &mut Db, (k, seq): (i64, i16), list: &[u8]) -> Result<(), DatabaseError> {
    diesel::update(account::table.find((k, seq))).set(account::breaches.eq(list)).execute(db)?;
    Ok(())
}

/// Moves the appended accounts with a key to the table so that they can be changed.
pub fn merge_key(db: &mut Db, key: AccountKey) -> Result<(), DatabaseError> {
    merge_between(db, key.0, key.0).map(drop)
}

/// Moves the accounts with keys from `low` to `high` from runs to the table and returns their
/// number.
pub fn merge_between(db: &mut Db, low: i64, high: i64) -> Result<usize, DatabaseError> {
    let mut moved = Linked::default();
    let accounts = accounts::merge(db, low, high, &mut moved)?;
    domain_accounts::add(db, &mut moved.filings)?;
    Ok(accounts)
}

/// Returns the account of an address after moving all of it to the table.
pub fn find_merged(
    db: &mut Db,
    address: &EmailAddress,
) -> Result<Option<AccountRow>, DatabaseError> {
    let key = AccountKey::of(&address.sha1());
    merge_key(db, key)?;
    Ok(accounts::pick(accounts::in_table(db, key)?, address))
}

/// Returns the account of an address after moving all of it to the table. Creates it with an empty
/// list if it does not exist.
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
    diesel::insert_into(account::table)
        .values((
            account::k.eq(k),
            account::seq.eq(seq),
            account::domain_id.eq(domain_id),
            account::local.eq(&local),
            account::breaches.eq(&[][..]),
        ))
        .execute(db)?;
    domain_accounts::add(db, &mut [DomainAccount { domain_id, k, seq }])?;
    Ok(AccountRow { k, seq, local, domain: domain.to_owned(), breaches: Vec::new() })
}

/// Links an address to a breach. Returns false if it was already linked.
pub fn link_one(db: &mut Db, address: &EmailAddress, breach: u16) -> Result<bool, DatabaseError> {
    let row = ensure(db, address)?;
    let Some(longer) = id_list::with(&row.breaches, breach) else { return Ok(false) };
    set_list(db, (row.k, row.seq), &longer)?;
    Ok(true)
}

/// Writes a shorter list, or removes the account if nothing else refers to it.
pub fn shorten(db: &mut Db, place: (i64, i16), list: &[u8]) -> Result<(), DatabaseError> {
    if list.is_empty() && is_bare(db, place)? {
        remove(db, place)
    } else {
        set_list(db, place, list)
    }
}

/// Returns whether an account has no stealer log and no paste.
pub fn is_bare(db: &mut Db, (k, seq): (i64, i16)) -> Result<bool, DatabaseError> {
    let pairs = stealer_log::table.filter(stealer_log::k.eq(k).and(stealer_log::seq.eq(seq)));
    let pastes =
        paste_account::table.filter(paste_account::k.eq(k).and(paste_account::seq.eq(seq)));
    Ok(!diesel::select(exists(pairs)).get_result::<bool>(db)?
        && !diesel::select(exists(pastes)).get_result::<bool>(db)?)
}

/// Removes an account with its stealer-log pairs and paste links.
pub fn remove(db: &mut Db, (k, seq): (i64, i16)) -> Result<(), DatabaseError> {
    diesel::delete(stealer_log::table.filter(stealer_log::k.eq(k).and(stealer_log::seq.eq(seq))))
        .execute(db)?;
    diesel::delete(
        paste_account::table.filter(paste_account::k.eq(k).and(paste_account::seq.eq(seq))),
    )
    .execute(db)?;
    diesel::delete(account::table.find((k, seq))).execute(db)?;
    Ok(())
}

/// The key of the address whose stored local part precedes the last `@` of `sorted_text`.
pub fn sorted_key(sorted_text: &str) -> AccountKey {
    let (local, domain) = split(sorted_text);
    AccountKey::of(&address_text::digest(local, domain))
}

/// Returns the account of the address `sorted_text` from the rows with its key.
pub fn pick_sorted(rows: Vec<AccountRow>, sorted_text: &str) -> Option<AccountRow> {
    let (local, domain) = split(sorted_text);
    rows.into_iter().find(|row| row.local == local && row.domain == domain)
}

fn split(sorted_text: &str) -> (&str, &str) {
    sorted_text.rsplit_once('@').unwrap_or((sorted_text, ""))
}
