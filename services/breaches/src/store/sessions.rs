//! Sessions of signed-in subscribers. We store only digests of their secrets.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::{session, subscriber};

#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct SignedIn {
    /// Subscriber id.
    pub subscriber: i64,
    /// Email address.
    pub email: String,
}

/// Starts a session.
pub fn add(db: &mut Db, digest: &[u8], id: i64, expires_at: i64) -> Result<(), DatabaseError> {
    diesel::insert_into(session::table)
        .values((
            session::digest.eq(digest),
            session::subscriber_id.eq(id),
            session::expires_at.eq(expires_at),
        ))
        .execute(db)?;
    Ok(())
}

/// Looks up the subscriber a session belongs to. Returns `None` if it has ended.
pub fn find(db: &mut Db, digest: &[u8], now: i64) -> Result<Option<SignedIn>, DatabaseError> {
    Ok(session::table
        .inner_join(subscriber::table)
        .filter(session::digest.eq(digest))
        .filter(session::expires_at.gt(now))
        .select((subscriber::id, subscriber::email))
        .first(db)
        .optional()?)
}

pub fn end(db: &mut Db, digest: &[u8]) -> Result<(), DatabaseError> {
    diesel::delete(session::table.find(digest)).execute(db)?;
    Ok(())
}

/// Ends all of a subscriber's sessions.
pub fn end_all(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(session::table.filter(session::subscriber_id.eq(id))).execute(db)?;
    Ok(())
}

/// Deletes expired sessions.
pub fn prune(db: &mut Db, now: i64) -> Result<usize, DatabaseError> {
    Ok(diesel::delete(session::table.filter(session::expires_at.le(now))).execute(db)?)
}
