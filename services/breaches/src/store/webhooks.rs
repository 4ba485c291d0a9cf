//! Subscribers' webhooks.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::webhook;

/// A webhook. Its secret is stored in plain text because it's needed to sign every message.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = webhook)]
pub struct Webhook {
    pub id: i64,
    /// Target URL of its messages.
    pub url: String,
    /// Signing key.
    pub secret: String,
    /// Disabled webhooks don't receive messages.
    pub enabled: bool,
    /// Creation time in Unix seconds.
    pub created_at: i64,
}

/// Lists a subscriber's webhooks, oldest first.
pub fn of_subscriber(db: &mut Db, id: i64) -> Result<Vec<Webhook>, DatabaseError> {
    Ok(webhook::table
        .filter(webhook::subscriber_id.eq(id))
        .order(webhook::id)
        .select(Webhook::as_select())
        .load(db)?)
}

/// Looks up one of a subscriber's webhooks, provided it's enabled.
pub fn enabled(db: &mut Db, id: i64, subscriber: i64) -> Result<Option<Webhook>, DatabaseError> {
    Ok(webhook::table
        .find(id)
        .filter(webhook::subscriber_id.eq(subscriber))
        .filter(webhook::enabled.eq(true))
        .select(Webhook::as_select())
        .first(db)
        .optional()?)
}

/// Adds a webhook. Fails with [`DatabaseError::Conflict`] if the subscriber already has this URL.
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

/// Deletes a webhook and its pending messages. Returns `false` if it didn't exist.
pub fn remove(db: &mut Db, id: i64, url: &str) -> Result<bool, DatabaseError> {
    let row = webhook::table.filter(webhook::subscriber_id.eq(id)).filter(webhook::url.eq(url));
    Ok(diesel::delete(row).execute(db)? > 0)
}
