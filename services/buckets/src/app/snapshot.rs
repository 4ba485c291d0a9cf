//! Reads the snapshot, and refreshes it after publishes, removals, rebuilds and changes of
//! packages.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Pools, off_worker};
use domain::SharedClock;

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
use crate::state::{Snapshot, State};
use crate::store::generations::IndexState;
use crate::store::{buckets, crawls, generations, load_runs};

/// Opens the index, reconciles the SQL rows with it and reads the first snapshot. This is a
/// blocking function.
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
    match reconcile(&pools, &index.summary().journal, "{}", clock.unix()) {
        Err(DatabaseError::Storage(cause)) => {
            log::warn!("the database cannot be reconciled with the index: {cause}");
        }
        reconciled => reconciled?,
    }
    let mut snapshot = pools.read_blocking(|db| read(db, index, now))?;
    if fault.is_none() {
        snapshot.hidden = count_hidden(&*snapshot.index, &snapshot.takedowns)?;
    }
    measure(&snapshot);
    let state = State::new(pools, clock, generations, settings, snapshot);
    state.set_fault(fault);
    Ok(state)
}

/// Returns the text of an error for `/readyz`, which is public and must not contain paths.
fn public_text(error: &EngineError) -> String {
    match error {
        EngineError::Missing(_) => "the index is missing".to_owned(),
        EngineError::Mismatch(_) => error.to_string(),
        _ => "the index cannot be read".to_owned(),
    }
}

/// Opens the current index for reading without creating it. Before the first load, returns an empty
/// one. If the index was published but does not exist, returns [`EngineError::Missing`].
pub fn open_index(
    pools: &Pools,
    generations: &Arc<dyn Generations>,
) -> Result<(Arc<dyn FileIndex>, IndexState), SnapshotError> {
    // Must be read before the index is opened, so that the index contains everything published so
    // far.
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
            // A rebuild has switched to its own generation and dropped the old one.
            (now, published) = after;
        } else if published {
            return Err(lost(place).into());
        } else {
            let awaited = AwaitedIndex::empty(Arc::clone(generations), now.generation);
            return Ok((Arc::new(awaited), now));
        }
    }
}

/// Copies the current index to a folder. Returns false if the engine does not store the index on
/// this machine.
///
/// # Errors
/// [`EngineError::Missing`] if a rebuild has switched to another generation.
pub fn copy_index(
    pools: &Pools,
    generations: &dyn Generations,
    to: &Path,
) -> Result<bool, SnapshotError> {
    let now = pools.read_blocking(generations::read)?;
    Ok(generations.copy(now.generation, to)?)
}

/// Returns the error for a published index that is missing.
pub fn lost(place: String) -> EngineError {
    EngineError::Missing(format!(
        "{place}, although a load was published: restore it, or rebuild it: buckets rebuild PATH"
    ))
}

/// Discards the unfinished generation of a killed rebuild. Does nothing if another process is
/// writing, because that may be the rebuild.
fn clear_unfinished(pools: &Pools, generations: &dyn Generations) -> Result<(), SnapshotError> {
    if !generations.has_unfinished(pools.read_blocking(generations::read)?.generation)? {
        return Ok(());
    }
    let lock = match generations.lock("a server is discarding an unfinished generation") {
        Err(EngineError::Locked(_)) => return Ok(()),
        taken => taken?,
    };
    // The rebuild may have finished before the lock was available.
    let current = pools.read_blocking(generations::read)?.generation;
    if generations.has_unfinished(current)? {
        generations.discard(current + 1, &*lock)?;
        log::info!("the unfinished generation of a killed rebuild was discarded");
    }
    Ok(())
}

/// Looks for a newer snapshot and starts serving it. Records whether the index is usable. This is a
/// blocking function.
pub fn refresh(state: &State) -> Result<(), SnapshotError> {
    let looked = {
        let _looking = state.look();
        let looked = look(state);
        match &looked {
            Ok(_) => state.set_fault(None),
            Err(SnapshotError::Index(error)) => state.set_fault(Some(public_text(error))),
            Err(SnapshotError::Store(_)) => {}
        }
        looked
    };
    // At this point the files are already hidden. Counting them takes long in a large bucket.
    if looked? {
        recount(state);
    }
    Ok(())
}

