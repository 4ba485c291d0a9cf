//! Permanent removal of events, venues and organizers.

use std::sync::atomic::Ordering;

use database::{DatabaseError, Db};

use super::{event_writes, linked_writes};
use crate::error::Error;
use crate::model::event::Event;
use crate::model::linked::Linked;
use crate::state::State;
use crate::store::media::Media;
use crate::store::{erasure, sql};

/// Erases an event. For mirrors and webhooks it first moves to the trash. Returns whether its image
/// was removed.
pub fn event(db: &mut Db, old: Event, now: i64) -> Result<bool, Error> {
    let event = match old.status.is_trashed() {
        true => old,
        false => event_writes::trash(db, &old, now)?,
    };
    Ok(erasure::event(db, &event, now)?)
}

/// Erases a venue or an organizer. Returns whether its image was removed.
pub fn linked(db: &mut Db, row: Linked, now: i64) -> Result<bool, Error> {
    let row = match row.status.is_trashed() {
        true => row,
        false => linked_writes::trash(db, row, now)?,
    };
    Ok(erasure::linked(db, &row, now)?)
}

/// Completes an erasure after its transaction: removes the files of its images. The write-ahead log of
/// SQLite is cleared by the next tick.
pub async fn finish(state: &State) {
    note(state);
    remove_files(state).await;
}

/// Records that this process has erased something.
pub fn note(state: &State) {
    state.has_erased.store(true, Ordering::Relaxed);
}

/// Removes the files of erased images. A failure is logged, and the next tick retries.
pub async fn remove_files(state: &State) {
    if let Err(error) = try_remove_files(state).await {
        log::warn!("cannot remove the files of erased images: {error}");
    }
}

async fn try_remove_files(state: &State) -> Result<(), DatabaseError> {
    // Most ticks find none, and need no writer.
    if !state.pools.read(erasure::has_files).await? {
        return Ok(());
    }
    let mut removal = FileRemoval::default();
    while !removal.is_over {
        let (media, now) = (state.media.clone(), state.clock.unix());
        removal = state.pools.write(move |db| removal.step(db, &media, now)).await?;
    }
    removal.report();
    Ok(())
}

/// One removal of all files of erased images that no other image uses, in short transactions. The
/// entry of a file that stays is kept for the next removal.
#[derive(Clone, Debug, Default)]
pub struct FileRemoval {
    /// Time and name of the last examined file.
    last: (i64, String),
    /// Whether all files have been examined.
    pub is_over: bool,
    /// Number of files that stay because they were stored just now.
    pub spared: usize,
    /// Number of files that cannot be removed.
    failed: usize,
    /// The first of these, and the reason.
    failure: String,
}

impl FileRemoval {
    /// Removes the next files inside a transaction.
    pub fn step(&self, db: &mut Db, media: &Media, now: i64) -> Result<FileRemoval, DatabaseError> {
        sql::one_writer(db)?;
        let mut next = self.clone();
        let files = erasure::files(db, (self.last.0, &self.last.1))?;
        next.is_over = files.len() < erasure::FILES;
        for erasure::ErasedFile { file, erased_utc, uses } in files {
            let removed = if uses > 0 { Ok(true) } else { media.remove(&file, now) };
            match removed {
                Ok(true) => erasure::forget_file(db, &file)?,
                Ok(false) => next.spared += 1,
                Err(error) => {
                    if next.failed == 0 {
                        next.failure = format!("{file}: {error}");
                    }
                    next.failed += 1;
                }
            }
            next.last = (erased_utc, file);
        }
        Ok(next)
    }

    /// Logs the number of files that cannot be removed.
    pub fn report(&self) {
        if self.failed > 0 {
            let (failed, failure) = (self.failed, &self.failure);
            log::warn!("cannot remove {failed} files of erased images; the first is {failure}");
        }
    }
}

/// Clears the write-ahead log of SQLite at the first call, and if this process has erased anything since the
/// last time.
pub async fn clear_log(state: &State) {
    if !state.has_erased.swap(false, Ordering::Relaxed) {
        return;
    }
    let pools = state.pools.clone();
    let clear = move || erasure::clear_log(&mut pools.connect()?);
    if !matches!(tokio::task::spawn_blocking(clear).await, Ok(Ok(()))) {
        // Readers prevented the checkpoint; the next tick retries.
        state.has_erased.store(true, Ordering::Relaxed);
    }
}
