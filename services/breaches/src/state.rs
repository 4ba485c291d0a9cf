//! What handlers share: pools, clock, quotas, and the snapshot that is reloaded when it is outdated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use auth::{KeyStore, Quotas};
use database::{Backend, DatabaseError, Db, Pools};
use domain::{Sha1Digest, SharedClock};

use crate::config::Settings;
use crate::error::Error;
use crate::model::OptOut;
use crate::reader;
use crate::snapshot::{self, Blocks, Shared, Snapshot};
use crate::store::caller::Kept;
use crate::store::opt_out::OptOuts;
use crate::store::{block, meta};

/// The state of one server; a clone is another handle to it.
#[derive(Clone)]
pub struct State {
    inner: Arc<Inner>,
}

struct Inner {
    number: u64,
    pools: Pools,
    clock: SharedClock,
    quotas: Quotas,
    keys: KeyStore,
    settings: Settings,
    snapshot: Shared<Snapshot>,
    opt_outs: Shared<OptOuts>,
    blocks: Shared<Blocks>,
    loaded: Shared<meta::Versions>,
}

/// Everything that one request reads, at one moment.
#[derive(Clone)]
pub struct View {
    /// The server.
    pub state: State,
    /// The catalogue.
    pub snapshot: Arc<Snapshot>,
    /// The opt-outs.
    pub opt_outs: Arc<OptOuts>,
    /// Unix seconds.
    pub now: i64,
}

impl View {
    /// What the owner of an address chose.
    pub fn opt_out(
        &self,
        db: &mut Db,
        digest: &Sha1Digest,
    ) -> Result<Option<OptOut>, DatabaseError> {
        self.opt_outs.get(db, digest)
    }
}

/// A connection for the work of one request, and the keys that it remembers, if it does.
pub struct Session<'s> {
    /// The connection.
    pub db: &'s mut Db,
    /// Keys that this connection found.
    pub kept: Option<&'s mut Kept>,
}

impl State {
    /// Reads catalogue, opt-outs and blocks.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        settings: Settings,
    ) -> Result<Self, DatabaseError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let state = Self {
            inner: Arc::new(Inner {
                number: COUNTER.fetch_add(1, Ordering::Relaxed),
                quotas: Quotas::new(clock.clone()),
                keys: KeyStore::new(pools.clone(), clock.clone()),
                pools,
                clock,
                settings,
                snapshot: Shared::default(),
                opt_outs: Shared::default(),
                blocks: Shared::default(),
                loaded: Shared::new(meta::Versions { catalogue: -1, opt_out: -1 }),
            }),
        };
        state.inner.pools.read_blocking(|db| state.refresh(db))?;
        Ok(state)
    }

    /// Connections to the database.
    pub fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    /// The time.
    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// The buckets.
    pub fn quotas(&self) -> &Quotas {
        &self.inner.quotas
    }

    /// Notes when keys are used.
    pub fn keys(&self) -> &KeyStore {
        &self.inner.keys
    }

    /// The settings of this service.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The block list.
    pub fn blocks(&self) -> Arc<Blocks> {
        self.inner.blocks.get()
    }

    /// Catalogue and opt-outs as they are now.
    pub fn view(&self) -> View {
        View {
            state: self.clone(),
            snapshot: self.inner.snapshot.get(),
            opt_outs: self.inner.opt_outs.get(),
            now: self.inner.clock.unix(),
        }
    }

    /// Reloads what changed since the last look.
    pub fn refresh(&self, db: &mut Db) -> Result<(), DatabaseError> {
        let versions = snapshot::versions(db)?;
        let loaded = *self.inner.loaded.get();
        if versions.catalogue != loaded.catalogue {
            self.inner.snapshot.set(snapshot::load(db)?);
        }
        if versions.opt_out != loaded.opt_out {
            let max = self.inner.settings.optout_memory_max;
            self.inner.opt_outs.set(OptOuts::load(db, max)?);
        }
        self.inner.blocks.set(Blocks::new(block::all(db)?));
        self.inner.loaded.set(versions);
        Ok(())
    }

    /// Looks for changes now.
    pub async fn reload(&self) -> Result<(), DatabaseError> {
        let state = self.clone();
        self.inner.pools.read(move |db| state.refresh(db)).await
    }

    /// Runs all the database work of a request in one hop.
    ///
    /// `short` work, a few point reads, stays on the worker thread when the database is SQLite:
    /// a change of threads costs more than the reads. PostgreSQL never blocks a worker.
    pub async fn hop<T: Send + 'static>(
        &self,
        short: bool,
        work: impl FnOnce(Session<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        if short && self.inner.pools.backend() == Backend::Sqlite {
            return reader::read(self.inner.number, &self.inner.pools, work);
        }
        self.inner.pools.read(|db| work(Session { db, kept: None })).await
    }
}
