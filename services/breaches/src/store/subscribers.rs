//! Subscribers and their subscriptions.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::exists;
use diesel::prelude::*;
use domain::EmailAddress;

use super::schema::{api_key, domain_control, subscriber, subscription, webhook};
use crate::model::AccountKey;

#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Subscription {
    pub plan_code: String,
    /// Start time in Unix seconds.
    pub started_at: i64,
    /// End time in Unix seconds.
    pub until: i64,
}

/// Looks up a subscriber's id.
pub fn id(db: &mut Db, email: &EmailAddress) -> Result<Option<i64>, DatabaseError> {
    Ok(subscriber::table
        .filter(subscriber::email.eq(email.as_str()))
        .select(subscriber::id)
        .first(db)
        .optional()?)
}

/// Looks up a subscriber's address.
pub fn email(db: &mut Db, id: i64) -> Result<String, DatabaseError> {
    Ok(subscriber::table.find(id).select(subscriber::email).first(db)?)
}

/// Adds a subscriber. Fails with [`DatabaseError::Conflict`] if the address already exists.
pub fn add(db: &mut Db, email: &EmailAddress, now: i64) -> Result<i64, DatabaseError> {
    add_if_missing(db, email, now)?.ok_or(DatabaseError::Conflict)
}

/// Adds a subscriber and returns their id, or `None` if the address already exists. If two
/// transactions race, only one adds it.
pub fn add_if_missing(
    db: &mut Db,
    email: &EmailAddress,
    now: i64,
) -> Result<Option<i64>, DatabaseError> {
    let row = (
        subscriber::email.eq(email.as_str()),
        subscriber::k.eq(AccountKey::of(&email.sha1()).0),
        subscriber::created_at.eq(now),
        subscriber::notify.eq(false),
    );
    let added = on_backend!(db, conn => diesel::insert_into(subscriber::table)
        .values(row)
        .on_conflict_do_nothing()
        .returning(subscriber::id)
        .get_result(conn)
        .optional())?;
    Ok(added)
}

/// Returns a subscriber's id, adding the subscriber if necessary. If two requests race, both get
/// the same id.
pub fn ensure(db: &mut Db, email: &EmailAddress, now: i64) -> Result<i64, DatabaseError> {
    match add_if_missing(db, email, now)? {
        Some(id) => Ok(id),
        None => id(db, email)?.ok_or(DatabaseError::NotFound),
    }
}

/// Marks a subscriber's address as confirmed, unless it already is.
pub fn confirm(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let row = subscriber::table.filter(subscriber::id.eq(id));
    diesel::update(row.filter(subscriber::confirmed_at.is_null()))
        .set(subscriber::confirmed_at.eq(now))
        .execute(db)?;
    Ok(())
}

/// Returns `true` if the subscriber's notices are on.
pub fn notifies(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(subscriber::table.find(id).select(subscriber::notify).first(db)?)
}

/// Details of a subscriber needed for sending a notice.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Listener {
    /// Email address.
    pub email: String,
    /// Whether notices about their own address are on.
    pub notify: bool,
}

/// Looks up the recipient of a notice. Returns `None` if the subscriber is gone.
pub fn listening(db: &mut Db, id: i64) -> Result<Option<Listener>, DatabaseError> {
    Ok(subscriber::table
        .find(id)
        .select((subscriber::email, subscriber::notify))
        .first(db)
        .optional()?)
}

/// Returns `true` if a subscriber has nothing but an address: no domains or webhooks, and no
/// subscription or key, not even an expired one.
pub fn is_bare(db: &mut Db, id: i64, email: &str) -> Result<bool, DatabaseError> {
    let keys = api_key::table.filter(api_key::owner.eq(email));
    let paid = subscription::table.filter(subscription::subscriber_id.eq(id));
    let domains = domain_control::table.filter(domain_control::subscriber_id.eq(id));
    let webhooks = webhook::table.filter(webhook::subscriber_id.eq(id));
    Ok(!diesel::select(exists(paid)).get_result::<bool>(db)?
        && !diesel::select(exists(keys)).get_result::<bool>(db)?
        && !diesel::select(exists(domains)).get_result::<bool>(db)?
        && !diesel::select(exists(webhooks)).get_result::<bool>(db)?)
}

/// Deletes a subscriber along with their sessions, email links and messages.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(subscriber::table.find(id)).execute(db)?;
    Ok(())
}

/// Turns a subscriber's notices on or off.
pub fn set_notify(db: &mut Db, id: i64, notify: bool) -> Result<(), DatabaseError> {
    diesel::update(subscriber::table.find(id)).set(subscriber::notify.eq(notify)).execute(db)?;
    Ok(())
}

/// Lists the addresses of all subscribers.
pub fn emails(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    Ok(subscriber::table.order(subscriber::id).select(subscriber::email).load(db)?)
}

/// Looks up a subscriber's subscription.
pub fn subscription_of(db: &mut Db, id: i64) -> Result<Option<Subscription>, DatabaseError> {
    Ok(subscription::table
        .filter(subscription::subscriber_id.eq(id))
        .select((subscription::plan_code, subscription::started_at, subscription::until))
        .first(db)
        .optional()?)
}

/// True if the subscriber had a subscription and it has ended.
pub fn has_ended(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    let own = subscription::table.filter(subscription::subscriber_id.eq(id));
    Ok(diesel::select(exists(own.filter(subscription::until.le(now)))).get_result(db)?)
}

/// Starts or renews a subscription, and locks in the counts of the subscriber's domains for that
/// period.
pub fn subscribe(
    db: &mut Db,
    id: i64,
    plan: &str,
    until: i64,
    now: i64,
) -> Result<(), DatabaseError> {
    let new = (
        subscription::subscriber_id.eq(id),
        subscription::plan_code.eq(plan),
        subscription::started_at.eq(now),
        subscription::until.eq(until),
        subscription::renewed_at.eq(now),
    );
    let renewed = (
        subscription::plan_code.eq(plan),
        subscription::until.eq(until),
        subscription::renewed_at.eq(now),
    );
    on_backend!(db, conn => diesel::insert_into(subscription::table)
        .values(new)
        .on_conflict(subscription::subscriber_id)
        .do_update()
        .set(renewed)
        .execute(conn))?;
    let domains = domain_control::table.filter(domain_control::subscriber_id.eq(id));
    diesel::update(domains)
        .set(domain_control::pwn_count_no_spam_at_renewal.eq(domain_control::pwn_count_no_spam))
        .execute(db)?;
    Ok(())
}

/// Ends a subscription immediately. Fails with [`DatabaseError::NotFound`] if there is none or if it
/// has already ended, so that its end doesn't change.
pub fn end(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let own = subscription::table.filter(subscription::subscriber_id.eq(id));
    let running = own.filter(subscription::until.gt(now));
    match diesel::update(running).set(subscription::until.eq(now)).execute(db)? {
        0 => Err(DatabaseError::NotFound),
        _ => Ok(()),
    }
}
