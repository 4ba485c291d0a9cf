//! Issues, rotates, revokes, lists and finds keys in the database.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use crate::key::{hint, new_key};
use crate::plan::offered;
use crate::schema::{api_key, plan};
use crate::turn::take_turn;
use crate::{Key, KeyError, KeyState, Plan, digest, is_well_formed};

type Row = (i64, String, String, i64, Option<i64>, Option<i64>, Option<i64>, Option<Plan>);

fn key((id, owner, hint, created_at, expires_at, revoked_at, last_used_at, plan): Row) -> Key {
    Key { id, owner, plan, hint, created_at, expires_at, revoked_at, last_used_at }
}

/// Selects the columns of a [`Row`]. This is a macro because the return type would be huge.
macro_rules! rows {
    () => {
        api_key::table.left_join(plan::table).select((
            api_key::id,
            api_key::owner,
            api_key::hint,
            api_key::created_at,
            api_key::expires_at,
            api_key::revoked_at,
            api_key::last_used_at,
            plan::all_columns.nullable(),
        ))
    };
}

/// Returns the live key with this digest, or `None` if it is unknown, expired or revoked.
pub(crate) fn find_digest(
    db: &mut Db,
    digest: &[u8],
    now: i64,
) -> Result<Option<Key>, DatabaseError> {
    let row: Option<Row> = rows!().filter(api_key::digest.eq(digest)).first(db).optional()?;
    Ok(row.map(key).filter(|key| key.state(now) == KeyState::Live))
}

/// Creates a key, and also returns it as a string. This is the only chance to show it to its owner.
///
/// # Errors
/// Returns [`KeyError::NoPlan`] and [`KeyError::HiddenPlan`] if the plan doesn't exist or isn't
/// offered.
pub fn issue(
    db: &mut Db,
    owner: &str,
    plan: Option<&str>,
    until: Option<i64>,
    now: i64,
) -> Result<(Key, String), KeyError> {
    let text = new_key()?;
    let key = issue_with_text(db, &text, owner, plan, until, now)?;
    Ok((key, text))
}

/// Creates a key and revokes all of the owner's older keys. Also returns the key as a string, and
/// the number of keys that were revoked.
///
/// If two transactions do this at once for the same owner, the second waits for the first. If the
/// owner has already reached `limit`, nothing is changed.
///
/// # Errors
/// Returns the same errors as [`issue`], or [`KeyError::TooManyKeys`].
pub fn issue_only(
    db: &mut Db,
    owner: &str,
    plan: Option<&str>,
    until: Option<i64>,
    limit: Option<KeyLimit>,
    now: i64,
) -> Result<(Key, String, usize), KeyError> {
    take_turn(db, &format!("owner {owner}"))?;
    if let Some(KeyLimit { most, seconds }) = limit {
        let recent = api_key::table
            .filter(api_key::owner.eq(owner).and(api_key::created_at.gt(now - seconds)))
            .order(api_key::created_at.desc())
            .offset(most.max(1) - 1)
            .limit(1);
        let oldest: Option<i64> = recent.select(api_key::created_at).first(db).optional()?;
        if let Some(oldest) = oldest {
            return Err(KeyError::TooManyKeys { retry_after: oldest + seconds - now });
        }
    }
    let revoked = revoke_owner(db, owner, now)?;
    let (key, text) = issue(db, owner, plan, until, now)?;
    Ok((key, text, revoked))
}

/// How many keys can be issued to an owner within a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLimit {
    /// Maximum number of keys, at least 1.
    pub most: i64,
    /// The period in seconds.
    pub seconds: i64,
}

/// Returns whether `text` is a live key.
///
/// # Errors
/// Returns any database error.
pub fn is_live(db: &mut Db, text: &str, now: i64) -> Result<bool, DatabaseError> {
    Ok(find_digest(db, &digest(text), now)?.is_some())
}

/// Stores a key chosen by the caller, e.g. for the first administrator of a service.
///
/// # Errors
/// Returns the same errors as [`issue`], [`KeyError::Malformed`], or [`DatabaseError::Conflict`] if
/// the key is already stored.
pub fn issue_with_text(
    db: &mut Db,
    text: &str,
    owner: &str,
    plan: Option<&str>,
    until: Option<i64>,
    now: i64,
) -> Result<Key, KeyError> {
    if !is_well_formed(text) {
        return Err(KeyError::Malformed);
    }
    let plan = plan.map(|code| offered(db, code)).transpose()?;
    let id = diesel::insert_into(api_key::table)
        .values((
            api_key::digest.eq(digest(text).to_vec()),
            api_key::hint.eq(hint(text)),
            api_key::owner.eq(owner),
            api_key::plan_code.eq(plan.as_ref().map(|plan| plan.code.clone())),
            api_key::created_at.eq(now),
            api_key::expires_at.eq(until),
        ))
        .returning(api_key::id)
        .get_result(db)?;
    Ok(Key {
        id,
        owner: owner.to_owned(),
        plan,
        hint: hint(text),
        created_at: now,
        expires_at: until,
        revoked_at: None,
        last_used_at: None,
    })
}

