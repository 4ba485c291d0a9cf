//! Loads events, venues, organizers and terms, using the same code that creates them over HTTP.
//!
//! Each line is the body of a create request plus a `type`: `event`, `venue`, `organizer`,
//! `category` or `tag`. Existing resources are left unchanged, or updated on request. Many lines
//! share a transaction, but a line with an error is rolled back on its own and reported.
//!
//! While a server is using the database, transactions are short. Otherwise, a file is loaded in
//! long transactions, because SQLite writes each changed index page once per transaction.

use std::fmt;
use std::io::BufRead;

use database::{BulkWriter, Db, transaction};
use serde::Serialize;

use super::dry_run::dry_run;
use super::load_batches::{BATCH, Batches, Parsed, Source, json_lines};
use super::spreadsheet::{DateOrder, TableRows};
use super::writer_queue::writer_queue;
use crate::app::{
    LoadedLine, Loading, MovedEvents, Undone, load_line, load_new_events, with_context,
};
use crate::error::Error;
use crate::model::role::User;
use crate::state::State;
use crate::store::{sql, statistics, users};
use crate::wire::params::Params;

/// Number of lines per transaction of a [`BulkWriter`].
const BULK: u64 = 100_000;

/// Size in bytes at which no more batches are added to a [`BulkWriter`] transaction.
const BULK_BYTES: usize = 256 << 20;

/// Maximum number of failed lines to report individually. The same limit applies to warnings.
const MAX_FAULTS: usize = 100;

#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// Run the load in a single transaction and roll it back.
    pub dry_run: bool,
    /// Update existing resources to match their lines.
    pub upsert: bool,
}

/// The result of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loaded {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Number of lines with errors. These lines didn't change anything.
    pub failed: u64,
    /// The first lines with errors.
    pub faults: Vec<Fault>,
    /// Number of values in loaded lines that had to be replaced.
    pub warned: u64,
    /// The first warnings.
    pub warnings: Vec<Fault>,
}

/// A line that could not be loaded, or had a value replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line number, starting from 1.
    pub line: u64,
    /// An explanation for the operator.
    pub message: String,
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loaded { created, updated, unchanged, failed, .. } = self;
        write!(f, "{created} created, {updated} updated, {unchanged} unchanged, {failed} failed")
    }
}

impl Loaded {
    /// Returns whether there were no lines at all.
    pub fn is_empty(&self) -> bool {
        self.created + self.updated + self.unchanged + self.failed == 0
    }

    fn add(&mut self, other: Loaded) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.failed += other.failed;
        self.faults.extend(other.faults);
        self.faults.truncate(MAX_FAULTS);
        self.warned += other.warned;
        self.warnings.extend(other.warnings);
        self.warnings.truncate(MAX_FAULTS);
    }

    fn note(&mut self, line: u64, message: String) {
        self.failed += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { line, message });
        }
    }

    fn warn(&mut self, line: u64, message: String) {
        self.warned += 1;
        if self.warnings.len() < MAX_FAULTS {
            self.warnings.push(Fault { line, message });
        }
    }
}

/// Loads JSON lines and then gathers statistics. While the database is busy or unreachable, retries
/// for up to a minute.
///
/// # Errors
/// Returns an error if the lines cannot be read, or the database fails. Batches written until then
/// are kept, and the error reports the last loaded line.
pub fn load(state: &State, lines: impl BufRead, options: LoadOptions) -> anyhow::Result<Loaded> {
    load_with(state, json_lines(lines), options, None)
}

/// Like [`load`], but for input that isn't piped from another program. All lines are available
/// immediately, so transactions can be long.
///
/// # Errors
/// Same as [`load`].
pub fn load_file(
    state: &State,
    lines: impl BufRead,
    options: LoadOptions,
) -> anyhow::Result<Loaded> {
    load_with(state, json_lines(lines), options, bulk_writer(state, options)?)
}

/// Like [`load`], but for events in a CSV table. `order` is the order of day and month in dates
/// with slashes.
///
/// # Errors
/// Same as [`load`]. Also fails if the first line does not consist of column names.
pub fn load_table(
    state: &State,
    table: impl BufRead,
    options: LoadOptions,
    order: Option<DateOrder>,
) -> anyhow::Result<Loaded> {
    load_with(state, TableRows::new(table, order)?, options, None)
}

/// Like [`load_table`], but for input that isn't piped from another program.
///
/// # Errors
/// Same as [`load_table`].
pub fn load_table_file(
    state: &State,
    table: impl BufRead,
    options: LoadOptions,
    order: Option<DateOrder>,
) -> anyhow::Result<Loaded> {
    load_with(state, TableRows::new(table, order)?, options, bulk_writer(state, options)?)
}

/// Opens a writer for long transactions. Returns `None` for dry runs, and if no such writer is
/// available.
fn bulk_writer(state: &State, options: LoadOptions) -> anyhow::Result<Option<BulkWriter>> {
    if options.dry_run {
        return Ok(None);
    }
    Ok(BulkWriter::open(&state.pools)?)
}

