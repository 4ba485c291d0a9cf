//! Finds and deletes domains that no account or stealer log uses.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::layout::Layout;
use super::schema::mail_domain;
use super::{accounts, mail_domains};

/// Deletes a domain if it's not in use, which makes running loads drop their cached ids. The caller
/// must have locked the accounts. Does nothing on a distributed database, where loads look up ids
/// before they lock the accounts.
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

/// How many domains [`remove_unused_page`] looks at per transaction.
const EXAMINED: i64 = 5_000;

/// Deletes unused domains among the next few thousand after an id. Returns the id to continue from,
/// or `None` at the end. The caller must have locked the accounts.
pub fn remove_unused_page(db: &mut Db, after: i32) -> Result<Option<i32>, DatabaseError> {
    let ids: Vec<i32> = mail_domain::table
        .filter(mail_domain::id.gt(after))
        .order(mail_domain::id)
        .limit(EXAMINED)
        .select(mail_domain::id)
        .load(db)?;
    for id in &ids {
        remove_if_unused(db, *id)?;
    }
    Ok(ids.last().copied())
}