/// Replaces a key with a new one that has the same ID, owner, plan, expiry and quota. The old key
/// stops working immediately.
///
/// # Errors
/// Returns [`KeyError::NoKey`] for an unknown key, [`KeyError::Dead`] for a revoked or expired one,
/// and [`KeyError::Changed`] if another transaction renewed or revoked it at the same time.
pub fn rotate(db: &mut Db, id: i64, now: i64) -> Result<(Key, String), KeyError> {
    let old = by_id(db, id)?.ok_or(KeyError::NoKey(id))?;
    if old.state(now) != KeyState::Live {
        return Err(KeyError::Dead(id));
    }
    let digest_before: Vec<u8> =
        api_key::table.find(id).select(api_key::digest).first(db).optional()?.unwrap_or_default();
    let text = new_key()?;
    // PostgreSQL waits for concurrent changes to the row, and then evaluates the filter again.
    let unchanged = api_key::table
        .find(id)
        .filter(api_key::digest.eq(digest_before).and(api_key::revoked_at.is_null()));
    let changed = diesel::update(unchanged)
        .set((
            api_key::digest.eq(digest(&text).to_vec()),
            api_key::hint.eq(hint(&text)),
            api_key::created_at.eq(now),
            api_key::last_used_at.eq(None::<i64>),
        ))
        .execute(db)?;
    if changed == 0 {
        return Err(KeyError::Changed(id));
    }
    let key = Key { hint: hint(&text), created_at: now, last_used_at: None, ..old };
    Ok((key, text))
}

/// Revokes a key immediately. Returns false if it was already revoked.
///
/// # Errors
/// Returns [`KeyError::NoKey`] if the key doesn't exist.
pub fn revoke(db: &mut Db, id: i64, now: i64) -> Result<bool, KeyError> {
    let live = api_key::table.find(id).filter(api_key::revoked_at.is_null());
    if diesel::update(live).set(api_key::revoked_at.eq(now)).execute(db)? > 0 {
        return Ok(true);
    }
    by_id(db, id)?.map(|_| false).ok_or(KeyError::NoKey(id))
}

/// Revokes all keys of an owner immediately, and returns how many of them weren't revoked yet.
///
/// # Errors
/// Returns any database error.
pub fn revoke_owner(db: &mut Db, owner: &str, now: i64) -> Result<usize, DatabaseError> {
    let keys = api_key::table.filter(api_key::owner.eq(owner).and(api_key::revoked_at.is_null()));
    Ok(diesel::update(keys).set(api_key::revoked_at.eq(now)).execute(db)?)
}

/// Lists all keys from oldest to newest, including expired and revoked ones.
///
/// # Errors
/// Returns any database error.
pub fn list_keys(db: &mut Db) -> Result<Vec<Key>, DatabaseError> {
    let rows: Vec<Row> = rows!().order(api_key::id.asc()).load(db)?;
    Ok(rows.into_iter().map(key).collect())
}

/// Makes all other transactions that lock the same key wait until this transaction ends. Take this
/// lock before counting a key's rows in order to add another row.
///
/// # Errors
/// Returns any database error.
pub fn lock_key(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    // SQLite has a single writer anyway. On PostgreSQL, this kind of lock still lets others add
    // rows that refer to the key.
    if let Db::Pg(conn) = db {
        let own = api_key::table.find(id).select(api_key::id);
        own.for_no_key_update().first::<i64>(conn).optional()?;
    }
    Ok(())
}

/// Finds a live key by ID. Returns `None` if the key is unknown, expired or revoked.
///
/// # Errors
/// Returns any database error.
pub fn find_live(db: &mut Db, id: i64, now: i64) -> Result<Option<Key>, DatabaseError> {
    Ok(by_id(db, id)?.filter(|key| key.state(now) == KeyState::Live))
}

fn by_id(db: &mut Db, id: i64) -> Result<Option<Key>, DatabaseError> {
    let row: Option<Row> = rows!().filter(api_key::id.eq(id)).first(db).optional()?;
    Ok(row.map(key))
}
