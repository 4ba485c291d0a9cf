//! Loads the snapshot and refreshes it after publishes, removals, rebuilds and package changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Pools, off_worker};
use domain::SharedClock;
use tokio::task::JoinHandle;

use super::error::SnapshotError;
use super::packages::{all_packages, seed_packages};
use super::pairing::is_paired;
use super::reconcile::reconcile;
use super::takedowns::{count_hidden, pending_takedowns};
use crate::config::Settings;
use crate::engine::{AwaitedIndex, EngineError, FileIndex, Generations, IndexSummary};
use crate::error::Error;
use crate::metrics::{self, IndexFigures};
use crate::model::progress::Progress;
use crate::model::takedowns::Takedowns;
use crate::state::{Snapshot, State};
use crate::store::generations::IndexState;
use crate::store::{buckets, crawls, generations, load_runs};

/// Opens the index, updates the SQL rows to match it and loads the first snapshot. Blocks.
pub fn open(
    pools: Pools,
    clock: SharedClock,
    generations: Arc<dyn Generations>,
    settings: Settings,
) -> Result<State, SnapshotError> {
    if let Err(error) = clear_unfinished(&pools, &*generations) {
        log::warn!("the unfinished generation of a killed rebuild cannot be discarded: {error}");
    }
    pools.write_at_start(seed_packages)?;
    let mut fault = None;
    let (index, now) = match open_index(&pools, &generations) {
        Err(SnapshotError::Index(error @ (EngineError::Missing(_) | EngineError::Mismatch(_)))) => {
            log::error!("{error}");
            fault = Some(public_text(&error));
            let now = pools.read_blocking(generations::read)?;
            let (shared, error) = (Arc::clone(&generations), error.to_string());
            let unusable = AwaitedIndex::unusable(shared, now.generation, error);
            (Arc::new(unusable) as Arc<dyn FileIndex>, now)
        }
        opened => opened?,
    };
    match reconcile(&pools, &index.summary().journal, None, clock.unix()) {
        Err(DatabaseError::Storage(cause)) => {
            log::warn!("the database cannot be reconciled with the index: {cause}");
        }
        reconciled => reconciled?,
    }
    let mut snapshot = pools.read_blocking(|db| read(db, index, now))?;
    if fault.is_none() {
        snapshot.hidden = count_hidden(&*snapshot.index, &snapshot.takedowns)?;
    }
    let state = State::new(pools, clock, generations, settings, with_totals(snapshot));
    state.set_fault(fault);
    Ok(state)
}

/// Describes an error for `/readyz`. The endpoint is public, so the text must not reveal any paths.
fn public_text(error: &EngineError) -> String {
    match error {
        EngineError::Missing(_) => "the index is missing".to_owned(),
        EngineError::Mismatch(_) => error.to_string(),
        _ => "the index cannot be read".to_owned(),
    }
}

/// Opens the current index for reading, but never creates one. Before the first load, returns an
/// empty placeholder. Returns [`EngineError::Missing`] if a published index can't be found.
pub fn open_index(
    pools: &Pools,
    generations: &Arc<dyn Generations>,
) -> Result<(Arc<dyn FileIndex>, IndexState), SnapshotError> {
    // Read this before opening the index. Otherwise, the latest publish could be missing from the
    // index.
    let before = |db: &mut Db| -> Result<_, DatabaseError> {
        Ok((generations::read(db)?, generations::identity(db)?.publishes > 0))
    };
    let (mut now, mut published) = pools.read_blocking(before)?;
    loop {
        let place = match generations.open(now.generation) {
            Err(EngineError::Missing(place)) => place,
            opened => {
                let index = opened?;
                if is_paired(pools, &*index, now.generation)? {
                    return Ok((index, now));
                }
                (now, published) = pools.read_blocking(before)?;
                continue;
            }
        };
        let after = pools.read_blocking(before)?;
        if after.0.generation != now.generation {
            // A rebuild switched to a new generation and dropped the old one.
            (now, published) = after;
        } else if published {
            return Err(lost(place).into());
        } else {
            let awaited = AwaitedIndex::empty(Arc::clone(generations), now.generation);
            return Ok((Arc::new(awaited), now));
        }
    }
}

/// Copies the current index to a folder. Returns `false` if the engine doesn't keep its index on
/// this machine.
///
/// # Errors
/// Returns [`EngineError::Missing`] if a rebuild has switched to another generation.
pub fn copy_index(
    pools: &Pools,
    generations: &dyn Generations,
    to: &Path,
) -> Result<bool, SnapshotError> {
    let now = pools.read_blocking(generations::read)?;
    Ok(generations.copy(now.generation, to)?)
}

