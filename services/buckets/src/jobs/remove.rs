//! Takedowns. The process that has the write lock carries them out.

use std::time::Duration;

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use super::intake_state::IntakeState;
use super::write_session::Session;
use crate::model::address::Address;
use crate::model::identity::Identity;
use crate::store::removals::{self, AuditEntry, Removal};
use crate::store::{buckets, crawls, generations, rejected_lines};

/// Interval between checks on a removal that a load is carrying out.
const PAUSE: Duration = Duration::from_millis(200);

/// Adds an address to the removal list, which hides its files, and waits until their data is
/// erased.
pub fn remove(
    context: &JobContext,
    address: &str,
    prefix: &str,
    reason: &str,
    operator: &str,
) -> Result<Removal, JobError> {
    let address = parse(address)?;
    // Fail right away if we can't open the index. The request could never be carried out.
    drop(context.open_index()?);
    let act = AuditEntry { reason, operator, at: context.clock.unix() };
    let id = context.pools.write_blocking(|db| -> Result<i64, DatabaseError> {
        let id = removals::request(db, &address, prefix, &act)?;
        generations::touch(db)?;
        Ok(id)
    })?;
    let mut logged = false;
    loop {
        if let Some(mut session) = Session::try_open(context, "a removal is being carried out")? {
            apply_pending_removals(&mut session)?;
        }
        let done = context.pools.read_blocking(|db| removals::find(db, id))?;
        match done {
            Some(done) if done.applied_at.is_some() => {
                forget_older(context)?;
                clear_log(context)?;
                return Ok(done);
            }
            _ if !logged => {
                logged = true;
                log::info!(
                    target: "notice",
                    "{address}: the files are hidden; waiting for another command to erase them"
                );
            }
            _ => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// Empties SQLite's write-ahead log, which still contains erased lines and pages.
fn clear_log(context: &JobContext) -> Result<(), JobError> {
    match database::clear_log(&mut context.pools.connect()?) {
        Err(DatabaseError::Busy) => {
            log::warn!(
                "the write-ahead log is in use and may contain names of removed files; repeat the \
                 command later to empty it"
            );
            Ok(())
        }
        cleared => Ok(cleared?),
    }
}

/// Waits until generations from before a rebuild are no longer used. They still contain the files.
fn forget_older(context: &JobContext) -> Result<(), JobError> {
    let mut logged = false;
    loop {
        let generation = context.pools.read_blocking(generations::read)?.generation;
        if context.generations.sweep(generation)? {
            return Ok(());
        }
        if !logged {
            logged = true;
            log::info!("waiting for the last reader of an older generation");
        }
        std::thread::sleep(PAUSE);
    }
}

/// Removes an address from the removal list. The next load restores its files.
///
/// # Errors
/// Returns an error if a removal of this address hasn't erased its files yet.
pub fn unremove(
    context: &JobContext,
    address: &str,
    reason: &str,
    operator: &str,
) -> Result<usize, JobError> {
    let address = parse(address)?;
    let act = AuditEntry { reason, operator, at: context.clock.unix() };
    let is_waiting = |removal: &Removal| removal.address == address;
    if context.pools.read_blocking(removals::pending)?.iter().any(is_waiting) {
        let hidden = format!("{address} is on the removal list, but its files are not erased yet");
        let why = "they stay hidden; run unremove again when `buckets removals` shows the removal \
                   in force";
        return Err(JobError::Invalid(format!("{hidden}: {why}")));
    }
    Ok(context.pools.write_blocking(|db| removals::lift(db, &address, &act))?)
}

/// Carries out all pending removals. If a run was stopped, removes the buckets from its saved
/// progress too.
pub fn apply_pending_removals(session: &mut Session) -> Result<(), JobError> {
    for removal in session.context.pools.read_blocking(removals::pending)? {
        let notes = notes_without(session, &removal)?;
        apply_removal(session, &removal, notes)?;
    }
    Ok(())
}

/// Returns the saved progress of a stopped run without a removed bucket, or `None` if it doesn't
/// change.
fn notes_without(session: &Session, removal: &Removal) -> Result<Option<String>, JobError> {
    let Some(open) = &session.writer.journal().open else { return Ok(None) };
    let pools = &session.context.pools;
    let bucket = pools.read_blocking(|db| buckets::by_address(db, &removal.address))?;
    let Some(bucket) = bucket.filter(|_| removal.prefix.is_empty()) else { return Ok(None) };
    // If we can't parse it, for example because there hasn't been a checkpoint, it won't be used.
    let Ok(mut state) = serde_json::from_str::<IntakeState>(&open.progress) else {
        return Ok(None);
    };
    state.forget(bucket.id);
    Ok(Some(serde_json::to_string(&state).map_err(std::io::Error::other)?))
}

/// Erases the files of a removal and marks it as completed.
pub fn apply_removal(
    session: &mut Session,
    removal: &Removal,
    progress: Option<String>,
) -> Result<(), JobError> {
    if session.is_lost {
        return complete(&session.context, removal, 0, None);
    }
    let files = purge(session, removal, progress)?;
    complete(&session.context, removal, files, Some(&session.writer.journal().identity))
}

/// Marks a removal as completed. If it has changed the index, records the new state of the index.
pub fn complete(
    context: &JobContext,
    removal: &Removal,
    files: u64,
    identity: Option<&Identity>,
) -> Result<(), JobError> {
    let now = context.clock.unix();
    context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
        // Pages and bad lines contain names of files. A bad line can be from any bucket. Crawls
        // lock their own row before their bucket's, so this comes before the bucket.
        crawls::drop_pages(db, &removal.address)?;
        rejected_lines::clear(db)?;
        if removal.prefix.is_empty() {
            buckets::unlist(db, &removal.address)?;
        }
        removals::applied(db, removal.id, files, now)?;
        match identity {
            None => generations::touch(db),
            Some(identity) => generations::published(db, identity),
        }
    })?;
    clear_log(context)
}

/// Erases a removal's files and returns the number of files that were visible.
pub fn purge(
    session: &mut Session,
    removal: &Removal,
    progress: Option<String>,
) -> Result<u64, JobError> {
    let pools = &session.context.pools;
    let known = pools.read_blocking(|db| buckets::by_address(db, &removal.address))?;
    let prefix = Some(removal.prefix.as_str()).filter(|prefix| !prefix.is_empty());
    match known {
        Some(bucket) => Ok(session.writer.remove(removal.id, bucket.id, prefix, progress)?),
        None => Ok(0),
    }
}

fn parse(address: &str) -> Result<String, JobError> {
    let address = Address::parse(address);
    Ok(address.map_err(|error| JobError::Invalid(error.to_string()))?.as_str().to_owned())
}
