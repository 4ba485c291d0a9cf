//! Implements takedowns, which are carried out by the process that has the write lock.

use std::time::Duration;

use database::DatabaseError;

use super::context::JobContext;
use super::error::JobError;
use super::intake_state::IntakeState;
use super::write_session::Session;
use crate::model::address::{Address, bucket_key_of};
use crate::model::identity::Identity;
use crate::store::removals::{self, AuditEntry, Removal};
use crate::store::{buckets, crawls, generations, rejected_lines};

/// How often to check on a removal that another command is carrying out.
const PAUSE: Duration = Duration::from_millis(200);
/// Suffix of a storage account's second name; see [`Address::bucket_key`].
const SECONDARY: &str = "-secondary";

/// Adds all addresses of a bucket to the removal list, which hides its files, and waits until their
/// data is erased. Returns the removal of `address`, with the number of files under all addresses.
/// Files that an earlier removal has erased don't count.
pub fn remove(
    context: &JobContext,
    address: &str,
    prefix: &str,
    reason: &str,
    operator: &str,
) -> Result<Removal, JobError> {
    let address = parse(address)?;
    // Fail right away if the index can't be opened, since the request could never be carried out.
    drop(context.open_index()?);
    let act = AuditEntry { reason, operator, at: context.clock.unix() };
    let mut known = vec![address.as_str().to_owned()];
    known.extend(other_addresses(context, &address, &known)?);
    // All at once: if this process is killed, no address is left visible.
    let mut waiting = request(context, &known, prefix, &act)?;
    let given = waiting.first().map(|(id, _)| *id);
    let (mut done, mut files) = (Vec::new(), 0);
    while !waiting.is_empty() {
        for (id, was_done) in waiting.drain(..) {
            let removal = carried_out(context, &address, id)?;
            files += if was_done { 0 } else { removal.files };
            done.push(removal);
        }
        // Meanwhile, a load may have added files that it had already read under another address.
        let others = other_addresses(context, &address, &known)?;
        waiting = request(context, &others, prefix, &act)?;
        known.extend(others);
    }
    forget_older(context)?;
    clear_log(context)?;
    let given = done.into_iter().find(|removal| Some(removal.id) == given);
    let given =
        given.ok_or_else(|| JobError::Invalid("the removal was not recorded".to_owned()))?;
    Ok(Removal { files, ..given })
}

/// Requests a removal for each address, in one transaction. Returns their ids, and whether they were
/// completed before.
fn request(
    context: &JobContext,
    addresses: &[String],
    prefix: &str,
    act: &AuditEntry<'_>,
) -> Result<Vec<(i64, bool)>, JobError> {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    Ok(context.pools.write_blocking(|db| -> Result<_, DatabaseError> {
        let mut ids = Vec::with_capacity(addresses.len());
        for address in addresses {
            ids.push(removals::request(db, address, prefix, act)?);
        }
        generations::touch(db)?;
        Ok(ids)
    })?)
}

/// Returns the other addresses under which the bucket is indexed or crawled.
fn other_addresses(
    context: &JobContext,
    address: &Address,
    known: &[String],
) -> Result<Vec<String>, JobError> {
    // A storage account has a second name for its copy in another region.
    let account = address.name();
    let account = account.strip_suffix(SECONDARY).unwrap_or(account);
    let names = [account.to_owned(), format!("{account}{SECONDARY}")];
    let mut others = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
        let mut similar = Vec::new();
        for name in &names {
            similar.extend(buckets::addresses_like(db, name)?);
            similar.extend(crawls::addresses_like(db, name)?);
        }
        Ok(similar)
    })?;
    let key = address.bucket_key();
    others.retain(|other| bucket_key_of(other) == key && !known.contains(other));
    others.sort_unstable();
    others.dedup();
    Ok(others)
}

/// Waits until a removal is completed, carrying it out unless another command does.
fn carried_out(context: &JobContext, address: &Address, id: i64) -> Result<Removal, JobError> {
    let mut logged = false;
    loop {
        if let Some(mut session) = Session::try_open(context, "a removal is being carried out")? {
            apply_pending_removals(&mut session)?;
        }
        let done = context.pools.read_blocking(|db| removals::find(db, id))?;
        match done {
            Some(done) if done.applied_at.is_some() => return Ok(done),
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

/// Waits until generations from before a rebuild, which still contain the files, are no longer
/// used.
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

/// Takes all addresses of a bucket off the removal list. The next load restores its files.
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
    let key = address.bucket_key();
    let act = AuditEntry { reason, operator, at: context.clock.unix() };
    let is_waiting = |removal: &Removal| bucket_key_of(&removal.address) == key;
    if context.pools.read_blocking(removals::pending)?.iter().any(is_waiting) {
        let hidden = format!("{address} is on the removal list, but its files are not erased yet");
        let why = "they stay hidden; run unremove again when `buckets removals` shows the removal \
                   in force";
        return Err(JobError::Invalid(format!("{hidden}: {why}")));
    }
    Ok(context.pools.write_blocking(|db| removals::lift(db, address.as_str(), &act))?)
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

/// Returns the saved progress of a stopped run after a removal, or `None` if nothing changes.
fn notes_without(session: &Session, removal: &Removal) -> Result<Option<String>, JobError> {
    let Some(open) = &session.writer.journal().open else { return Ok(None) };
    let pools = &session.context.pools;
    let bucket = pools.read_blocking(|db| buckets::by_address(db, &removal.address))?;
    let Some(bucket) = bucket else { return Ok(None) };
    // Progress that can't be parsed, e.g. before the first checkpoint, won't be used.
    let Ok(before) = serde_json::from_str::<IntakeState>(&open.progress) else {
        return Ok(None);
    };
    let mut state = before.clone();
    state.take_down(bucket.id, removal);
    if state == before {
        return Ok(None);
    }
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

/// Marks a removal as completed, and records the new state of the index if the removal has changed
/// it.
pub fn complete(
    context: &JobContext,
    removal: &Removal,
    files: u64,
    identity: Option<&Identity>,
) -> Result<(), JobError> {
    let now = context.clock.unix();
    context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
        // Pages and bad lines contain file names. A bad line could be from any bucket, so clear
        // them all. Crawls lock their own row before their bucket's, so do this before locking the
        // bucket.
        crawls::drop_pages(db, &removal.address, &removal.prefix)?;
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

fn parse(address: &str) -> Result<Address, JobError> {
    Address::parse(address).map_err(|error| JobError::Invalid(error.to_string()))
}
