//! Reads the snapshot and keeps it up to date with publishes, removals, rebuilds and packages.

use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Pools, off_worker};
use domain::SharedClock;

use super::packages::{all_packages, seed_packages};
use super::reconcile::reconcile;
use crate::config::Settings;
use crate::engine::{EngineError, FileIndex, Generations};
use crate::error::Error;
use crate::metrics::{self, IndexFigures};
use crate::model::progress::Progress;
use crate::state::{Snapshot, State};
use crate::store::generations::IndexState;
use crate::store::{buckets, generations, load_runs};

/// Why a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

/// Opens the index, brings the rows in SQL to it, and reads the first snapshot; blocks.
pub fn open(
    pools: Pools,
    clock: SharedClock,
    generations: Arc<dyn Generations>,
    settings: Settings,
) -> Result<State, SnapshotError> {
    if let Err(error) = clear_unfinished(&pools, &*generations) {
        log::warn!("what a killed rebuild left cannot be cleared away: {error}");
    }
    pools.write_blocking(seed_packages)?;
    let now = pools.read_blocking(generations::read)?;
    let index = generations.open_or_create(now.generation)?;
    reconcile(&pools, &index.summary().journal, "{}", clock.unix())?;
    let snapshot = pools.read_blocking(|db| read(db, index, now))?;
    measure(&snapshot);
    Ok(State::new(pools, clock, generations, settings, snapshot))
}

/// Drops what a killed rebuild left, unless another process writes, which may be that very rebuild.
fn clear_unfinished(pools: &Pools, generations: &dyn Generations) -> Result<(), SnapshotError> {
    if !generations.has_unfinished(pools.read_blocking(generations::read)?.generation)? {
        return Ok(());
    }
    let lock = match generations.lock("a server clears away what a killed rebuild left") {
        Err(EngineError::Locked(_)) => return Ok(()),
        taken => taken?,
    };
    // A rebuild may have come to its end before the lock was free.
    let current = pools.read_blocking(generations::read)?.generation;
    if generations.has_unfinished(current)? {
        generations.discard(current + 1, &*lock)?;
        log::info!("what a killed rebuild left was cleared away");
    }
    Ok(())
}

/// Looks for a newer snapshot and serves it; blocks.
pub fn refresh(state: &State) -> Result<(), SnapshotError> {
    let seen = state.snapshot();
    let pools = state.pools();
    let (now, packages, run) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
        Ok((generations::read(db)?, all_packages(db)?, load_runs::under_way(db)?))
    })?;
    let rate = run.map_or(0.0, |run| Progress::current_rate(&run.progress, state.clock().unix()));
    metrics::loading(rate);
    let mut index = Arc::clone(&seen.index);
    let switched = now.generation != seen.generation;
    if switched {
        index = state.generations().open(now.generation)?;
    } else if now.generation > 1 {
        state.generations().sweep(now.generation)?;
    }
    let newer = index.refresh()? || switched || now.version != seen.version;
    if newer {
        let (snapshot, after) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
            Ok((read(db, index, now)?, generations::read(db)?))
        })?;
        // With another generation the buckets may be those of the next one already; the next
        // refresh reads both from the same generation.
        if after.generation == now.generation {
            publish(state, snapshot);
        }
    } else if packages != seen.packages {
        publish(state, seen.with_packages(packages));
    }
    Ok(())
}

/// Looks for a newer snapshot outside the worker threads, and gives what is served then.
pub async fn newest(state: &State) -> Result<Arc<Snapshot>, Error> {
    let looking = state.clone();
    let looked = off_worker(move || refresh(&looking)).await;
    match looked.map_err(|error| Error::Internal(error.to_string()))? {
        Ok(()) => Ok(state.snapshot()),
        Err(SnapshotError::Index(error)) => Err(error.into()),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}

/// Refreshes for as long as the server runs; a failure is logged once.
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
                log::error!("the index cannot be followed: {error}");
            }
            Ok(Err(_)) => {}
            Err(error) => log::error!("the index cannot be followed: {error}"),
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
    // A publish is in force before its SQL rows say so.
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
    Ok(Snapshot::new(index, summary, (now.generation, now.version), packages, buckets))
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
