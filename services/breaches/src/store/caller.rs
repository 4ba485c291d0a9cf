//! Who stands behind a key, with everything that the order of checks asks for, in one statement.

use diesel::dsl::auto_type;
use diesel::prelude::*;
use store::{Db, StoreError};

use super::plan_feature::{FeatureRow, features};
use super::schema::{api_key, plan, plan_feature, subscriber, subscription};
use crate::model::plan::Plan;

/// A key on file and the subscription that pays for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Number of the key; quotas hang on it.
    pub key: i64,
    /// Number of the subscriber.
    pub subscriber: i64,
    /// Plan and end of the subscription; none without one.
    pub subscription: Option<(Plan, i64)>,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// Never issued.
    Unknown,
    /// Revoked, expired, or its owner is gone.
    Dead,
    /// It works.
    Live(Box<Holder>),
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

/// The key with a digest, its subscriber, subscription and plan.
#[auto_type]
fn by_digest<'a>(digest: &'a [u8]) -> _ {
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
        .filter(api_key::digest.eq(digest))
        .select((
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
                plan_feature::description,
            )
                .nullable(),
        ))
}

/// Looks a key up by its digest.
pub fn find(db: &mut Db, digest: &[u8], now: i64) -> Result<Known, StoreError> {
    let row: Option<Row> = by_digest(digest).first(db).optional()?;
    let Some(row) = row else { return Ok(Known::Unknown) };
    let ended = row.revoked_at.is_some() || row.expires_at.is_some_and(|end| end <= now);
    let (false, Some(subscriber)) = (ended, row.subscriber) else { return Ok(Known::Dead) };
    let subscription = match (row.until, row.name, row.per_minute, row.features) {
        (Some(until), Some(name), Some(per_minute), Some(columns)) => {
            let plan = Plan {
                code: columns.plan_code.clone(),
                name,
                per_minute: i32::try_from(per_minute).map_err(StoreError::broken)?,
                features: features(columns)?,
            };
            Some((plan, until))
        }
        _ => None,
    };
    Ok(Known::Live(Box::new(Holder { key: row.key, subscriber, subscription })))
}