/// Looks for a newer snapshot. Returns whether hidden files must be counted.
fn look(state: &State) -> Result<bool, SnapshotError> {
    let seen = state.snapshot();
    let pools = state.pools();
    let second = state.clock().unix();
    let (mut now, own, packages, run, crawls) =
        pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let (now, own) = (generations::read(db)?, generations::identity(db)?);
            let (packages, run) = (all_packages(db)?, load_runs::under_way(db)?);
            Ok((now, own, packages, run, crawls::figures(db, second)?))
        })?;
    metrics::loading(run.map_or(0.0, |run| Progress::current_rate(&run.progress, second)));
    metrics::crawling(crawls.active, crawls.paused, crawls.running, crawls.overdue_seconds);
    let mut index = Arc::clone(&seen.index);
    let mut switched = now.generation != seen.generation;
    if state.fault().is_some() {
        (index, now) = open_index(pools, state.shared_generations())?;
        switched = true;
    } else if switched {
        index = state.generations().open(now.generation)?;
    } else if now.generation > 1 && seen.published_at() > 0 {
        // Older generations may only be dropped after this one has been opened.
        state.generations().sweep(now.generation)?;
    }
    // A search may already have refreshed the index, so `refreshed` alone is not sufficient.
    let refreshed = index.refresh()?;
    let is_same = index.summary().journal.identity == own;
    if !is_same && !is_paired(pools, &*index, now.generation)? {
        // The next refresh finds the generation to which the database has switched.
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
        // After a switch, the buckets may already belong to the next generation. The next refresh
        // reads both from the same one.
        if after.generation == now.generation {
            let paths = &snapshot.takedowns.paths;
            let mut hidden = seen.hidden.clone();
            hidden.retain(|bucket, _| paths.iter().any(|hidden| hidden.bucket == *bucket));
            snapshot.hidden = hidden;
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

/// Counts the hidden files of the published snapshot. If that fails, the previous counts are kept.
fn recount(state: &State) {
    let counted = state.snapshot();
    if counted.takedowns.paths.is_empty() {
        return;
    }
    match count_hidden(&*counted.index, &counted.takedowns) {
        Ok(hidden) => {
            let _looking = state.look();
            let now = state.snapshot();
            let versions = |of: &Snapshot| (of.generation, of.version);
            // Another refresh may have published a newer snapshot in the meantime.
            if versions(&now) == versions(&counted) && Arc::ptr_eq(&now.summary, &counted.summary) {
                let mut snapshot = (*now).clone();
                snapshot.hidden = hidden;
                publish(state, snapshot);
            }
        }
        Err(error) => log::warn!("hidden files cannot be counted: {error}"),
    }
}

/// Looks for a newer snapshot outside the worker threads. Returns the current snapshot.
pub async fn newest(state: &State) -> Result<Arc<Snapshot>, Error> {
    let looking = state.clone();
    let looked = off_worker(move || refresh(&looking)).await;
    match looked.map_err(|error| Error::Internal(error.to_string()))? {
        Ok(()) => Ok(state.snapshot()),
        Err(SnapshotError::Index(error)) => Err(error.into()),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}

/// Refreshes the snapshot until the server stops. Repeated failures are logged once.
pub async fn follow(state: State) {
    let pause = Duration::from_millis(state.settings().reload_ms);
    let mut failing = false;
    loop {
        tokio::time::sleep(pause).await;
        let followed = state.clone();
        match tokio::task::spawn_blocking(move || refresh(&followed)).await {
            Ok(Ok(())) => failing = false,
            Ok(Err(error)) if !failing => {
                failing = true;
                log::error!("the index cannot be refreshed: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("the index cannot be refreshed: {error}"),
        }
    }
}

fn publish(state: &State, snapshot: Snapshot) {
    measure(&snapshot);
    state.publish(snapshot);
}

fn read(
    db: &mut Db,
    index: Arc<dyn FileIndex>,
    now: IndexState,
) -> Result<Snapshot, DatabaseError> {
    let summary = index.summary();
    let mut buckets = buckets::all(db)?;
    // A publish takes effect before its SQL rows are written.
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

fn measure(snapshot: &Snapshot) {
    let counts = snapshot.counts(None);
    metrics::published(&IndexFigures {
        generation: u64::from(snapshot.generation),
        files: counts.files,
        buckets: counts.buckets.iter().sum(),
        bytes: snapshot.summary.disk_bytes,
        dead_rows: snapshot.summary.dead_rows,
        published_at: snapshot.published_at(),
    });
}
