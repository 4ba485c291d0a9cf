//! Reads an API key with its subscriber, subscription and plan in a single statement.

use std::sync::Arc;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::auto_type;
use diesel::prelude::*;

use super::plan_features::{FeatureRow, features};
use super::schema::{api_key, plan, plan_feature, subscriber, subscription};
use crate::model::plan::Plan;

/// An API key and the subscription that pays for its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// API key id.
    pub key: i64,
    /// Unix time at which the key expires.
    pub expires_at: Option<i64>,
    /// Subscriber id. Quotas belong to the subscriber, so a new key doesn't refill them.
    pub subscriber: i64,
    /// Plan and end of the subscription, if any.
    pub subscription: Option<(Arc<Plan>, i64)>,
}

impl auth::Holder for Holder {
    fn plan(&self) -> Option<&str> {
        let (plan, _) = self.subscription.as_ref()?;
        Some(&plan.code)
    }
}

/// Outcome of a key lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyLookup {
    /// The key was never issued.
    Unknown,
    /// Revoked, expired or orphaned.
    Dead,
    Live(Arc<Holder>),
}

#[derive(Queryable)]
struct Row {
    key: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    subscriber: Option<i64>,
    until: Option<i64>,
    name: Option<String>,
    per_minute: Option<i64>,
    features: Option<FeatureRow>,
}

/// API keys joined with subscriber, subscription and plan.
#[auto_type]
fn holders() -> _ {
    api_key::table
        .left_join(subscriber::table.on(subscriber::email.eq(api_key::owner)))
        .left_join(
            subscription::table
                .on(subscription::subscriber_id.nullable().eq(subscriber::id.nullable())),
        )
        .left_join(plan::table.on(plan::code.nullable().eq(subscription::plan_code.nullable())))
        .left_join(
            plan_feature::table
                .on(plan_feature::plan_code.nullable().eq(subscription::plan_code.nullable())),
        )
}

/// Columns of [`Row`].
#[auto_type]
fn columns() -> _ {
    (
        api_key::id,
        api_key::expires_at,
        api_key::revoked_at,
        subscriber::id.nullable(),
        subscription::until.nullable(),
        plan::name.nullable(),
        plan::per_minute.nullable(),
        (
            plan_feature::plan_code,
            plan_feature::family,
            plan_feature::kanon_cost,
            plan_feature::max_domain_size,
            plan_feature::max_domains,
            plan_feature::stealer_logs,
            plan_feature::bulk_domain_add,
            plan_feature::auto_subdomain,
            plan_feature::customer_domains,
            plan_feature::kanon,
            plan_feature::bulk_check,
            plan_feature::description,
        )
            .nullable(),
    )
}

/// Query for a key and its holder by digest.
#[auto_type]
pub fn by_digest<'a>(digest: &'a [u8]) -> _ {
    holders().filter(api_key::digest.eq(digest)).select(columns())
}

/// Looks up an API key by digest.
pub fn find(db: &mut Db, digest: &[u8], now: i64) -> Result<KeyLookup, DatabaseError> {
    let row = on_backend!(db, conn => by_digest(digest).first(conn)).optional()?;
    looked_up(row, now)
}

fn looked_up(row: Option<Row>, now: i64) -> Result<KeyLookup, DatabaseError> {
    let Some(row) = row else { return Ok(KeyLookup::Unknown) };
    let ended = row.revoked_at.is_some() || row.expires_at.is_some_and(|end| end <= now);
    let (false, Some(subscriber)) = (ended, row.subscriber) else { return Ok(KeyLookup::Dead) };
    let subscription = match (row.until, row.name, row.per_minute, row.features) {
        (Some(until), Some(name), Some(per_minute), Some(columns)) => {
            let plan = Plan {
                code: columns.plan_code.clone(),
                name,
                per_minute: i32::try_from(per_minute).unwrap_or(i32::MAX),
                features: features(columns)?,
            };
            Some((Arc::new(plan), until))
        }
        _ => None,
    };
    let expires_at = row.expires_at;
    Ok(KeyLookup::Live(Arc::new(Holder { key: row.key, expires_at, subscriber, subscription })))
}

#[derive(Queryable)]
struct OwnedKey {
    id: i64,
    hint: String,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
}

/// Query for an owner's keys.
#[auto_type]
pub fn by_owner<'a>(owner: &'a str) -> _ {
    api_key::table.filter(api_key::owner.eq(owner)).select((
        api_key::id,
        api_key::hint,
        api_key::created_at,
        api_key::expires_at,
        api_key::revoked_at,
    ))
}

/// Returns the hint and creation time of an owner's live key, if any.
pub fn live(db: &mut Db, owner: &str, now: i64) -> Result<Option<(String, i64)>, DatabaseError> {
    let keys: Vec<OwnedKey> = on_backend!(db, conn => by_owner(owner).load(conn))?;
    let live = keys
        .into_iter()
        .filter(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|end| end > now));
    Ok(live.max_by_key(|key| key.id).map(|key| (key.hint, key.created_at)))
}
