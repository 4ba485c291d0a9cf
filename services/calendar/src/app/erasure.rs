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

/// Removes the files of erased images, after the transaction that erased them. A failure is logged,
/// and the next tick retries. The write-ahead log of SQLite is cleared by the next tick.
pub async fn finish(state: &State) {
    state.has_erased.store(true, Ordering::Relaxed);
    let (media, now) = (state.media.clone(), state.clock.unix());
    if let Err(error) = state.pools.write(move |db| remove_files(db, &media, now)).await {
        log::warn!("cannot remove the files of erased images: {error}");
    }
}

/// Removes the files of erased images that no other image uses. A file that cannot be removed is
/// logged, and its entry is kept for the next attempt.
pub fn remove_files(db: &mut Db, media: &Media, now: i64) -> Result<(), DatabaseError> {
    sql::one_writer(db)?;
    for erasure::ErasedFile { file, erased_utc, uses } in erasure::files(db)? {
        let is_done = uses > 0
            || media.remove(&file, erased_utc, now).unwrap_or_else(|error| {
                log::warn!("cannot remove the image file {file}: {error}");
                false
            });
        if is_done {
            erasure::forget_file(db, &file)?;
        }
    }
    Ok(())
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
