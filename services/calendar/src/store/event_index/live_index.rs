//! The index that all requests in a process share. It is brought up to date before each use.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use database::{DatabaseError, Db};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::change_log;
use super::deadline::{Deadline, ListError};
use super::entries::{self, Entry};
use super::index::Index;
use super::links;
use super::month::{self, MonthDays};
use super::query::{self, Found, Sets};
use crate::model::changes::{Change, ChangeFilter};
use crate::model::list::{EventFilter, Paging};
use crate::model::search::Words;
use crate::store::links::of_events;
use crate::store::read_transactions::read_transaction;

/// If the index is at least this many changes behind, it is rebuilt.
const MAX_CHANGES: i64 = 50_000;

/// If the changed events have more than this number of bytes of text, the index is rebuilt, because
/// a rebuild reads events in batches.
const MAX_BYTES: i64 = 64 << 20;

/// If at most this many events have changed, their search text is read without checking its size
/// first.
const FEW: usize = 50;

/// Number of events per batch when building the index.
const BATCH: usize = 500;

/// Maximum number of batches in the queue during a build.
const BATCHES: usize = 8;

/// Interval at which a waiting request checks whether the index is ready.
const INTERVAL: Duration = Duration::from_millis(5);

/// The index, together with a request's deadline.
#[derive(Clone, Copy)]
pub struct IndexAccess<'a> {
    pub index: &'a EventIndex,
    /// When to abandon the list request.
    pub deadline: Deadline,
}

/// An index of all events, shared by the whole process. Empty until it is first built.
#[derive(Default)]
pub struct EventIndex {
    index: RwLock<Option<Index>>,
    /// Held by the thread that is building the index.
    building: Mutex<()>,
    /// How long the last build took.
    build_time: Mutex<Option<Duration>>,
}

/// A page of results, and the state of the index it is from.
pub struct Peeked {
    pub ids: Vec<i64>,
    pub total: i64,
    /// Number of the last change in this state.
    pub seq: i64,
}

/// The result of a lookup in the current index.
enum LookUp<T> {
    Done(T),
    /// These links must be loaded from the database first.
    Missing(Vec<links::LinkFilter>),
}

impl EventIndex {
    /// Returns the ids on a page and the total number of matches, or `None` if the index hasn't
    /// been built and SQL can answer the request instead. Must run in a read transaction, so that
    /// the index and the database are in the same state.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is behind the index, the deadline has passed, or the
    /// database fails.
    pub fn page(
        &self,
        db: &mut Db,
        deadline: Deadline,
        filter: &EventFilter,
        paging: Paging,
    ) -> Result<Option<(Vec<i64>, i64)>, ListError> {
        let sets = Sets::of(db, filter)?;
        let waits = needs_index(filter).then_some(deadline);
        let mut rows = Vec::new();
        loop {
            let looked_up = self.current(db, waits, |index| {
                let mut known = index.links.lock();
                rows.drain(..).for_each(|rows| known.fill(rows, &index.table));
                let missing = sets.links.iter().filter_map(|filter| known.missing(filter));
                let missing: Vec<links::LinkFilter> = missing.collect();
                drop(known);
                match missing.is_empty() {
                    true => query::find(index, &sets, deadline, filter, paging).map(LookUp::Done),
                    false => Ok(LookUp::Missing(missing)),
                }
            })?;
            match looked_up {
                None => return Ok(None),
                Some(LookUp::Done(found)) => {
                    return found.page(db, deadline, &filter.words, paging).map(Some);
                }
                Some(LookUp::Missing(missing)) => {
                    deadline.check()?;
                    for filter in missing {
                        rows.push(links::read(db, filter)?);
                    }
                }
            }
        }
    }

    /// Like [`EventIndex::page`], but never reads the database. Returns `None` if the index can't
    /// answer the request on its own. Also returns the number of the last change in the index.
    pub fn peek(&self, deadline: Deadline, filter: &EventFilter, paging: Paging) -> Option<Peeked> {
        let sets = Sets::known(filter)?;
        let slot = self.read();
        let index = slot.as_ref()?;
        let known = index.links.lock();
        let is_known = sets.links.iter().all(|filter| known.missing(filter).is_none());
        drop(known);
        if !is_known {
            return None;
        }
        match query::find(index, &sets, deadline, filter, paging) {
            Ok(Found::Page(ids, total)) => Some(Peeked { ids, total, seq: index.seq }),
            Ok(Found::Doubtful(..)) | Err(_) => None,
        }
    }

    /// Returns the first event changes and the total count. `None` if the index hasn't been built.
    /// Must run in a read transaction.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is behind the index, or the database fails.
    pub fn changes(
        &self,
        db: &mut Db,
        filter: &ChangeFilter,
        rows: i64,
    ) -> Result<Option<(Vec<Change>, i64)>, ListError> {
        self.current(db, None, |index| Ok(query::changes(index, filter, rows)))
    }

    /// Returns the public events on each day of a month. `None` if the index hasn't been built.
    /// Must run in a read transaction.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is behind the index, or the database fails.
    pub fn days(
        &self,
        db: &mut Db,
        midnights: &[i64],
        most: usize,
    ) -> Result<Option<MonthDays>, ListError> {
        self.current(db, None, |index| Ok(month::days(index, midnights, most)))
    }

