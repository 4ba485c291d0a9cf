//! Webhooks of subscribers.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::webhook;

/// A webhook. Its secret is stored in plain text, because every message is signed with it.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = webhook)]
pub struct Webhook {
    /// The id in the database.
    pub id: i64,
    /// The URL that receives messages.
    pub url: String,
    /// The key with which messages are signed.
    pub secret: String,
    /// Whether the webhook is called.
    pub enabled: bool,
    /// When the webhook was added, in Unix seconds.
    pub created_at: i64,
}

/// Returns the webhooks of a subscriber, oldest first.
pub fn of_subscriber(db: &mut Db, id: i64) -> Result<Vec<Webhook>, DatabaseError> {
    Ok(webhook::table
        .filter(webhook::subscriber_id.eq(id))
        .order(webhook::id)
        .select(Webhook::as_select())
        .load(db)?)
}

/// Returns an enabled webhook of a subscriber by its id.
pub fn enabled(db: &mut Db, id: i64, subscriber: i64) -> Result<Option<Webhook>, DatabaseError> {
    Ok(webhook::table
        .find(id)
        .filter(webhook::subscriber_id.eq(subscriber))
        .filter(webhook::enabled.eq(true))
        .select(Webhook::as_select())
        .first(db)
        .optional()?)
}

/// Adds a webhook. Returns [`DatabaseError::Conflict`] if the subscriber already has one with this
/// URL.
pub fn add(db: &mut Db, id: i64, url: &str, secret: &str, now: i64) -> Result<(), DatabaseError> {
    diesel::insert_into(webhook::table)
        .values((
            webhook::subscriber_id.eq(id),
            webhook::url.eq(url),
            webhook::secret.eq(secret),
            webhook::enabled.eq(true),
            webhook::created_at.eq(now),
        ))
        .execute(db)?;
    Ok(())
}

/// Removes a webhook and its pending messages. Returns whether it existed.
pub fn remove(db: &mut Db, id: i64, url: &str) -> Result<bool, DatabaseError> {
    let row = webhook::table.filter(webhook::subscriber_id.eq(id)).filter(webhook::url.eq(url));
    Ok(diesel::delete(row).execute(db)? > 0)
}
