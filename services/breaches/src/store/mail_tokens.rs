//! Mail links. Only their digests are stored.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::mail_token;

/// Purpose of links that verify a domain.
pub const DOMAIN_LINK: &str = "domain";

/// A link to store.
#[derive(Clone, Copy, Debug, Insertable)]
#[diesel(table_name = mail_token, treat_none_as_default_value = false)]
pub struct NewMailToken<'a> {
    /// Digest of the secret in the link.
    pub digest: &'a [u8],
    pub purpose: &'a str,
    /// The subscriber who requested the link, if that matters.
    pub subscriber_id: Option<i64>,
    /// The address or domain that the link is about. Empty if the subscriber determines it.
    pub subject: &'a str,
    /// The first second at which the link is expired.
    pub expires_at: i64,
}

/// A stored link.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = mail_token)]
pub struct MailToken {
    /// The subscriber who requested the link, if that matters.
    pub subscriber_id: Option<i64>,
    /// The address or domain that the link is about. Empty if the subscriber determines it.
    pub subject: String,
    /// The first second at which the link is expired.
    pub expires_at: i64,
    /// When the link was used, in Unix seconds. `None` if it was not.
    pub used_at: Option<i64>,
}

/// Stores a link.
pub fn add(db: &mut Db, new: &NewMailToken<'_>) -> Result<(), DatabaseError> {
    diesel::insert_into(mail_token::table).values(new).execute(db)?;
    Ok(())
}

/// Returns the link with a digest and a purpose.
pub fn find(db: &mut Db, digest: &[u8], purpose: &str) -> Result<Option<MailToken>, DatabaseError> {
    Ok(mail_token::table
        .find(digest)
        .filter(mail_token::purpose.eq(purpose))
        .select(MailToken::as_select())
        .first(db)
        .optional()?)
}

/// Consumes a link. Returns false if it was already used or has expired. If two requests race,
/// exactly one wins.
pub fn use_up(db: &mut Db, digest: &[u8], purpose: &str, now: i64) -> Result<bool, DatabaseError> {
    let row = mail_token::table
        .filter(mail_token::digest.eq(digest))
        .filter(mail_token::purpose.eq(purpose))
        .filter(mail_token::used_at.is_null())
        .filter(mail_token::expires_at.gt(now));
    Ok(diesel::update(row).set(mail_token::used_at.eq(now)).execute(db)? == 1)
}

/// Returns the number of links about an address, both used and unused.
pub fn count(db: &mut Db, address: &str) -> Result<i64, DatabaseError> {
    Ok(mail_token::table.filter(mail_token::subject.eq(address)).count().get_result(db)?)
}

/// Removes all links about an address, both used and unused.
pub fn forget_address(db: &mut Db, address: &str) -> Result<(), DatabaseError> {
    diesel::delete(mail_token::table.filter(mail_token::subject.eq(address))).execute(db)?;
    Ok(())
}

/// Removes links that expired before a given time.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let old = mail_token::table.filter(mail_token::expires_at.lt(before));
    Ok(diesel::delete(old).execute(db)?)
}
