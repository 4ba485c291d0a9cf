//! Reads an API key with its subscriber, subscription and plan in a single statement.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment};
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;

use super::accounts::AccountRow;
use super::plan_features::{FeatureRow, features};
use super::schema::{account, api_key, mail_domain, plan, plan_feature, subscriber, subscription};
use crate::model::AccountKey;
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
fn by_digest<'a>(digest: &'a [u8]) -> _ {
    holders().filter(api_key::digest.eq(digest)).select(columns())
}

/// Query for a key and its holder by digest, joined with the accounts with key `k`.
#[auto_type]
pub fn with_account<'a>(digest: &'a [u8], k: i64) -> _ {
    holders()
        .left_join(account::table.on(account::k.eq(k)))
        .left_join(
            mail_domain::table.on(mail_domain::id.nullable().eq(account::domain_id.nullable())),
        )
        .filter(api_key::digest.eq(digest))
        .select((
            columns(),
            (account::k, account::seq, account::local, mail_domain::name, account::breaches)
                .nullable(),
        ))
}

/// Looks up an API key by digest.
pub fn find(db: &mut Db, digest: &[u8], now: i64) -> Result<KeyLookup, DatabaseError> {
    let row = on_backend!(db, conn => by_digest(digest).first(conn)).optional()?;
    looked_up(row, now)
}

/// Looks up an API key by digest, along with the accounts with key `k`, in a single round trip. The
/// accounts are `None` if the API key is unknown.
pub fn find_with_account(
    db: &mut Db,
    digest: &[u8],
    k: AccountKey,
    now: i64,
) -> Result<(KeyLookup, Option<Vec<AccountRow>>), DatabaseError> {
    let rows: Vec<(Row, Option<AccountRow>)> =
        on_backend!(db, conn => with_account(digest, k.0).load(conn))?;
    let (mut key, mut accounts) = (None, Vec::new());
    for (row, account) in rows {
        key = Some(row);
        accounts.extend(account);
    }
    let accounts = key.is_some().then_some(accounts);
    Ok((looked_up(key, now)?, accounts))
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

/// Maximum number of keys cached per connection. Installations with more keys should use
/// PostgreSQL.
const MAX: usize = 10_000;

/// Live keys that a SQLite connection has looked up. Cleared whenever another connection changes
/// the database.
///
/// SQLite can report whether any other connection, even in another process, has committed since the
/// last check. So a key that was revoked elsewhere is rejected immediately, without a query for the
/// key on every request.
#[derive(Debug, Default)]
pub struct KnownKeys {
    version: Option<i64>,
    holders: HashMap<[u8; 32], Arc<Holder>>,
}

impl KnownKeys {
    /// Clears the cache if another connection has committed since the last call. Call this at the
    /// start of every read transaction. Returns `true` if the database may have changed.
    pub fn renew(&mut self, db: &mut Db) -> Result<bool, DatabaseError> {
        let version = data_version(db)?;
        let changed = version.is_none() || version != self.version;
        if changed {
            self.holders.clear();
            self.version = version;
        }
        Ok(changed)
    }

    /// Looks up a key by digest, trying the cache first.
    pub fn find(
        &mut self,
        db: &mut Db,
        digest: &[u8; 32],
        now: i64,
    ) -> Result<KeyLookup, DatabaseError> {
        if let Some(holder) = self.holders.get(digest) {
            let ended = holder.expires_at.is_some_and(|end| end <= now);
            return Ok(if ended { KeyLookup::Dead } else { KeyLookup::Live(Arc::clone(holder)) });
        }
        let known = find(db, digest, now)?;
        if let (KeyLookup::Live(holder), Some(_)) = (&known, self.version)
            && self.holders.len() < MAX
        {
            self.holders.insert(*digest, Arc::clone(holder));
        }
        Ok(known)
    }
}

/// `PRAGMA data_version`, prepared only once.
#[derive(Clone, Copy, diesel::query_builder::QueryId)]
struct DataVersion;

impl Query for DataVersion {
    type SqlType = BigInt;
}

impl QueryFragment<Sqlite> for DataVersion {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("PRAGMA data_version");
        Ok(())
    }
}

impl RunQueryDsl<SqliteConnection> for DataVersion {}

/// Returns a number that changes whenever another connection commits. `None` on PostgreSQL, which
/// has no equivalent.
fn data_version(db: &mut Db) -> Result<Option<i64>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => Ok(Some(DataVersion.get_result(conn)?)),
        Db::Pg(_) => Ok(None),
    }
}
