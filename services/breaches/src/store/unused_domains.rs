//! Names of domains that neither an account nor a stealer log uses.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::layout::Layout;
use super::schema::mail_domain;
use super::{accounts, mail_domains};

/// Removes a domain unless an account or a stealer log uses it. The caller must have locked the
/// accounts. Loads then discard their cached ids. Does nothing on a distributed database, because
/// its loads look up ids before they lock the accounts.
pub fn remove_if_unused(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    let is_used = Layout::of(db)?.is_distributed() || is_used(db, id)?;
    if !is_used {
        mail_domains::delete(db, id)?;
    }
    Ok(!is_used)
}

/// Returns whether an account or a stealer log uses a domain.
pub fn is_used(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    Ok(mail_domains::is_used_in_tables(db, id)? || accounts::has_accounts_in_runs(db, id)?)
}

/// Number of domains examined per transaction of [`remove_unused_page`].
const EXAMINED: i64 = 5_000;

/// Of the next few thousand domains after an id, removes those that are unused. Returns the id from
/// which to continue, or `None` at the end. The caller must have locked the accounts.
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
