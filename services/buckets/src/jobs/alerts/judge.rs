//! Adds messages for the alerts that the files of a run match.

use std::collections::{BTreeMap, HashMap};

use auth::Key;
use database::{DatabaseError, Db};

use super::matcher::{Matcher, Watched};
use crate::app;
use crate::engine::{FileIndex, Limits};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::model::address::Address;
use crate::model::file_query::{FileQuery, Position, SortKey};
use crate::model::package::{Capability, Package};
use crate::store::alert_messages::{self, NewAlertMessage};
use crate::store::alerts::{self, Alert, Mark};
use crate::store::buckets::{self, Bucket};
use crate::store::packages;

/// Files that are read at a time.
const BATCH: usize = 20_000;
/// Files that a message names.
const MOST_NAMED: usize = 100;

/// The matching files of an alert.
#[derive(Default)]
struct Hits {
    count: i64,
    first: Vec<u64>,
}

/// Compares the files of the last publish with the alerts, unless that was done. Adds a message for
/// each alert that has new files, in the transaction that records the comparison, so each run gives
/// an alert one message whichever process compares it.
pub(in crate::jobs) fn judge(
    context: &JobContext,
    index: &dyn FileIndex,
    generation: u32,
) -> Result<(), JobError> {
    let summary = index.summary();
    let journal = &summary.journal;
    let Some(published) = &journal.published else { return Ok(()) };
    let to = Mark { generation: i64::from(generation), id: journal.published_id() as i64 };
    let (from, all) = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
        Ok((alerts::judged(db)?, alerts::with_webhooks(db)?))
    })?;
    // A server may still search the generation before a rebuild.
    if (to.generation, to.id) <= (from.generation, from.id) {
        return Ok(());
    }
    if from.generation != to.generation || all.is_empty() {
        // A rebuild gives all files new ids, and adds none.
        context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
            if alerts::advance(db, from, to)? && from.generation != to.generation {
                alerts::move_to(db, to)?;
            }
            Ok(())
        })?;
        return Ok(());
    }
    let hits = matching(context, index, &all, (from, to))?;
    let now = context.clock.unix();
    let messages: Vec<NewAlertMessage> = hits
        .into_iter()
        .map(|(at, hits)| NewAlertMessage {
            alert_id: all[at].id,
            run_id: published.run as i64,
            generation: to.generation,
            after_id: from.id.max(all[at].since_id),
            count: hits.count,
            files: serde_json::to_string(&hits.first).unwrap_or_default(),
            published_at: published.at,
            next_try: now,
        })
        .collect();
    context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
        if alerts::advance(db, from, to)? {
            // Alerts that were removed meanwhile have no messages.
            let named: Vec<i64> = messages.iter().map(|message| message.alert_id).collect();
            let present = alerts::keep(db, &named)?;
            let messages: Vec<NewAlertMessage> = messages
                .into_iter()
                .filter(|message| present.binary_search(&message.alert_id).is_ok())
                .collect();
            alert_messages::add(db, &messages)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Returns the hits of each alert that has any, by its place in the list.
fn matching(
    context: &JobContext,
    index: &dyn FileIndex,
    all: &[Alert],
    (from, to): (Mark, Mark),
) -> Result<BTreeMap<usize, Hits>, JobError> {
    let (mut matcher, places, packages) = prepare(context, all, (from, to))?;
    let mut hits: BTreeMap<usize, Hits> = BTreeMap::new();
    if places.is_empty() {
        return Ok(hits);
    }
    let takedowns = context.pools.read_blocking(app::pending_takedowns)?;
    let now = context.clock.unix();
    let since: Vec<Option<i64>> =
        packages.iter().map(|package| package.hidden_since(now)).collect();
    let mut known: HashMap<u64, Bucket> = HashMap::new();
    let mut query = FileQuery {
        position: Position::After(SortKey { value: 0, id: from.id as u64 }),
        limit: BATCH,
        ..FileQuery::default()
    };
    loop {
        let found = index.search(&query, &Limits::none())?;
        let mut missing: Vec<u64> = found.rows.iter().map(|row| row.bucket).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|id| !known.contains_key(id));
        let buckets = context.pools.read_blocking(|db| buckets::by_ids(db, &missing))?;
        known.extend(buckets.into_iter().map(|bucket| (bucket.id, bucket)));
        for row in &found.rows {
            let Some(bucket) = known.get(&row.bucket) else { continue };
            if bucket.hidden_at.is_some() || takedowns.hides(row.bucket, &row.path) {
                continue;
            }
            let first = bucket.first_indexed.unwrap_or(now);
            let visible = |package: usize| since[package].is_none_or(|since| first <= since);
            matcher.matching(row, bucket.kind.code(), visible, |entry| {
                let hits = hits.entry(places[entry]).or_default();
                hits.count += 1;
                if hits.first.len() < MOST_NAMED {
                    hits.first.push(row.id);
                }
            });
        }
        let Some(next) = found.next else { return Ok(hits) };
        query.position = Position::After(next);
    }
}

/// Prepares the alerts of live keys whose packages allow them. Returns them with their places in the
/// list, and the packages.
fn prepare(
    context: &JobContext,
    all: &[Alert],
    (from, to): (Mark, Mark),
) -> Result<(Matcher, Vec<usize>, Vec<Package>), JobError> {
    let now = context.clock.unix();
    let (mut matcher, mut places) = (Matcher::default(), Vec::new());
    let mut packages: Vec<Package> = Vec::new();
    let mut keys: HashMap<i64, Option<usize>> = HashMap::new();
    context.pools.read_blocking(|db| -> Result<(), DatabaseError> {
        for (at, alert) in all.iter().enumerate() {
            let package = match keys.get(&alert.key_id) {
                Some(known) => *known,
                None => {
                    let found = auth::find_live(db, alert.key_id, now)?;
                    let found = found.map(|key| package_of(db, &key)).transpose()?;
                    let number = found.map(|package| {
                        packages.push(package);
                        packages.len() - 1
                    });
                    keys.insert(alert.key_id, number);
                    number
                }
            };
            let Some(package) = package else { continue };
            let Ok(search) = app::saved_search(&alert.query) else { continue };
            let allows = |need: &Capability| packages[package].allows(*need);
            let needs = search.needs.iter().map(|(_, need)| need).chain([&Capability::Alerts]);
            if !needs.into_iter().all(allows) {
                continue;
            }
            let mut query = search.query;
            if !search.echo.buckets.is_empty() {
                query.buckets = Some(bucket_ids(db, &search.echo.buckets)?);
            }
            query.excluded_buckets = bucket_ids(db, &search.echo.excluded_buckets)?;
            let is_same = alert.since_generation == to.generation;
            let after = if is_same { alert.since_id.max(from.id) } else { from.id };
            // Alerts are only saved if they have a key. Without one, this never calls `each`.
            matcher.add(Watched { query, package, after: after as u64 });
            places.push(at);
        }
        Ok(())
    })?;
    Ok((matcher, places, packages))
}

fn package_of(db: &mut Db, key: &Key) -> Result<Package, DatabaseError> {
    packages::of_plan(db, key.plan.as_ref().map_or("free", |plan| plan.code.as_str()))
}

/// Resolves the items of a bucket filter to ids in ascending order. Unknown items are ignored.
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
