//! Webhooks of subscribers.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::webhook;

/// A webhook. Its secret is stored in plain text because it signs every message.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = webhook)]
pub struct Webhook {
    /// Number.
    pub id: i64,
    /// The URL that receives messages.
    pub url: String,
    /// The key of the signatures.
    pub secret: String,
    /// True if it is called.
    pub enabled: bool,
    /// When it was added.
    pub created_at: i64,
}

/// The webhooks of a subscriber, oldest first.
pub fn of_subscriber(db: &mut Db, id: i64) -> Result<Vec<Webhook>, DatabaseError> {
    Ok(webhook::table
        .filter(webhook::subscriber_id.eq(id))
        .order(webhook::id)
        .select(Webhook::as_select())
        .load(db)?)
}

/// An enabled webhook of a subscriber by its number.
pub fn enabled(db: &mut Db, id: i64, subscriber: i64) -> Result<Option<Webhook>, DatabaseError> {
    Ok(webhook::table
        .find(id)
        .filter(webhook::subscriber_id.eq(subscriber))
        .filter(webhook::enabled.eq(true))
        .select(Webhook::as_select())
        .first(db)
        .optional()?)
}

/// Adds a webhook. Returns [`DatabaseError::Conflict`] if the subscriber has one with this URL.
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

/// Removes a webhook with its pending messages. Returns whether it existed.
pub fn remove(db: &mut Db, id: i64, url: &str) -> Result<bool, DatabaseError> {
    let row = webhook::table.filter(webhook::subscriber_id.eq(id)).filter(webhook::url.eq(url));
    Ok(diesel::delete(row).execute(db)? > 0)
}
