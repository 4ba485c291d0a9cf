//! `purge`: permanently removes trashed resources, or individual events.

use std::fmt;

use database::{DatabaseError, Db};
use serde::Serialize;

use super::writer_queue::writer_queue;
use crate::app::erasure::{self, FileRemoval};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::state::State;
use crate::store::{self, events, linked_posts, sql, transfer};

/// Number of resources to remove per transaction.
const BATCH: usize = 20;

/// Number of resources of each kind to find per search. Each search reads the whole trash.
const FOUND: i64 = 10_000;

const DAY_SECONDS: i64 = 86_400;

/// Selects the resources to remove.
#[derive(Clone, Debug, Default)]
pub struct PurgeOptions {
    /// Remove resources that have been in the trash for more than this number of days.
    pub older_than: Option<i64>,
    /// Ids of events to remove, regardless of their status.
    pub events: Vec<i64>,
    /// Only count the resources.
    pub dry_run: bool,
}

/// The number of resources that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Purged {
    pub events: i64,
    pub venues: i64,
    pub organizers: i64,
    /// Images that were removed because nothing else used them. Not counted in a dry run.
    pub images: i64,
    /// Number of requested events that don't exist.
    pub missing: i64,
}

impl Purged {
    fn add(&mut self, other: Purged) {
        self.events += other.events;
        self.venues += other.venues;
        self.organizers += other.organizers;
        self.images += other.images;
        self.missing += other.missing;
    }

    fn count(&mut self, kind: Kind) -> &mut i64 {
        match kind {
            Kind::Venue => &mut self.venues,
            Kind::Organizer => &mut self.organizers,
        }
    }
}

impl fmt::Display for Purged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Purged { events, venues, organizers, images, missing } = self;
        write!(
            f,
            "{events} events, {venues} venues, {organizers} organizers and {images} images "
        )?;
        write!(f, "removed, {missing} events not found")
    }
}

/// Removes resources in short transactions. After an error or interruption, run it again to remove
/// the rest.
///
/// # Errors
/// Returns an error if the database fails or remains busy.
pub fn purge(state: &State, options: &PurgeOptions) -> Result<Purged, Error> {
    let now = state.clock.unix();
    let before = options.older_than.map(|days| now - days * DAY_SECONDS);
    if options.dry_run {
        return state.pools.read_blocking(|db| Ok(count(db, before, &options.events)?));
    }
    let mut purged = Purged::default();
    let mut queue = writer_queue(&state.pools);
    for ids in options.events.chunks(BATCH) {
        purged.add(queue.write(|db| remove_events(db, ids, now))?);
    }
    if let Some(before) = before {
        loop {
            let found = state.pools.read_blocking(|db| expired(db, before))?;
            let counted = purged;
            for some in found.chunks(BATCH) {
                purged.add(queue.write(|db| remove_expired(db, some, (before, now)))?);
            }
            if purged == counted {
                break;
            }
        }
    }
    let mut removal = FileRemoval::default();
    while !removal.is_over {
        removal = queue.write(|db| Ok(removal.step(db, &state.media, now)?))?;
    }
    removal.report();
    if removal.spared > 0 {
        log::warn!(
            "{} image files were stored within the last ten minutes and may be in use again; a server \
             removes them later, or repeat the command",
            removal.spared
        );
    }
    match database::clear_log(&mut state.pools.connect()?) {
        Err(DatabaseError::Busy) => log::warn!(
            "the write-ahead log is in use and may contain what was removed; repeat the command later \
             to empty it"
        ),
        cleared => cleared?,
    }
    Ok(purged)
}

fn count(db: &mut Db, before: Option<i64>, ids: &[i64]) -> Result<Purged, DatabaseError> {
    let mut found = Purged::default();
    for id in ids {
        match events::find(db, *id)? {
            // This event has already been counted as part of the trash.
            Some(event) if event.status.is_trashed() && before > Some(event.modified_utc) => {}
            Some(_) => found.events += 1,
            None => found.missing += 1,
        }
    }
    if let Some(before) = before {
        found.events += store::erasure::count_trashed(db, "events", before)?;
        for kind in Kind::ALL {
            *found.count(kind) += store::erasure::count_trashed(db, kind.collection(), before)?;
        }
    }
    Ok(found)
}

