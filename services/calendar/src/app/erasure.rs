//! Permanently deletes events, venues and organizers.

use std::sync::atomic::Ordering;

use database::{DatabaseError, Db};

use super::{event_writes, linked_writes};
use crate::error::Error;
use crate::model::event::Event;
use crate::model::linked::Linked;
use crate::state::State;
use crate::store::media::Media;
use crate::store::{erasure, sql};

/// Erases an event. It goes through the trash first, so that mirrors and webhooks learn about the
/// deletion. Returns whether its image was removed too.
pub fn event(db: &mut Db, old: Event, now: i64) -> Result<bool, Error> {
    let event = match old.status.is_trashed() {
        true => old,
        false => event_writes::trash(db, &old, now)?,
    };
    Ok(erasure::event(db, &event, now)?)
}

/// Erases a venue or an organizer. Returns whether its image was removed too.
pub fn linked(db: &mut Db, row: Linked, now: i64) -> Result<bool, Error> {
    let row = match row.status.is_trashed() {
        true => row,
        false => linked_writes::trash(db, row, now)?,
    };
    Ok(erasure::linked(db, &row, now)?)
}

/// Finishes an erasure after its transaction has committed, by deleting the image files. SQLite's
/// write-ahead log is cleared on the next tick.
pub async fn finish(state: &State) {
    note(state);
    remove_files(state).await;
}

/// Records that this process has erased something.
pub fn note(state: &State) {
    state.has_erased.store(true, Ordering::Relaxed);
}

/// Deletes the files of erased images. Failures are logged and retried on the next tick.
pub async fn remove_files(state: &State) {
    if let Err(error) = try_remove_files(state).await {
        log::warn!("cannot remove erased images' files: {error}");
    }
}

async fn try_remove_files(state: &State) -> Result<(), DatabaseError> {
    // On most ticks, there is nothing to delete, so don't block other writers.
    if !state.pools.read(erasure::has_files).await? {
        return Ok(());
    }
    let mut removal = FileRemoval::default();
    while !removal.is_over {
        let (media, now) = (state.media.clone(), state.clock.unix());
        let step = move |db: &mut Db| removal.step(db, &media, now);
        removal = state.pools.write_with_retries(DatabaseError::is_busy, step).await?;
    }
    removal.report();
    Ok(())
}

/// Deletes the files of erased images in short transactions, unless another image uses them. If a
/// file can't be deleted yet, its entry stays for the next run.
#[derive(Clone, Debug, Default)]
pub struct FileRemoval {
    /// Erasure time and name of the last file processed.
    last: (i64, String),
    /// Whether all files have been processed.
    pub is_over: bool,
    /// Number of files that were kept because they have only just been stored.
    pub spared: usize,
    /// Number of files that could not be deleted.
    failed: usize,
    /// Name and error of the first failure.
    failure: String,
}

impl FileRemoval {
    /// Processes the next few files, inside a transaction.
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

    /// Logs how many files could not be deleted.
    pub fn report(&self) {
        if self.failed > 0 {
            let (failed, failure) = (self.failed, &self.failure);
            log::warn!(
                "cannot remove {failed} files of erased images; the first failure is {failure}"
            );
        }
    }
}

/// Clears SQLite's write-ahead log if this process has erased anything since the last call. The
/// first call always clears it.
pub async fn clear_log(state: &State) {
    if !state.has_erased.swap(false, Ordering::Relaxed) {
        return;
    }
    let pools = state.pools.clone();
    let clear = move || database::clear_log(&mut pools.connect()?);
    if !matches!(tokio::task::spawn_blocking(clear).await, Ok(Ok(()))) {
        // Readers blocked the checkpoint, so try again on the next tick.
        state.has_erased.store(true, Ordering::Relaxed);
    }
}
