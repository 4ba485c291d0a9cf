//! Finds the alerts that match new files and adds messages to them.

use std::collections::{BTreeMap, HashMap};

use auth::Key;
use database::{DatabaseError, Db};

use super::matcher::{Matcher, Watched};
use crate::app;
use crate::engine::{FileIndex, Limits, Publish};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::write_session::Session;
use crate::model::address::Address;
use crate::model::file_query::{FileQuery, Position, SortKey};
use crate::model::package::{Capability, Package};
use crate::store::alert_messages::{self, MOST_NAMED, NewAlertMessage};
use crate::store::alerts::{self, Alert, AlertVersion, Mark};
use crate::store::buckets::{self, Bucket};
use crate::store::packages;

/// Number of files per step. If the process is killed, at most one step is lost.
const BATCH: usize = 20_000;
/// Maximum number of buckets to keep in memory between steps.
const MOST_KNOWN: usize = 50_000;

/// The new files that match an alert.
#[derive(Default)]
struct Hits {
    count: i64,
    first: Vec<u64>,
}

/// Hits by alert group, and by whether the group's package still hides the files. Only has groups
/// with hits.
type AllHits = HashMap<(usize, bool), Hits>;

/// Hits by alert, and by whether the alert's package still hides the files. The value also has the
/// time after which newly indexed buckets are hidden, if any.
type AlertHits<'h> = BTreeMap<(AlertVersion, bool), (Option<i64>, &'h Hits)>;

/// Compares the files of the last publish with all alerts, unless this has already been done. If
/// this fails, a server or the next load will finish the work.
pub(in crate::jobs) fn judge_or_warn(context: &JobContext, index: &dyn FileIndex, generation: u32) {
    if let Err(error) = judge(context, index, generation, &Limits::none()) {
        log::warn!("new files have not been compared with all alerts yet: {error}");
    }
}

/// Compares the files that a session has just published with all alerts. Releases the write lock
/// first, so that other commands can write in the meantime.
pub(in crate::jobs) fn judge_published(session: Session) {
    let Session { context, index, generation, writer, lock, .. } = session;
    drop((writer, lock));
    match index.refresh() {
        Ok(_) => judge_or_warn(&context, &*index, generation),
        Err(error) => log::warn!("new files have not been compared with alerts yet: {error}"),
    }
}

/// Compares the files of the last publish with all alerts, unless this has already been done.
///
/// Every step adds its files to the alerts' messages and records its progress in the same
/// transaction, and the last step releases the messages. An alert therefore gets one message per
/// run, no matter which processes compare the files or when they are killed.
pub(super) fn judge(
    context: &JobContext,
    index: &dyn FileIndex,
    generation: u32,
    limits: &Limits,
) -> Result<(), JobError> {
    loop {
        let summary = index.summary();
        let Some(published) = &summary.journal.published else { return Ok(()) };
        let end = summary.journal.published_id() as i64;
        let (from, all) = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            Ok((alerts::judged(db)?, alerts::with_webhooks(db)?))
        })?;
        // A server might still be searching the generation from before a rebuild.
        if from.generation != i64::from(generation) || from.id >= end {
            return Ok(());
        }
        let comparison = Comparison::prepare(context, all, from, published.at)?;
        compare(context, index, comparison, published, (from, end), limits)?;
    }
}

/// Compares files in steps, up to and including id `end`. Stops early if another process has
/// already got further.
fn compare(
    context: &JobContext,
    index: &dyn FileIndex,
    mut comparison: Comparison,
    published: &Publish,
    (mut at, end): (Mark, i64),
    limits: &Limits,
) -> Result<(), JobError> {
    while at.id < end {
        limits.check()?;
        let (next, hits) = comparison.step(context, index, (at.id, end), limits)?;
        let next = Mark { id: next, ..at };
        let now = context.clock.unix();
        let stored = context.pools.write_blocking(|db| -> Result<bool, DatabaseError> {
            if !alerts::advance(db, at, next)? {
                return Ok(false);
            }
            add_hits(db, published, (at, next.id), &comparison.by_alert(&hits))?;
            if next.id == end {
                alert_messages::release(db, published.run as i64, now)?;
            }
            Ok(true)
        })?;
        if !stored {
            return Ok(());
        }
        at = next;
    }
    Ok(())
}