/// Error for a published index that has gone missing.
pub fn lost(place: String) -> EngineError {
    EngineError::Missing(format!(
        "{place}, although a load was published: restore it, or rebuild it: buckets rebuild PATH"
    ))
}

/// Cleans up after a killed rebuild. Does nothing while another process is writing, since that
/// could be the rebuild itself.
fn clear_unfinished(pools: &Pools, generations: &dyn Generations) -> Result<(), SnapshotError> {
    if !generations.has_unfinished(pools.read_blocking(generations::read)?.generation)? {
        return Ok(());
    }
    let lock = match generations.lock("a server is discarding an unfinished generation") {
        Err(EngineError::Locked(_)) => return Ok(()),
        taken => taken?,
    };
    // The rebuild might have finished while we were waiting for the lock.
    let current = pools.read_blocking(generations::read)?.generation;
    if generations.has_unfinished(current)? {
        generations.discard(current + 1, &*lock)?;
        log::info!("the unfinished generation of a killed rebuild was discarded");
    }
    Ok(())
}

/// Checks for a newer snapshot, starts serving it and counts its hidden files. Also records whether
/// the index is usable. Blocks.
pub fn refresh(state: &State) -> Result<(), SnapshotError> {
    if serve_newest(state)? {
        recount(state);
    }
    Ok(())
}

/// Like [`refresh`], but returns `true` if the hidden files need to be counted. They are already
/// hidden, and counting them can take a while in a large bucket.
fn serve_newest(state: &State) -> Result<bool, SnapshotError> {
    let _looking = state.look();
    let looked = look(state);
    match &looked {
        Ok(_) => state.set_fault(None),
        Err(SnapshotError::Index(error)) => state.set_fault(Some(public_text(error))),
        Err(SnapshotError::Store(_)) => {}
    }
    looked
}

/// Checks for a newer snapshot. Returns `true` if the hidden files need to be counted again.
fn look(state: &State) -> Result<bool, SnapshotError> {
    let pools = state.pools();
    let second = state.clock().unix();
    let (mut now, own, packages, run, crawls, pending) =
        pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let (now, own) = (generations::read(db)?, generations::identity(db)?);
            let (packages, run) = (all_packages(db)?, load_runs::under_way(db)?);
            let (crawls, pending) = (crawls::figures(db, second)?, pending_takedowns(db)?);
            Ok((now, own, packages, run, crawls, pending))
        })?;
    metrics::loading(run.map_or(0.0, |(_, progress)| Progress::current_rate(&progress, second)));
    metrics::crawling(crawls.active, crawls.paused, crawls.running, crawls.overdue_seconds);
    let seen = hide(state, &pending);
    let mut index = Arc::clone(&seen.index);
    let mut switched = now.generation != seen.generation;
    if state.fault().is_some() {
        (index, now) = open_index(pools, state.shared_generations())?;
        switched = true;
    } else if switched {
        index = state.generations().open(now.generation)?;
    } else if now.generation > 1 && seen.published_at() > 0 {
        // Don't drop older generations until this one is open.
        state.generations().sweep(now.generation)?;
    }
    // A search might have refreshed the index before us, so `refreshed` isn't enough on its own.
    let refreshed = index.refresh()?;
    let is_same = index.summary().journal.identity == own;
    if !is_same && !is_paired(pools, &*index, now.generation)? {
        // The database has switched to another generation. The next refresh will find it.
        return Ok(false);
    }
    let sequence = |summary: &IndexSummary| summary.journal.sequence;
    let newer = refreshed
        || switched
        || now.version != seen.version
        || sequence(&index.summary()) != sequence(&seen.summary);
    if newer {
        let (mut snapshot, after) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
            Ok((read(db, index, now)?, generations::read(db)?))
        })?;
        // If a rebuild switched generations in the meantime, the buckets we read might belong to
        // the next generation. The next refresh will read both from the same generation.
        if after.generation == now.generation {
            // This index state might predate a removal that has been completed since.
            snapshot.takedowns.add_all(&pending);
            snapshot.number = seen.number + 1;
            set_hidden(&mut snapshot, seen.hidden.clone(), seen.counted);
            publish(state, snapshot);
            return Ok(true);
        }
    } else if packages != seen.packages {
        let mut snapshot = (*seen).clone();
        snapshot.packages = packages;
        publish(state, snapshot);
    }
    Ok(false)
}

