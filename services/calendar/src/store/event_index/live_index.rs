//! The shared index of a process: built on first use, and updated before each use.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;

use database::{DatabaseError, Db};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::deadline::{Deadline, ListError};
use super::entries;
use super::index::Index;
use super::query;
use crate::model::list::{EventFilter, Paging};
use crate::store::read_transactions::read_transaction;

/// If the index is behind by more changes than this, it is rebuilt.
const MAX_CHANGES: i64 = 50_000;

/// If the changed events have more bytes of text than this, it is rebuilt, which reads them in
/// chunks.
const MAX_BYTES: i64 = 64 << 20;

/// Number of changed events whose texts are read without checking their size first.
const FEW: usize = 50;

/// Polling interval of a request that waits for the index.
const INTERVAL: Duration = Duration::from_millis(5);

/// The index, with the deadline of a request.
#[derive(Clone, Copy)]
pub struct IndexAccess<'a> {
    /// The index.
    pub index: &'a EventIndex,
    /// The moment at which the list request is abandoned.
    pub deadline: Deadline,
}

/// The index of all events in this process; empty until it is built.
#[derive(Default)]
pub struct EventIndex {
    index: RwLock<Option<Index>>,
    /// Locked by the thread that builds it.
    building: Mutex<()>,
}

impl EventIndex {
    /// Returns the ids of a page and the total number of matches. Must run in a read transaction,
    /// so index and database are in the same state.
    ///
    /// # Errors
    /// The connection is behind the index, the deadline has passed, or the database failed.
    pub fn page(
        &self,
        db: &mut Db,
        deadline: Deadline,
        filter: &EventFilter,
        paging: Paging,
    ) -> Result<(Vec<i64>, i64), ListError> {
        let linked = query::linked(db, filter)?;
        let found = loop {
            let seq = entries::latest(db)?;
            // Nothing is read from the database under this lock: a waiting writer would block all
            // other readers.
            if let Some(index) = self.read().as_ref() {
                match index.seq.cmp(&seq) {
                    Ordering::Equal => break query::find(index, linked, deadline, filter, paging)?,
                    Ordering::Greater => return Err(ListError::Outdated),
                    Ordering::Less => {}
                }
            }
            deadline.check()?;
            if !self.follow(db, seq)? {
                let Some(_building) = self.lock_building() else {
                    std::thread::sleep(INTERVAL);
                    continue;
                };
                self.build(db)?;
            }
        };
        found.page(db, deadline, &filter.words, paging)
    }

    /// Builds or updates the index in a read transaction.
    ///
    /// # Errors
    /// The database failed.
    pub fn refresh(&self, db: &mut Db) -> Result<(), DatabaseError> {
        read_transaction(db, |db| {
            let seq = entries::latest(db)?;
            if !self.follow(db, seq)?
                && let Some(_building) = self.lock_building()
            {
                self.build(db)?;
            }
            Ok(())
        })
    }

    /// Follows the log up to a change. Returns false if the index must be rebuilt.
    fn follow(&self, db: &mut Db, seq: i64) -> Result<bool, DatabaseError> {
        let Some(from) = self.read().as_ref().map(|index| index.seq) else { return Ok(false) };
        if from >= seq {
            return Ok(true);
        }
        if seq - from > MAX_CHANGES || entries::oldest(db)? > from + 1 {
            return Ok(false);
        }
        let changes = entries::between(db, from, seq)?;
        let ids: BTreeSet<i64> = changes.iter().map(|change| change.event_id).collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        if ids.len() > FEW && entries::text_bytes(db, &ids)? > MAX_BYTES {
            return Ok(false);
        }
        let now = entries::by_ids(db, &ids)?;
        let mut slot = self.write();
        // Another thread may have followed the log meanwhile.
        if let Some(mut index) = slot.take_if(|index| index.seq == from) {
            // If this panics, the slot stays empty and the index is rebuilt.
            index.apply(seq, &changes, now);
            *slot = Some(index);
        }
        Ok(true)
    }

    fn lock_building(&self) -> Option<impl Drop> {
        self.building.try_lock()
    }

    fn build(&self, db: &mut Db) -> Result<(), DatabaseError> {
        let mut index = Index::at(entries::latest(db)?);
        entries::each(db, |entries| entries.into_iter().for_each(|entry| index.add(entry)))?;
        index.fill_orders();
        *self.write() = Some(index);
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Index>> {
        self.index.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Index>> {
        self.index.write()
    }
}