/// Adds the hits among the files after `after` and up to id `last` to a run's messages.
fn add_hits(
    db: &mut Db,
    published: &Publish,
    (after, last): (Mark, i64),
    hits: &AlertHits<'_>,
) -> Result<(), DatabaseError> {
    // An alert might have been saved in the old generation just before a rebuild switched to the
    // current one.
    alerts::move_to(db, after)?;
    // Alerts that were removed or changed in the meantime don't get messages.
    let mut matched: Vec<AlertVersion> = hits.keys().map(|(version, _)| *version).collect();
    matched.dedup();
    let present = alerts::keep(db, &matched)?;
    let parts = present.iter().flat_map(|version| [(*version, false), (*version, true)]);
    let messages = parts.filter_map(|part| {
        let (shown_until, hits) = hits.get(&part)?;
        let ((alert_id, _), is_delayed) = part;
        Some(NewAlertMessage {
            alert_id,
            run_id: published.run as i64,
            generation: after.generation,
            after_id: after.id,
            last_id: last,
            is_delayed,
            shown_until: *shown_until,
            count: hits.count,
            files: alert_messages::ids_text(&hits.first),
            published_at: published.at,
        })
    });
    alert_messages::add(db, published.run as i64, messages.collect())
}

/// The alerts, prepared for comparison with files.
struct Comparison {
    matcher: Matcher,
    /// The alerts in each group, by the group's index in the matcher. Alerts with the same search
    /// and equal packages form a group, so they are only compared once.
    groups: Vec<Vec<AlertVersion>>,
    /// For each group, the time after which newly indexed buckets are hidden. `None` if the group's
    /// package has no delay.
    shown_until: Vec<Option<i64>>,
    /// Unix time of the publish.
    published_at: i64,
    buckets: HashMap<u64, Bucket>,
}

impl Comparison {
    /// Prepares the alerts of all keys that are valid and whose package includes alerts.
    fn prepare(
        context: &JobContext,
        all: Vec<Alert>,
        from: Mark,
        published_at: i64,
    ) -> Result<Self, JobError> {
        let now = context.clock.unix();
        let (mut matcher, mut groups) = (Matcher::default(), Vec::<Vec<AlertVersion>>::new());
        let mut shown_until = Vec::new();
        let mut known: HashMap<(String, usize, i64), usize> = HashMap::new();
        let mut packages: Vec<Package> = Vec::new();
        let mut keys: HashMap<i64, Option<usize>> = HashMap::new();
        context.pools.read_blocking(|db| -> Result<(), DatabaseError> {
            for alert in all {
                let package = match keys.get(&alert.key_id) {
                    Some(known) => *known,
                    None => {
                        let found = auth::find_live(db, alert.key_id, now)?;
                        let found = found.map(|key| package_of(db, &key)).transpose()?;
                        let number = found.map(|package| number_of(&mut packages, package));
                        keys.insert(alert.key_id, number);
                        number
                    }
                };
                let Some(package) = package else { continue };
                let is_same = alert.since_generation == from.generation;
                let after = if is_same { alert.since_id.max(from.id) } else { from.id };
                let version = alert.version();
                let search = (alert.query, package, after);
                if let Some(group) = known.get(&search) {
                    groups[*group].push(version);
                    continue;
                }
                let Ok(saved) = app::saved_search(&search.0) else { continue };
                let allows = |need: &Capability| packages[package].allows(*need);
                let needs = saved.needs.iter().map(|(_, need)| need).chain([&Capability::Alerts]);
                if !needs.into_iter().all(allows) {
                    continue;
                }
                let mut query = saved.query;
                if !saved.echo.buckets.is_empty() {
                    query.buckets = Some(bucket_ids(db, &saved.echo.buckets)?);
                }
                query.excluded_buckets = bucket_ids(db, &saved.echo.excluded_buckets)?;
                // We only save alerts that have a lookup key. An alert without a key would never
                // match.
                matcher.add(Watched { query, after: after as u64 });
                shown_until.push(packages[package].hidden_since(published_at));
                known.insert(search, groups.len());
                groups.push(vec![version]);
            }
            Ok(())
        })?;
        Ok(Self { matcher, groups, shown_until, published_at, buckets: HashMap::new() })
    }