fn load_with(
    state: &State,
    source: impl Source,
    options: LoadOptions,
    bulk: Option<BulkWriter>,
) -> anyhow::Result<Loaded> {
    let writer = state.pools.read_blocking(first_user)?;
    let mut batches = Batches::new(source);
    let (mut loaded, mut moved) = (Loaded::default(), MovedEvents::default());
    let mut write =
        |db: &mut Db, batch: &[Parsed]| write(state, db, &writer, batch, (options, &mut moved));
    let outcome = match (options.dry_run, bulk) {
        (true, _) => dry_run(&state.pools, |db| {
            load_batches(&mut batches, &mut loaded, |batch| write(db, batch))
        }),
        (false, None) => {
            let mut queue = writer_queue(&state.pools);
            load_batches(&mut batches, &mut loaded, |batch| queue.write(|db| write(db, batch)))
        }
        (false, Some(mut bulk)) => load_in_bulk(&mut batches, &mut loaded, &mut bulk, write),
    };
    batches.progress.finish();
    // Lines loaded before a failure are kept, so they need statistics too.
    if loaded.created > 0
        && !options.dry_run
        && let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db))
    {
        log::warn!("cannot gather statistics, so the database will do it later: {error}");
    }
    match outcome {
        Err(error) if batches.loaded > 0 && !options.dry_run => Err(error.context(format!(
            "all lines up to {} are loaded ({loaded}); run the same command to resume",
            batches.loaded
        ))),
        outcome => outcome.map(|()| loaded),
    }
}

/// Loads many batches per transaction. If reading fails, the lines read before that are kept.
fn load_in_bulk(
    batches: &mut Batches<impl Source>,
    loaded: &mut Loaded,
    bulk: &mut BulkWriter,
    mut load_batch: impl FnMut(&mut Db, &[Parsed]) -> Result<Loaded, Error>,
) -> anyhow::Result<()> {
    loop {
        let (first, bytes) = (batches.loaded, batches.bytes);
        let (part, last, next) = bulk.write(|db| {
            let (mut part, mut last) = (Loaded::default(), first);
            while last - first < BULK && batches.bytes - bytes < BULK_BYTES {
                let batch = match batches.next() {
                    Ok(batch) => batch,
                    Err(error) => return Ok((part, last, Err(error))),
                };
                let Some((number, _)) = batch.last() else { return Ok((part, last, Ok(false))) };
                part.add(load_batch(db, &batch)?);
                last = *number;
            }
            Ok::<_, Error>((part, last, Ok(true)))
        })?;
        loaded.add(part);
        batches.loaded = last;
        if !next? {
            return Ok(());
        }
    }
}

fn load_batches(
    batches: &mut Batches<impl Source>,
    loaded: &mut Loaded,
    mut load_batch: impl FnMut(&[Parsed]) -> Result<Loaded, Error>,
) -> anyhow::Result<()> {
    loop {
        let batch = batches.next()?;
        let Some((last, _)) = batch.last() else { return Ok(()) };
        loaded.add(load_batch(&batch)?);
        batches.loaded = *last;
    }
}

/// Returns the first user, who becomes the author of everything that is loaded.
pub(super) fn first_user(db: &mut Db) -> Result<User, Error> {
    let users = users::list(db)?;
    users.into_iter().next().ok_or_else(|| Error::Internal("there are no users yet".to_owned()))
}

/// Writes a batch inside a transaction.
///
/// New events are stored together where possible. After a line that has to be loaded on its own,
/// the next attempt covers a single line, and each success doubles the number of lines.
fn write(
    state: &State,
    db: &mut Db,
    writer: &User,
    batch: &[Parsed],
    (options, moved): (LoadOptions, &mut MovedEvents),
) -> Result<Loaded, Error> {
    sql::one_writer(db)?;
    let mut loaded = Loaded::default();
    let (mut rest, mut attempt) = (batch, BATCH);
    while !rest.is_empty() {
        let lines = rest.iter().take(attempt).map_while(|(_, parsed)| parsed.as_ref().ok());
        let lines: Vec<&Params> = lines.collect();
        let done = load_new_events(state, db, writer, &lines, options.upsert)?;
        let (stored, others) = rest.split_at(done.len());
        for ((number, _), line) in stored.iter().zip(done) {
            match line {
                LoadedLine::Unchanged => loaded.unchanged += 1,
                LoadedLine::Created(warnings) => {
                    loaded.created += 1;
                    warnings.into_iter().for_each(|message| loaded.warn(*number, message));
                }
            }
        }
        rest = others;
        attempt = match rest.split_first() {
            Some((line, others)) if stored.len() < attempt => {
                write_line(state, db, writer, line, (options, &mut *moved), &mut loaded)?;
                rest = others;
                1
            }
            _ => attempt.saturating_mul(2).min(BATCH),
        };
    }
    Ok(loaded)
}

/// Writes a line within a savepoint.
fn write_line(
    state: &State,
    db: &mut Db,
    writer: &User,
    (number, parsed): &Parsed,
    (options, moved): (LoadOptions, &mut MovedEvents),
    loaded: &mut Loaded,
) -> Result<(), Error> {
    let params = match parsed {
        Ok(params) => params,
        Err(message) => {
            loaded.note(*number, message.clone());
            return Ok(());
        }
    };
    let mut warnings = Vec::new();
    let outcome = transaction(db, |db| {
        with_context(state, db, writer, params, |context| {
            load_line(context, params, (options.upsert, &mut *moved), &mut warnings)
        })
    });
    if outcome.is_ok() {
        warnings.into_iter().for_each(|message| loaded.warn(*number, message));
    }
    match outcome {
        Ok(Loading::Created) => loaded.created += 1,
        Ok(Loading::Updated) => loaded.updated += 1,
        Err(Undone::Unchanged | Undone::Outdated) => loaded.unchanged += 1,
        Err(Undone::Faulty(message)) => loaded.note(*number, message),
        Err(Undone::Failed(error)) => return Err(error),
    }
    Ok(())
}
