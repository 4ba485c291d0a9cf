//! Claims that processes make on crawls: taking, renewing and releasing the lease.

use std::collections::HashMap;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::crawl_turns::{self, KeyCrawl};
use super::crawls::{Crawl, LONGEST_PAUSE, by_id};
use super::schema::crawl;

/// A process that wants to claim a crawl, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Random name of the process.
    pub holder: &'a str,
    /// Current Unix time.
    pub now: i64,
    /// Only claim crawls that are due by this Unix time. Ignored when claiming a crawl by id.
    pub due_by: i64,
    /// Unix time at which the lease expires.
    pub until: i64,
}

/// Claims a due crawl that isn't in `except`. Returns `None` if there isn't one. Picks the key
/// whose crawls ran least recently (the operator counts as a key), and then that key's
/// longest-waiting crawl. If several processes call this, each gets a different crawl.
pub fn claim_due(
    db: &mut Db,
    claim: Claim<'_>,
    except: &[i64],
) -> Result<Option<Crawl>, DatabaseError> {
    let Claim { now, due_by, .. } = claim;
    let mut due = due_crawls(db, due_by, now)?;
    if due.is_empty() {
        return Ok(None);
    }
    let last = last_runs(db, now)?;
    // A postponed crawl comes after crawls that became due in the meantime, unless its pages would
    // become outdated.
    due.sort_unstable_by_key(|crawl| {
        let is_late = crawl.pages > 0 && crawl.last_at <= Some(now - LONGEST_PAUSE / 2);
        let last = last.get(&crawl.key_id).copied().unwrap_or(0);
        (last, !is_late, crawl.due_at.max(crawl.not_before), crawl.id)
    });
    for DueCrawl { id, .. } in due.into_iter().filter(|crawl| !except.contains(&crawl.id)) {
        if let Some(claimed) = claim_one(db, id, claim)? {
            return Ok(Some(claimed));
        }
    }
    Ok(None)
}

/// A crawl that is due.
#[derive(Queryable)]
struct DueCrawl {
    key_id: Option<i64>,
    due_at: i64,
    not_before: i64,
    id: i64,
    pages: i64,
    last_at: Option<i64>,
}

/// Returns the crawls that are due by `due_by` and that no process has claimed.
fn due_crawls(db: &mut Db, due_by: i64, now: i64) -> Result<Vec<DueCrawl>, DatabaseError> {
    Ok(crawl::table
        .filter(diesel::dsl::not(crawl::paused))
        .filter(crawl::ends_at.is_null().or(crawl::ends_at.gt(now)))
        .filter(crawl::due_at.le(due_by).and(crawl::not_before.le(now)))
        .filter(crawl::holder.is_null().or(crawl::lease_until.le(now)))
        .select((
            crawl::key_id,
            crawl::due_at,
            crawl::not_before,
            crawl::id,
            crawl::pages,
            crawl::last_at,
        ))
        .load(db)?)
}

/// Returns `true` if a crawl is due that no process has claimed.
pub fn is_due(db: &mut Db, now: i64) -> Result<bool, DatabaseError> {
    Ok(!due_crawls(db, now, now)?.is_empty())
}

/// Returns when each key's crawls last ran, including crawls that have been removed. `None` is the
/// operator.
fn last_runs(db: &mut Db, now: i64) -> Result<HashMap<Option<i64>, i64>, DatabaseError> {
    let last: Vec<(Option<i64>, Option<i64>)> = crawl::table
        .group_by(crawl::key_id)
        .select((crawl::key_id, diesel::dsl::max(crawl::last_at)))
        .load(db)?;
    let mut last: HashMap<Option<i64>, i64> =
        last.into_iter().map(|(key, at)| (key, at.unwrap_or(0))).collect();
    for (key, at) in crawl_turns::last_of_keys(db)? {
        let known = last.entry(Some(key)).or_default();
        *known = at.unwrap_or(0).max(*known);
    }
    let running = crawl::table
        .filter(crawl::holder.is_not_null().and(crawl::lease_until.gt(now)))
        .select(crawl::key_id);
    last.extend(running.load::<Option<i64>>(db)?.into_iter().map(|key| (key, now)));
    Ok(last)
}

/// Claims a crawl, due or not. Returns `None` if it doesn't exist or another process is listing it.
pub fn claim_one(
    db: &mut Db,
    id: i64,
    Claim { holder, now, until, .. }: Claim<'_>,
) -> Result<Option<Crawl>, DatabaseError> {
    let free = crawl::table.find(id).filter(crawl::holder.is_null().or(crawl::lease_until.le(now)));
    let claimed = diesel::update(free)
        .set((crawl::holder.eq(holder), crawl::lease_until.eq(until)))
        .execute(db)?;
    if claimed == 0 {
        return Ok(None);
    }
    let found = by_id(db, id)?;
    if let Some(Crawl { bucket, prefix, key_id: Some(key), .. }) = &found {
        crawl_turns::note(db, KeyCrawl { key: *key, bucket, prefix }, now)?;
    }
    Ok(found)
}

/// A crawl and the process that has claimed it. Updates have no effect if the crawl was removed or
/// taken over by another process.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    pub id: i64,
    /// Random name of the process that has the lease.
    pub holder: &'a str,
}

/// Updates a claimed crawl. Returns `false` if this process no longer has it. It's a macro because
/// a function's Diesel types would get too long.
macro_rules! update_held {
    ($db:expr, $held:expr, $changes:expr) => {{
        let Held { id, holder } = $held;
        let own = crawl::table.find(id).filter(crawl::holder.eq(holder));
        let changed = diesel::update(own).set($changes).execute($db)?;
        Ok::<bool, DatabaseError>(changed > 0)
    }};
}

pub(super) use update_held;

/// Renews the lease.
pub fn renew(db: &mut Db, held: Held<'_>, until: i64) -> Result<bool, DatabaseError> {
    update_held!(db, held, crawl::lease_until.eq(until))
}

/// Returns `true` if the process still has the crawl.
pub fn is_held(db: &mut Db, Held { id, holder }: Held<'_>) -> Result<bool, DatabaseError> {
    let own = crawl::table.find(id).filter(crawl::holder.eq(holder));
    let found: Option<i64> = own.select(crawl::id).first(db).optional()?;
    Ok(found.is_some())
}

/// Gives up the lease. Returns `false` if another process has it.
pub fn release(db: &mut Db, held: Held<'_>) -> Result<bool, DatabaseError> {
    update_held!(db, held, crawl::holder.eq(None::<String>))
}