    /// Assigns each group's hits to its alerts.
    fn by_alert<'h>(&self, hits: &'h AllHits) -> AlertHits<'h> {
        let of_group = |(&(group, is_delayed), hits): (&(usize, bool), &'h Hits)| {
            let hits = (self.shown_until[group], hits);
            let versions = self.groups[group].iter();
            versions.map(|version| ((*version, is_delayed), hits)).collect::<Vec<_>>()
        };
        hits.iter().flat_map(of_group).collect()
    }

    /// Compares the next batch of files after `after`, up to and including id `end`. Returns the
    /// hits and the last id that was compared, which is `end` if there are no more files.
    fn step(
        &mut self,
        context: &JobContext,
        index: &dyn FileIndex,
        (after, end): (i64, i64),
        limits: &Limits,
    ) -> Result<(i64, AllHits), JobError> {
        let mut hits = AllHits::new();
        if self.groups.is_empty() {
            return Ok((end, hits));
        }
        let query = FileQuery {
            position: Position::After(SortKey { value: 0, id: after as u64 }),
            limit: BATCH,
            ..FileQuery::default()
        };
        let mut found = index.search(&query, limits)?;
        // The index might be newer than the summary we started from.
        found.rows.retain(|row| row.id <= end as u64);
        let next = found.next.map_or(end, |next| end.min(next.id as i64));
        let takedowns = context.pools.read_blocking(app::pending_takedowns)?;
        self.learn_buckets(context, found.rows.iter().map(|row| row.bucket).collect())?;
        let (mut rows, mut first_indexed) = (Vec::new(), Vec::new());
        for row in &found.rows {
            let Some(bucket) = self.buckets.get(&row.bucket) else { continue };
            if bucket.hidden_at.is_some() || takedowns.hides(row.bucket, &row.path) {
                continue;
            }
            rows.push((row, bucket.kind.code()));
            first_indexed.push(bucket.first_indexed.unwrap_or(self.published_at));
        }
        let shown_until = &self.shown_until;
        self.matcher.matching(&rows, limits, |entry, place| {
            let first_indexed = first_indexed[place];
            let is_delayed = shown_until[entry].is_some_and(|until| first_indexed > until);
            let hits = hits.entry((entry, is_delayed)).or_default();
            hits.count += 1;
            if hits.first.len() < MOST_NAMED {
                hits.first.push(rows[place].0.id);
            }
        })?;
        Ok((next, hits))
    }

    /// Loads any buckets we haven't seen yet.
    fn learn_buckets(&mut self, context: &JobContext, mut ids: Vec<u64>) -> Result<(), JobError> {
        if self.buckets.len() > MOST_KNOWN {
            self.buckets.clear();
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| !self.buckets.contains_key(id));
        let found = context.pools.read_blocking(|db| buckets::by_ids(db, &ids))?;
        self.buckets.extend(found.into_iter().map(|bucket| (bucket.id, bucket)));
        Ok(())
    }
}

/// Returns the index of `package` in `packages`, adding it first if necessary.
fn number_of(packages: &mut Vec<Package>, package: Package) -> usize {
    packages.iter().position(|known| *known == package).unwrap_or_else(|| {
        packages.push(package);
        packages.len() - 1
    })
}

fn package_of(db: &mut Db, key: &Key) -> Result<Package, DatabaseError> {
    packages::of_plan(db, key.plan.as_ref().map_or("free", |plan| plan.code.as_str()))
}

/// Resolves the items of a bucket filter to sorted ids. Unknown items are ignored.
fn bucket_ids(db: &mut Db, parts: &[String]) -> Result<Vec<u64>, DatabaseError> {
    let mut ids = Vec::new();
    for part in parts {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            ids.extend(part.parse::<u64>());
        } else if let Ok(address) = Address::parse(part) {
            ids.extend(buckets::by_address(db, address.as_str())?.map(|bucket| bucket.id));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_packages_of_different_keys_have_one_number() {
        let [free, premium, _] = Package::seeds();
        let mut packages = Vec::new();
        let numbers = [&free, &premium, &free, &premium]
            .map(|package| number_of(&mut packages, package.clone()));
        assert_eq!((numbers, packages.len()), ([0, 1, 0, 1], 2));
    }
}
