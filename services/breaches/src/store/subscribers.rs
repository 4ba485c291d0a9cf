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
    /// When the subscription began, in Unix seconds.
    pub started_at: i64,
    /// When the subscription ends, in Unix seconds.
    pub until: i64,
}

/// Returns the id of a subscriber.
pub fn id(db: &mut Db, email: &EmailAddress) -> Result<Option<i64>, DatabaseError> {
    Ok(subscriber::table
        .filter(subscriber::email.eq(email.as_str()))
        .select(subscriber::id)
        .first(db)
        .optional()?)
}

/// Returns the address of a subscriber.
pub fn email(db: &mut Db, id: i64) -> Result<String, DatabaseError> {
    Ok(subscriber::table.find(id).select(subscriber::email).first(db)?)
}

/// Adds a subscriber. Returns [`DatabaseError::Conflict`] if the address already exists.
pub fn add(db: &mut Db, email: &EmailAddress, now: i64) -> Result<i64, DatabaseError> {
    add_if_missing(db, email, now)?.ok_or(DatabaseError::Conflict)
}

/// Adds a subscriber and returns the id, or `None` if the address already exists. If two
/// transactions race, exactly one adds it.
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

/// Returns the id of a subscriber, adding the subscriber if necessary. If two requests race, both
/// get the same id.
pub fn ensure(db: &mut Db, email: &EmailAddress, now: i64) -> Result<i64, DatabaseError> {
    match add_if_missing(db, email, now)? {
        Some(id) => Ok(id),
        None => id(db, email)?.ok_or(DatabaseError::NotFound),
    }
}

/// Marks the address of a subscriber as confirmed, once.
pub fn confirm(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let row = subscriber::table.filter(subscriber::id.eq(id));
    diesel::update(row.filter(subscriber::confirmed_at.is_null()))
        .set(subscriber::confirmed_at.eq(now))
        .execute(db)?;
    Ok(())
}

/// Returns whether a subscriber gets notices.
pub fn notifies(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(subscriber::table.find(id).select(subscriber::notify).first(db)?)
}

/// The columns of a subscriber that are needed for notices.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Listener {
    /// The address to which mails are sent.
    pub email: String,
    /// Whether notices about the subscriber's own address are wanted.
    pub notify: bool,
}

/// Returns the recipient of a notice, if the subscriber still exists.
pub fn listening(db: &mut Db, id: i64) -> Result<Option<Listener>, DatabaseError> {
    Ok(subscriber::table
        .find(id)
        .select((subscriber::email, subscriber::notify))
        .first(db)
        .optional()?)
}

/// Returns whether a subscriber consists only of an address: there is no subscription, domain,
/// webhook or key, and there never was one.
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

/// Removes a subscriber together with sessions, mail links and messages.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(subscriber::table.find(id)).execute(db)?;
    Ok(())
}

/// Turns notices of a subscriber on or off.
pub fn set_notify(db: &mut Db, id: i64, notify: bool) -> Result<(), DatabaseError> {
    diesel::update(subscriber::table.find(id)).set(subscriber::notify.eq(notify)).execute(db)?;
    Ok(())
}

/// Returns the addresses of all subscribers.
pub fn emails(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    Ok(subscriber::table.order(subscriber::id).select(subscriber::email).load(db)?)
}

/// Returns the subscription of a subscriber.
pub fn subscription_of(db: &mut Db, id: i64) -> Result<Option<Subscription>, DatabaseError> {
    Ok(subscription::table
        .filter(subscription::subscriber_id.eq(id))
        .select((subscription::plan_code, subscription::started_at, subscription::until))
        .first(db)
        .optional()?)
}

/// Returns whether a subscriber had a subscription that has ended.
pub fn has_ended(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    let own = subscription::table.filter(subscription::subscriber_id.eq(id));
    Ok(diesel::select(exists(own.filter(subscription::until.le(now)))).get_result(db)?)
}

/// Starts or renews a subscription. This fixes the counts of the subscriber's domains for the
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

/// Ends a subscription immediately.
pub fn end(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let rows = subscription::table.filter(subscription::subscriber_id.eq(id));
    match diesel::update(rows).set(subscription::until.eq(now)).execute(db)? {
        0 => Err(DatabaseError::NotFound),
        _ => Ok(()),
    }
}
