//! Reads the snapshot and keeps it up to date with publishes, removals, rebuilds and packages.

use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Pools, off_worker};
use domain::SharedClock;

use super::packages::{all_packages, seed_packages};
use super::reconcile::reconcile;
use crate::config::Settings;
use crate::engine::{AwaitedIndex, EngineError, FileIndex, Generations, IndexSummary};
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
    let (index, now) = match open_index(&pools, &generations) {
        Err(SnapshotError::Index(EngineError::Missing(place))) => {
            log::error!("{}", EngineError::Missing(place.clone()));
            let now = pools.read_blocking(generations::read)?;
            let lost = AwaitedIndex::lost(Arc::clone(&generations), now.generation, place);
            (Arc::new(lost) as Arc<dyn FileIndex>, now)
        }
        opened => opened?,
    };
    reconcile(&pools, &index.summary().journal, "{}", clock.unix())?;
    let snapshot = pools.read_blocking(|db| read(db, index, now))?;
    measure(&snapshot);
    Ok(State::new(pools, clock, generations, settings, snapshot))
}

/// Opens the index that is searched, for reading: nothing is made. Before the first load it is empty;
/// after a publish [`EngineError::Missing`] says where it should be.
pub fn open_index(
    pools: &Pools,
    generations: &Arc<dyn Generations>,
) -> Result<(Arc<dyn FileIndex>, IndexState), SnapshotError> {
    // Read before the look at the index: what was published until then must be there.
    let before = |db: &mut Db| -> Result<_, DatabaseError> {
        Ok((generations::read(db)?, load_runs::any_published(db)?))
    };
    let (mut now, mut published) = pools.read_blocking(before)?;
    loop {
        let place = match generations.open(now.generation) {
            Err(EngineError::Missing(place)) => place,
            opened => return Ok((opened?, now)),
        };
        let after = pools.read_blocking(before)?;
        if after.0.generation != now.generation {
            // A rebuild has switched to its generation and dropped the old one.
            (now, published) = after;
        } else if published {
            let place = format!("{place}, although a load was published");
            return Err(EngineError::Missing(place).into());
        } else {
            let awaited = AwaitedIndex::empty(Arc::clone(generations), now.generation);
            return Ok((Arc::new(awaited), now));
        }
    }
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
    } else if now.generation > 1 && seen.published_at() > 0 {
        // Only a generation that is there takes the place of those before it.
        state.generations().sweep(now.generation)?;
    }
    // A search may have brought the index to a newer state before, so that `refresh` finds none.
    let refreshed = index.refresh()?;
    let sequence = |summary: &IndexSummary| summary.journal.sequence;
    let newer = refreshed
        || switched
        || now.version != seen.version
        || sequence(&index.summary()) != sequence(&seen.summary);
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