    /// Calls `look_up` with the index, updated to the connection's snapshot. If the index must be
    /// built first, waits until the deadline, or returns `None` if there isn't a deadline.
    fn current<T>(
        &self,
        db: &mut Db,
        waits: Option<Deadline>,
        mut look_up: impl FnMut(&Index) -> Result<T, ListError>,
    ) -> Result<Option<T>, ListError> {
        loop {
            let seq = change_log::latest(db)?;
            // Don't read the database while holding this lock, because a waiting writer would then
            // block all other readers.
            if let Some(index) = self.read().as_ref() {
                match index.seq.cmp(&seq) {
                    Ordering::Equal => return look_up(index).map(Some),
                    Ordering::Greater => return Err(ListError::Outdated),
                    Ordering::Less => {}
                }
            }
            if self.follow(db, seq)? {
                continue;
            }
            let Some(deadline) = waits else { return Ok(None) };
            deadline.check()?;
            match self.lock_building() {
                Some(_building) => self.build(db)?,
                None => thread::sleep(INTERVAL),
            }
        }
    }

    /// Builds or updates the index in a read transaction. Returns how many changes the index was
    /// behind, or 0 if it hadn't been built.
    ///
    /// # Errors
    ///
    /// Returns any database error.
    pub fn refresh(&self, db: &mut Db) -> Result<i64, DatabaseError> {
        read_transaction(db, |db| {
            let seq = change_log::latest(db)?;
            let lacked = self.read().as_ref().map_or(0, |index| (seq - index.seq).max(0));
            if !self.follow(db, seq)?
                && let Some(_building) = self.lock_building()
            {
                self.build(db)?;
            }
            Ok(lacked)
        })
    }

    /// Returns how long the last build took, or `None` if there hasn't been one.
    pub fn build_time(&self) -> Option<Duration> {
        *self.build_time.lock()
    }

    /// Returns the approximate memory use in bytes, or 0 before the first build.
    pub fn bytes(&self) -> usize {
        self.read().as_ref().map_or(0, Index::bytes)
    }

    /// Passes the number of events per status to `use_them` if the index has been built. A status
    /// can appear more than once.
    pub fn statuses(&self, use_them: impl FnOnce(&mut dyn Iterator<Item = (&str, usize)>)) {
        if let Some(index) = self.read().as_ref() {
            use_them(&mut index.table.statuses());
        }
    }

    /// Updates the index from the log, up to change `seq`. Returns false if it must be rebuilt.
    fn follow(&self, db: &mut Db, seq: i64) -> Result<bool, DatabaseError> {
        let Some((from, needs_links)) =
            self.read().as_ref().map(|index| (index.seq, !index.links.lock().is_empty()))
        else {
            return Ok(false);
        };
        if from >= seq {
            return Ok(true);
        }
        if seq - from > MAX_CHANGES || change_log::oldest(db)? > from + 1 {
            return Ok(false);
        }
        let changes = change_log::between(db, from, seq)?;
        let ids: BTreeSet<i64> = changes.iter().map(|change| change.event_id).collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        if ids.len() > FEW && entries::text_bytes(db, &ids)? > MAX_BYTES {
            return Ok(false);
        }
        let now = entries::by_ids(db, &ids)?;
        let links = if needs_links { Some(of_events(db, &ids)?) } else { None };
        let mut slot = self.write();
        // Another thread might have updated the index in the meantime.
        if let Some(index) = slot.take_if(|index| index.seq == from) {
            // If this fails or panics, the slot stays empty and the index is rebuilt.
            *slot = index.apply(seq, &changes, &now, links.as_ref());
        }
        Ok(slot.is_some())
    }

    fn lock_building(&self) -> Option<impl Drop> {
        self.building.try_lock()
    }

    fn build(&self, db: &mut Db) -> Result<(), DatabaseError> {
        let begun = Instant::now();
        let mut index = Index::at(change_log::latest(db)?);
        // One thread reads events while another one indexes them.
        let index = thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<Entry>>(BATCHES);
            let indexing = scope.spawn(move || {
                for entry in receiver.iter().flatten() {
                    // Events arrive in id order, so the position is always valid.
                    let _position = index.put(&entry);
                }
                index.order(super::columns::Key::Start);
                index
            });
            // If the other thread has panicked, drop the batches.
            let read = entries::each(db, BATCH, |entries| sender.send(entries).unwrap_or_default());
            drop(sender);
            let index = indexing.join().unwrap_or_else(|panic| resume_unwind(panic));
            read.map(|()| index)
        })?;
        *self.write() = Some(index);
        *self.build_time.lock() = Some(begun.elapsed());
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Index>> {
        self.index.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Index>> {
        self.index.write()
    }
}

/// Returns whether only the index can answer the request, i.e. whether it searches for words or its
/// window depends on clock changes.
fn needs_index(filter: &EventFilter) -> bool {
    filter.words != Words::default() || filter.window.depends_on_clock_changes()
}
