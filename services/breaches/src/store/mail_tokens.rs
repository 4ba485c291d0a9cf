//! Email links. We store only digests of their secrets.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::mail_token;

/// Purpose of domain verification links.
pub const DOMAIN_LINK: &str = "domain";

/// A link to store.
#[derive(Clone, Copy, Debug, Insertable)]
#[diesel(table_name = mail_token, treat_none_as_default_value = false)]
pub struct NewMailToken<'a> {
    /// Digest of the link's secret.
    pub digest: &'a [u8],
    pub purpose: &'a str,
    /// The subscriber it was sent to or requested by, if applicable.
    pub subscriber_id: Option<i64>,
    /// The address or domain it's about. Empty if that follows from the subscriber.
    pub subject: &'a str,
    /// Unix time at which the link stops working.
    pub expires_at: i64,
}

/// A stored link.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = mail_token)]
pub struct MailToken {
    /// The subscriber it was sent to or requested by, if applicable.
    pub subscriber_id: Option<i64>,
    /// The address or domain it's about. Empty if that follows from the subscriber.
    pub subject: String,
    /// Unix time at which the link stops working.
    pub expires_at: i64,
    /// When it was used, in Unix seconds, if ever.
    pub used_at: Option<i64>,
}

pub fn add(db: &mut Db, new: &NewMailToken<'_>) -> Result<(), DatabaseError> {
    diesel::insert_into(mail_token::table).values(new).execute(db)?;
    Ok(())
}

/// Looks up a link by digest and purpose.
pub fn find(db: &mut Db, digest: &[u8], purpose: &str) -> Result<Option<MailToken>, DatabaseError> {
    Ok(mail_token::table
        .find(digest)
        .filter(mail_token::purpose.eq(purpose))
        .select(MailToken::as_select())
        .first(db)
        .optional()?)
}

/// Marks a link as used. Returns `false` if it was already used or has expired. If two requests
/// race, only one of them succeeds.
pub fn use_up(db: &mut Db, digest: &[u8], purpose: &str, now: i64) -> Result<bool, DatabaseError> {
    let row = mail_token::table
        .filter(mail_token::digest.eq(digest))
        .filter(mail_token::purpose.eq(purpose))
        .filter(mail_token::used_at.is_null())
        .filter(mail_token::expires_at.gt(now));
    Ok(diesel::update(row).set(mail_token::used_at.eq(now)).execute(db)? == 1)
}

/// Deletes a link.
pub fn remove(db: &mut Db, digest: &[u8]) -> Result<(), DatabaseError> {
    diesel::delete(mail_token::table.find(digest)).execute(db)?;
    Ok(())
}

/// Counts links for an address, used or not.
pub fn count(db: &mut Db, address: &str) -> Result<i64, DatabaseError> {
    Ok(mail_token::table.filter(mail_token::subject.eq(address)).count().get_result(db)?)
}

/// Deletes all links for an address, used or not.
pub fn forget_address(db: &mut Db, address: &str) -> Result<(), DatabaseError> {
    diesel::delete(mail_token::table.filter(mail_token::subject.eq(address))).execute(db)?;
    Ok(())
}

/// Deletes links that expired before the given time.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let old = mail_token::table.filter(mail_token::expires_at.lt(before));
    Ok(diesel::delete(old).execute(db)?)
}