fn remove_events(db: &mut Db, ids: &[i64], now: i64) -> Result<Purged, Error> {
    sql::one_writer(db)?;
    let mut removed = Purged::default();
    for id in ids {
        match events::find(db, *id)? {
            Some(event) => {
                removed.events += 1;
                removed.images += i64::from(erasure::event(db, event, now)?);
            }
            None => removed.missing += 1,
        }
    }
    Ok(removed)
}

/// A resource in the trash.
#[derive(Clone, Copy)]
enum Trashed {
    Event(i64),
    Linked(Kind, i64),
}

/// Finds resources that were trashed before the given time. Other writers don't have to wait for
/// this search, because it runs outside the transactions that remove the resources.
fn expired(db: &mut Db, before: i64) -> Result<Vec<Trashed>, Error> {
    // While an export is being loaded, row counts must not change, because they are compared at the
    // end.
    if transfer::unfinished(db)?.is_some() {
        return Ok(Vec::new());
    }
    let events = store::erasure::trashed(db, "events", before, FOUND)?;
    let mut found: Vec<Trashed> = events.into_iter().map(Trashed::Event).collect();
    for kind in Kind::ALL {
        let ids = store::erasure::trashed(db, kind.collection(), before, FOUND)?;
        found.extend(ids.into_iter().map(|id| Trashed::Linked(kind, id)));
    }
    Ok(found)
}

/// Removes the given resources, skipping any that are no longer in the trash.
fn remove_expired(
    db: &mut Db,
    found: &[Trashed],
    (before, now): (i64, i64),
) -> Result<Purged, Error> {
    sql::one_writer(db)?;
    let mut removed = Purged::default();
    // An export might have started loading after the search.
    if transfer::unfinished(db)?.is_some() {
        return Ok(removed);
    }
    for one in found {
        match *one {
            Trashed::Event(id) => {
                let event = events::find(db, id)?
                    .filter(|row| row.status.is_trashed() && row.modified_utc < before);
                if let Some(event) = event {
                    removed.events += 1;
                    removed.images += i64::from(erasure::event(db, event, now)?);
                }
            }
            Trashed::Linked(kind, id) => {
                let row = linked_posts::find(db, kind, id)?
                    .filter(|row| row.status.is_trashed() && row.modified_utc < before);
                if let Some(row) = row {
                    *removed.count(kind) += 1;
                    removed.images += i64::from(erasure::linked(db, row, now)?);
                }
            }
        }
    }
    Ok(removed)
}

/// Removes resources that have been in the trash for TRASH_DAYS, and the files of all erased
/// images. Several replicas can run this concurrently, because they take turns and each transaction
/// only removes rows that still exist. Failures are logged, and the next tick retries.
pub async fn empty_trash(state: &State) {
    let days = state.site.settings.trash_days;
    if days > 0 {
        let purged = remove_old_trash(state, days).await;
        if purged != Purged::default() {
            log::info!("trash emptied: {purged}");
            erasure::note(state);
        }
    }
    erasure::remove_files(state).await;
    erasure::clear_log(state).await;
}

async fn remove_old_trash(state: &State, days: i64) -> Purged {
    let now = state.clock.unix();
    let mut purged = Purged::default();
    let times = (now - days * DAY_SECONDS, now);
    if let Err(error) = remove_all_expired(state, times, &mut purged).await {
        log::warn!("cannot empty the trash: {error}");
    }
    purged
}

async fn remove_all_expired(
    state: &State,
    (before, now): (i64, i64),
    purged: &mut Purged,
) -> Result<(), Error> {
    loop {
        let found = state.pools.read(move |db| expired(db, before)).await?;
        let counted = *purged;
        for some in found.chunks(BATCH) {
            let some = some.to_vec();
            let remove = move |db: &mut Db| remove_expired(db, &some, (before, now));
            purged.add(state.pools.write_with_retries(Error::is_busy, remove).await?);
        }
        if *purged == counted {
            return Ok(());
        }
    }
}
