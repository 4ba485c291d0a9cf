//! What handlers share: the catalog, which follows the index, and the turns of expressions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use database::{DatabaseError, Pools};
use domain::SharedClock;
use tokio::sync::Semaphore;

use crate::catalog::Catalog;
use crate::config::Settings;
use crate::engine::{EngineError, Limits};
use crate::error::Error;
use crate::jobs::progress::Progress;
use crate::jobs::session::{Workshop, settle};
use crate::metrics;
use crate::model::file_query::{FileQuery, Found, Matching};
use crate::store::{package, run, state};

/// The state of one server; a clone is another handle to it.
#[derive(Clone)]
pub struct State {
    inner: Arc<Inner>,
}

struct Inner {
    shop: Workshop,
    settings: Settings,
    catalog: RwLock<Arc<Catalog>>,
    turns: Semaphore,
    waiting: AtomicUsize,
}

/// Why a state cannot be made or renewed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The index failed.
    #[error(transparent)]
    Index(#[from] EngineError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
}

impl State {
    /// Opens the index and reads the catalog.
    pub fn open(shop: Workshop, settings: Settings) -> Result<Self, StateError> {
        shop.pools.write_blocking(package::seed)?;
        let now = shop.pools.read_blocking(state::read)?;
        let index = shop.generations.open_or_create(now.generation)?;
        settle(&shop.pools, &index.snapshot().journal, "{}", shop.clock.unix())?;
        let catalog =
            shop.pools.read_blocking(|db| Catalog::read(db, index, now.generation, now.version))?;
        metrics::published(&catalog);
        let turns = Semaphore::new(settings.regexp_running.max(1));
        Ok(Self {
            inner: Arc::new(Inner {
                shop,
                settings,
                catalog: RwLock::new(Arc::new(catalog)),
                turns,
                waiting: AtomicUsize::new(0),
            }),
        })
    }

    /// The catalog as it is now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.inner.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The database.
    pub fn pools(&self) -> &Pools {
        &self.inner.shop.pools
    }

    /// The clock.
    pub fn clock(&self) -> &SharedClock {
        &self.inner.shop.clock
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Follows publishes, removals, rebuilds and changed packages; blocks.
    pub fn refresh(&self) -> Result<(), StateError> {
        let shop = &self.inner.shop;
        let seen = self.catalog();
        let (now, packages, run) = shop.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            Ok((state::read(db)?, package::all(db)?, run::under_way(db)?))
        })?;
        metrics::loading(Progress::rate(run.as_ref(), shop.clock.unix()));
        let mut index = Arc::clone(&seen.index);
        let switched = now.generation != seen.generation;
        if switched {
            index = shop.generations.open(now.generation)?;
        }
        if !switched && now.generation > 1 {
            shop.generations.sweep(now.generation)?;
        }
        let renewed = index.refresh()? || switched || now.version != seen.version;
        let catalog = if renewed {
            let (catalog, after) = shop.pools.read_blocking(|db| -> Result<_, DatabaseError> {
                let catalog = Catalog::read(db, index, now.generation, now.version)?;
                Ok((catalog, state::read(db)?))
            })?;
            if after.generation != now.generation {
                // The buckets are those of the next generation; the next look sees both.
                return Ok(());
            }
            catalog
        } else if packages != seen.packages {
            seen.with_packages(packages)
        } else {
            return Ok(());
        };
        metrics::published(&catalog);
        *self.inner.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        Ok(())
    }

    /// Runs a search off the worker thread; it stops at its time limit and when nobody waits for
    /// it any more.
    pub async fn search(&self, catalog: &Catalog, query: FileQuery) -> Result<Found, Error> {
        let _turn = match query.matching {
            Matching::Expression(_) => Some(self.turn().await?),
            _ => None,
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let patience = Duration::from_secs(self.inner.settings.search_timeout);
        let limits = Limits::until(Instant::now() + patience, threads);
        let _guard = CancelOnDrop(limits.cancel_handle());
        let index = Arc::clone(&catalog.index);
        let searched = tokio::task::spawn_blocking(move || index.search(&query, &limits)).await;
        match searched {
            Ok(found) => Ok(found?),
            Err(failed) => Err(Error::Internal(format!("a search failed: {failed}"))),
        }
    }

    /// Takes the right to run one expression and keeps it; for an operator's pause, and tests.
    pub async fn hold_turn(&self) -> Option<impl Drop + '_> {
        self.turn().await.ok()
    }

    /// Waits for the right to run an expression, unless too many wait already.
    async fn turn(&self) -> Result<Turn<'_>, Error> {
        let inner = &self.inner;
        if let Ok(permit) = inner.turns.try_acquire() {
            return Ok(Turn::new(permit));
        }
        if inner.waiting.fetch_add(1, Ordering::SeqCst) >= inner.settings.regexp_waiting {
            inner.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(Error::Busy);
        }
        let _waiting = Waiting::new(&inner.waiting);
        let patience = Duration::from_secs(inner.settings.search_timeout);
        match tokio::time::timeout(patience, inner.turns.acquire()).await {
            Ok(Ok(permit)) => Ok(Turn::new(permit)),
            Ok(Err(_)) | Err(_) => Err(Error::Timeout),
        }
    }
}

/// The right to run one expression.
struct Turn<'a> {
    _permit: tokio::sync::SemaphorePermit<'a>,
}

impl<'a> Turn<'a> {
    fn new(permit: tokio::sync::SemaphorePermit<'a>) -> Self {
        metrics::REGEXP_RUNNING.inc();
        Self { _permit: permit }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        metrics::REGEXP_RUNNING.dec();
    }
}

/// A place in the queue, given back however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        metrics::REGEXP_WAITING.inc();
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        metrics::REGEXP_WAITING.dec();
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct CancelOnDrop(Arc<std::sync::atomic::AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
