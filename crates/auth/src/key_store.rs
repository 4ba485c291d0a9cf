//! Looks up keys and records their use.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use database::{DatabaseError, Db, Pools, transaction};
use diesel::prelude::*;
use domain::SharedClock;
use parking_lot::{Mutex, MutexGuard};

use crate::keys::find_digest;
use crate::memory::{Look, Memory};
use crate::schema::api_key;
use crate::{Key, KeyState, digest, is_well_formed};

/// Seconds between writes of last-used times.
const FLUSH_EVERY: u64 = 60;
/// Number of last-used times per transaction, kept small so that other writers don't have to wait
/// long.
const BATCH: usize = 200;

/// Looks up callers' keys and records when they were last used.
///
/// A key stops working as soon as any process revokes it, because keys are only cached if the
/// database can report every change. Clones share the store.
#[derive(Clone)]
pub struct KeyStore {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    clock: SharedClock,
    memory: Option<Memory>,
    used: Mutex<HashMap<i64, i64>>,
    flushed_at: AtomicI64,
}

impl KeyStore {
    /// Creates a store for a database that has the tables from [`MIGRATIONS`](crate::MIGRATIONS).
    pub fn new(pools: Pools, clock: SharedClock) -> Self {
        let memory = Memory::of(&pools);
        let flushed_at = AtomicI64::new(clock.unix());
        let used = Mutex::default();
        Self { inner: Arc::new(Inner { pools, clock, memory, used, flushed_at }) }
    }

    /// Finds a live key, ignoring case, and records its use. Returns `None` if the key is unknown,
    /// revoked, expired or malformed.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Busy`] if the database is busy.
    pub async fn find(&self, text: &str) -> Result<Option<Arc<Key>>, DatabaseError> {
        if !is_well_formed(text) {
            return Ok(None);
        }
        let key = self.look_up(&digest(text)).await?;
        if let Some(key) = &key {
            self.note_use(key.id);
        }
        Ok(key)
    }

    /// Finds the live key with this digest, either in the cache or in the database.
    pub(crate) async fn look_up(
        &self,
        digest: &[u8; 32],
    ) -> Result<Option<Arc<Key>>, DatabaseError> {
        let (digest, now) = (*digest, self.inner.clock.unix());
        let live = |key: &Arc<Key>| key.state(now) == KeyState::Live;
        let asked_at = match self.inner.memory.as_ref().map(|memory| memory.look(&digest)) {
            Some(Look::Known(key)) => return Ok(Some(key).filter(live)),
            Some(Look::Ask(version)) => version,
            None => None,
        };
        // Boxed to keep the future of cached keys small.
        let read = Box::pin(self.inner.pools.read(move |db| find_digest(db, &digest, now)));
        let found = read.await?;
        let Some(key) = found.map(Arc::new) else { return Ok(None) };
        if let (Some(memory), Some(version)) = (&self.inner.memory, asked_at) {
            memory.keep(digest, Arc::clone(&key), version);
        }
        Ok(Some(key))
    }

    /// Records that a key was just used.
    pub(crate) fn note_use(&self, id: i64) {
        let now = self.inner.clock.unix();
        self.used().insert(id, now);
        let flushed = self.inner.flushed_at.load(Ordering::Relaxed);
        // If the clock was set back, the difference stays negative until the clock has caught up.
        let due = now.abs_diff(flushed) >= FLUSH_EVERY
            && self
                .inner
                .flushed_at
                .compare_exchange(flushed, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if let (true, Ok(runtime)) = (due, tokio::runtime::Handle::try_current()) {
            let store = self.clone();
            runtime.spawn(async move { store.flush_or_warn().await });
        }
    }

    /// Writes the pending last-used times. While keys are used, this happens automatically about
    /// once a minute.
    ///
    /// # Errors
    /// Returns any database error. Even if a flush fails or is aborted, the next flush writes the
    /// remaining times.
    pub async fn flush(&self) -> Result<(), DatabaseError> {
        let mut taken = Taken::all_of(self);
        while taken.written < taken.times.len() {
            let end = taken.times.len().min(taken.written + BATCH);
            let rows = taken.times[taken.written..end].to_vec();
            self.inner.pools.write(move |db| note_all(db, &rows)).await?;
            taken.written = end;
        }
        Ok(())
    }

    /// Like [`flush`](Self::flush), but logs the error.
    pub(crate) async fn flush_or_warn(&self) {
        if let Err(error) = self.flush().await {
            log::warn!("the last-used times of keys could not be recorded: {error}");
        }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<i64, i64>> {
        self.inner.used.lock()
    }
}

/// The last-used times that a flush has taken. When this is dropped, unwritten times become pending
/// again.
struct Taken<'a> {
    store: &'a KeyStore,
    times: Vec<(i64, i64)>,
    /// Number of times written so far.
    written: usize,
}

impl<'a> Taken<'a> {
    fn all_of(store: &'a KeyStore) -> Self {
        let mut times: Vec<_> = store.used().drain().collect();
        // To prevent deadlocks, replicas that serve the same keys must lock rows in the same order.
        times.sort_unstable();
        Self { store, times, written: 0 }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut pending = self.store.used();
        for (id, at) in self.times.drain(self.written..) {
            // The key might have been used again in the meantime.
            pending.entry(id).or_insert(at);
        }
    }
}

/// Writes last-used times, unless another replica has already recorded a later one.
fn note_all(db: &mut Db, used: &[(i64, i64)]) -> Result<(), DatabaseError> {
    transaction(db, |db| {
        for (id, at) in used {
            let older = api_key::last_used_at.is_null().or(api_key::last_used_at.lt(at));
            diesel::update(api_key::table.find(id).filter(older.assume_not_null()))
                .set(api_key::last_used_at.eq(at))
                .execute(db)?;
        }
        Ok(())
    })
}