/// Hides files in the current snapshot and returns it. Refreshing the index can take a while or
/// fail, and removed files must not be found in the meantime.
fn hide(state: &State, pending: &Takedowns) -> Arc<Snapshot> {
    let seen = state.snapshot();
    let mut snapshot = (*seen).clone();
    snapshot.takedowns.add_all(pending);
    if snapshot.takedowns == seen.takedowns {
        return seen;
    }
    publish(state, snapshot);
    state.snapshot()
}

/// Counts the hidden files in the published snapshot. Keeps the previous counts if that fails.
fn recount(state: &State) {
    let counted = state.snapshot();
    if counted.takedowns.paths.is_empty() {
        return;
    }
    match count_hidden(&*counted.index, &counted.takedowns) {
        Ok(hidden) => {
            let _looking = state.look();
            let now = state.snapshot();
            // Another refresh might have counted a newer snapshot in the meantime.
            if counted.number >= now.counted {
                let mut snapshot = (*now).clone();
                set_hidden(&mut snapshot, hidden, counted.number);
                publish(state, snapshot);
            }
        }
        Err(error) => log::warn!("hidden files cannot be counted: {error}"),
    }
}

/// Sets the numbers of hidden files, except for buckets that aren't partly hidden. `counted` is the
/// number of the snapshot in which they were counted.
fn set_hidden(snapshot: &mut Snapshot, mut hidden: BTreeMap<u64, u64>, counted: u64) {
    let paths = &snapshot.takedowns.paths;
    hidden.retain(|bucket, _| paths.iter().any(|hidden| hidden.bucket == *bucket));
    (snapshot.hidden, snapshot.counted) = (hidden, counted);
}

/// Refreshes the snapshot on the blocking thread pool and returns it.
pub async fn newest(state: &State) -> Result<Arc<Snapshot>, Error> {
    let looking = state.clone();
    let looked = off_worker(move || refresh(&looking)).await;
    match looked.map_err(|error| Error::Internal(error.to_string()))? {
        Ok(()) => Ok(state.snapshot()),
        Err(SnapshotError::Index(error)) => Err(error.into()),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}

/// Keeps the snapshot up to date until the server stops. If it keeps failing, only the first
/// failure is logged.
pub async fn follow(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms);
    let (mut failing, mut is_uncounted) = (false, false);
    let mut counting: Option<JoinHandle<()>> = None;
    loop {
        tokio::time::sleep(pause).await;
        let followed = state.clone();
        match tokio::task::spawn_blocking(move || serve_newest(&followed)).await {
            Ok(Ok(is_newer)) => {
                failing = false;
                is_uncounted |= is_newer;
            }
            Ok(Err(error)) if !failing => {
                failing = true;
                log::error!("the index cannot be refreshed: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("the index cannot be refreshed: {error}"),
        }
        // Files of further removals must not stay visible while files are counted.
        if is_uncounted && counting.as_ref().is_none_or(JoinHandle::is_finished) {
            is_uncounted = false;
            let counted = state.clone();
            counting = Some(tokio::task::spawn_blocking(move || recount(&counted)));
        }
    }
}

fn publish(state: &State, snapshot: Snapshot) {
    state.publish(with_totals(snapshot));
}

fn read(
    db: &mut Db,
    index: Arc<dyn FileIndex>,
    now: IndexState,
) -> Result<Snapshot, DatabaseError> {
    let summary = index.summary();
    let mut buckets = buckets::all(db)?;
    // A publish is visible in the index before its SQL rows are written.
    if let Some(published) = &summary.journal.published
        && load_runs::find(db, published.run)?.is_some_and(|run| run.state != "published")
    {
        for named in &published.buckets {
            if let Ok(at) = buckets.binary_search_by_key(&named.id, |bucket| bucket.id) {
                buckets[at].first_indexed.get_or_insert(published.at);
            }
        }
    }
    let packages = all_packages(db)?;
    let mut takedowns = pending_takedowns(db)?;
    for hidden in buckets.iter().filter(|bucket| bucket.hidden_at.is_some()) {
        takedowns.add(hidden.id, "");
    }
    let versions = (now.generation, now.version);
    Ok(Snapshot::new(index, summary, versions, packages, buckets, takedowns))
}

/// Counts a snapshot's files and buckets and updates the metrics.
fn with_totals(mut snapshot: Snapshot) -> Snapshot {
    snapshot.totals = snapshot.counts(None);
    metrics::published(&IndexFigures {
        generation: u64::from(snapshot.generation),
        files: snapshot.totals.files,
        buckets: snapshot.totals.buckets.iter().sum(),
        bytes: snapshot.summary.disk_bytes,
        dead_rows: snapshot.summary.dead_rows,
        published_at: snapshot.published_at(),
    });
    snapshot
}
