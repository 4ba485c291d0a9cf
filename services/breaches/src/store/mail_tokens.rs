//! Links in mails. Only digests of them are stored.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::mail_token;

/// What links are for that verify a domain.
pub const DOMAIN_LINK: &str = "domain";

/// A link to be stored.
#[derive(Clone, Copy, Debug, Insertable)]
#[diesel(table_name = mail_token, treat_none_as_default_value = false)]
pub struct NewMailToken<'a> {
    /// Digest of the secret in the link.
    pub digest: &'a [u8],
    /// What it is for.
    pub purpose: &'a str,
    /// Who asked for it, where that matters.
    pub subscriber_id: Option<i64>,
    /// The address or the domain that it is about; empty where the subscriber says it.
    pub subject: &'a str,
    /// First second at which it is worth nothing.
    pub expires_at: i64,
}

/// A link on file.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = mail_token)]
pub struct MailToken {
    /// Who asked for it, where that matters.
    pub subscriber_id: Option<i64>,
    /// The address or the domain that it is about; empty where the subscriber says it.
    pub subject: String,
    /// First second at which it is worth nothing.
    pub expires_at: i64,
    /// When it was used.
    pub used_at: Option<i64>,
}

/// Stores a link.
pub fn add(db: &mut Db, new: &NewMailToken<'_>) -> Result<(), DatabaseError> {
    diesel::insert_into(mail_token::table).values(new).execute(db)?;
    Ok(())
}

/// The link with a digest, if it is for this purpose.
pub fn find(db: &mut Db, digest: &[u8], purpose: &str) -> Result<Option<MailToken>, DatabaseError> {
    Ok(mail_token::table
        .find(digest)
        .filter(mail_token::purpose.eq(purpose))
        .select(MailToken::as_select())
        .first(db)
        .optional()?)
}

/// Uses a link up; whether it was still unused and worth something. Of two at once, one succeeds.
pub fn use_up(db: &mut Db, digest: &[u8], purpose: &str, now: i64) -> Result<bool, DatabaseError> {
    let row = mail_token::table
        .filter(mail_token::digest.eq(digest))
        .filter(mail_token::purpose.eq(purpose))
        .filter(mail_token::used_at.is_null())
        .filter(mail_token::expires_at.gt(now));
    Ok(diesel::update(row).set(mail_token::used_at.eq(now)).execute(db)? == 1)
}

/// How many links about an address there are, used or not.
pub fn count(db: &mut Db, address: &str) -> Result<i64, DatabaseError> {
    Ok(mail_token::table.filter(mail_token::subject.eq(address)).count().get_result(db)?)
}

/// Removes all links about an address, used or not.
pub fn forget_address(db: &mut Db, address: &str) -> Result<(), DatabaseError> {
    diesel::delete(mail_token::table.filter(mail_token::subject.eq(address))).execute(db)?;
    Ok(())
}

/// Removes links that are worth nothing since a second.
pub fn prune(db: &mut Db, before: i64) -> Result<usize, DatabaseError> {
    let old = mail_token::table.filter(mail_token::expires_at.lt(before));
    Ok(diesel::delete(old).execute(db)?)
}
