//! Loading of events, venues, organizers and terms through the same path as creating them.
//!
//! A line is the body of a create with `type` beside it: `event`, `venue`, `organizer`,
//! `category` or `tag`. What exists already stays as it is, or is changed on request. Many lines
//! share a transaction; a faulty line is undone alone and reported.

use std::fmt;
use std::io::BufRead;

use anyhow::Context;
use batch::{BoundedLines, ProgressReporter, Unit};
use database::{Db, transaction};
use serde::Serialize;
use serde_json::Value;

use super::dry_run::dry_run;
use super::turns::Turns;
use crate::app::{Loading, Undone, load_line, with_context};
use crate::error::Error;
use crate::model::role::User;
use crate::state::State;
use crate::store::{sql, statistics, users};
use crate::wire::params::Params;

/// The longest line, in bytes; the body of a create has half of it at most.
const LONGEST_LINE: usize = 2 << 20;

/// Lines of a transaction: other writers wait for all of them.
const BATCH: usize = 250;

/// Bytes of a batch, after which it takes no further line.
const BATCH_BYTES: usize = 4 << 20;

/// Faulty lines that are told one by one.
const MAX_FAULTS: usize = 100;

/// How a load goes about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// Nothing is written: all of it happens in one transaction that is rolled back.
    pub dry_run: bool,
    /// What exists already is changed to what its line says.
    pub upsert: bool,
}

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loaded {
    /// Resources that are new.
    pub created: u64,
    /// Resources that were there and have changed.
    pub updated: u64,
    /// Resources that were there and are as they were.
    pub unchanged: u64,
    /// Faulty lines, which changed nothing.
    pub failed: u64,
    /// The first of the faulty lines.
    pub faults: Vec<Fault>,
}

/// A faulty line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loaded { created, updated, unchanged, failed, .. } = self;
        write!(f, "{created} created, {updated} updated, {unchanged} unchanged, {failed} failed")
    }
}

impl Loaded {
    fn add(&mut self, other: Loaded) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.failed += other.failed;
        self.faults.extend(other.faults);
        self.faults.truncate(MAX_FAULTS);
    }

    fn note(&mut self, line: u64, message: String) {
        self.failed += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { line, message });
        }
    }
}

/// Loads lines of JSON, and waits for a database that is busy or away for a minute. At the end the
/// database gathers statistics.
///
/// # Errors
/// The lines cannot be read, or the database failed; what came before stays, and the error tells how far
/// that is.
pub fn load(state: &State, lines: impl BufRead, options: LoadOptions) -> anyhow::Result<Loaded> {
    let writer = state.pools.read_blocking(first_user)?;
    let mut batches = Batches {
        lines: BoundedLines::new(lines, LONGEST_LINE),
        progress: ProgressReporter::new("loading", Unit::Items("lines"), None),
        loaded: 0,
    };
    let mut loaded = Loaded::default();
    let outcome = match options.dry_run {
        true => dry_run(&state.pools, |db| {
            load_batches(&mut batches, &mut loaded, |batch| {
                write(state, db, &writer, batch, options)
            })
        }),
        false => {
            let mut turns = Turns::new(&state.pools);
            load_batches(&mut batches, &mut loaded, |batch| {
                turns.write(|db| write(state, db, &writer, batch, options))
            })
        }
    };
    batches.progress.finish();
    // What was loaded before a failure stays, so its statistics count too.
    if loaded.created > 0
        && !options.dry_run
        && let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db))
    {
        log::warn!("the database gathers statistics later, because it could not now: {error}");
    }
    match outcome {
        Err(error) if batches.loaded > 0 && !options.dry_run => Err(error.context(format!(
            "all lines up to {} are loaded ({loaded}), and the same command goes on from there",
            batches.loaded
        ))),
        outcome => outcome.map(|()| loaded),
    }
}

fn load_batches(
    batches: &mut Batches<impl BufRead>,
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

/// A line with its number: what it says, or why it cannot be read.
type Parsed = (u64, Result<Params, String>);

/// Reads lines in batches.
struct Batches<R> {
    lines: BoundedLines<R>,
    progress: ProgressReporter,
    /// Number of the last line whose batch is loaded.
    loaded: u64,
}

impl<R: BufRead> Batches<R> {
    /// Returns the next lines that are not blank; none at the end.
    fn next(&mut self) -> anyhow::Result<Vec<Parsed>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some((number, line)) = self.lines.next_line().context("cannot be read")? else {
                break;
            };
            self.progress.set(number);
            match line.text() {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    bytes += text.len();
                    batch.push((number, parse(text)));
                }
                Err(error) => batch.push((number, Err(error.to_string()))),
            }
        }
        Ok(batch)
    }
}

fn parse(text: &str) -> Result<Params, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(Params::from_json(value)),
        Ok(_) => Err("is not a JSON object".to_owned()),
        Err(error) => Err(format!("is not valid JSON: {error}")),
    }
}

/// Everything is loaded in the name of the first user.
pub(super) fn first_user(db: &mut Db) -> Result<User, Error> {
    let users = users::list(db)?;
    users.into_iter().next().ok_or_else(|| Error::Internal("there is no user yet".to_owned()))
}

/// Writes a batch inside a transaction, each line behind a savepoint of its own.
fn write(
    state: &State,
    db: &mut Db,
    writer: &User,
    batch: &[Parsed],
    options: LoadOptions,
) -> Result<Loaded, Error> {
    sql::one_writer(db)?;
    let mut loaded = Loaded::default();
    for (number, parsed) in batch {
        let params = match parsed {
            Ok(params) => params,
            Err(message) => {
                loaded.note(*number, message.clone());
                continue;
            }
        };
        let outcome = transaction(db, |db| {
            with_context(state, db, writer, params, |context| {
                load_line(context, params, options.upsert)
            })
        });
        match outcome {
            Ok(Loading::Created) => loaded.created += 1,
            Ok(Loading::Updated) => loaded.updated += 1,
            Err(Undone::Unchanged) => loaded.unchanged += 1,
            Err(Undone::Faulty(message)) => loaded.note(*number, message),
            Err(Undone::Failed(error)) => return Err(error),
        }
    }
    Ok(loaded)
}
