//! Loads an export into an empty database.
//!
//! Each transaction records the last line that it loaded, so that a load can resume from there
//! after it is killed. At the end, the row counts in the database are compared with the counts in
//! the export.

use std::io::BufRead;

use anyhow::{Context as _, anyhow, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use batch::{ProgressReporter, Unit};
use database::{Backend, BulkWriter, Db, WriterQueue};
use serde::Serialize;

use super::format::{End, ExportReader, Head, Line, MediaFile};
use crate::error::Error;
use crate::jobs::writer_queue::writer_queue;
use crate::state::State;
use crate::store::transfer::{self, Record, TABLES};
use crate::store::{sql, statistics, users, webhooks};

/// Lines per batch. Each batch is a transaction, unless there is a [`BulkWriter`].
const BATCH: usize = 250;

/// Once a batch has reached this size in bytes, no more lines are added to it.
const BATCH_BYTES: usize = 4 << 20;

/// Once a [`BulkWriter`] transaction has reached this size in bytes, no more batches are added to
/// it.
const BULK_BYTES: usize = 256 << 20;

/// The outcome of loading an export.
#[derive(Clone, Debug, Serialize)]
pub struct LoadedExport {
    /// The trailer, which is the last line of the export.
    #[serde(flatten)]
    pub end: End,
    pub webhooks: Vec<NewSecret>,
}

/// A webhook's new secret.
#[derive(Clone, Debug, Serialize)]
pub struct NewSecret {
    pub url: String,
    pub secret: String,
}

/// Reads a whole export and verifies its counts and checksum.
///
/// # Errors
/// Returns an error if the export cannot be read, is truncated, or was modified.
pub fn verify_export(input: impl BufRead) -> anyhow::Result<End> {
    let progress = ProgressReporter::new("checking", Unit::Items("lines"), None);
    let (mut reader, _) = ExportReader::new(input)?;
    while let Some((number, _)) = reader.next()? {
        progress.set(number);
    }
    progress.finish();
    reader.end().cloned().context("has no end")
}

/// Loads an export into an empty database, or resumes an earlier load.
///
/// # Errors
/// Returns an error if the export cannot be read, is truncated or was modified, the database is not
/// empty, or the database fails. Rows that were already loaded remain in the database until the
/// load is resumed.
pub fn load_export(state: &State, input: impl BufRead, now: i64) -> anyhow::Result<LoadedExport> {
    let server_lock = state.pools.lock_out_servers();
    require_no_server(state, server_lock.is_some())?;
    load_with(state, input, None, now)
}

/// Like [`load_export`], but for input that isn't piped from another program. All lines are
/// available immediately, so transactions can be long.
///
/// # Errors
/// Same as [`load_export`].
pub fn load_export_file(
    state: &State,
    input: impl BufRead,
    now: i64,
) -> anyhow::Result<LoadedExport> {
    let bulk = BulkWriter::open(&state.pools)?;
    require_no_server(state, bulk.is_some())?;
    load_with(state, input, bulk, now)
}

/// Fails unless servers are locked out. On PostgreSQL, such a lock doesn't exist.
fn require_no_server(state: &State, has_lock: bool) -> anyhow::Result<()> {
    ensure!(
        has_lock || state.pools.backend() == Backend::Postgres,
        "a server or another load is using the database; stop it, and run the same command again"
    );
    Ok(())
}

fn load_with(
    state: &State,
    input: impl BufRead,
    mut bulk: Option<BulkWriter>,
    now: i64,
) -> anyhow::Result<LoadedExport> {
    let (mut reader, head) = ExportReader::new(input)?;
    let mut queue = writer_queue(&state.pools);
    let start = queue.write(|db| begin(db, &head.id))?;
    let mut loading = Loading {
        state,
        progress: ProgressReporter::new("loading", Unit::Items("lines"), None),
        head,
        line: match start {
            Start::At(line) => line,
            Start::Other => bail!(
                "the load of another export into this database is not finished; resume that one, \
                 or start with an empty database"
            ),
            Start::NotEmpty => bail!(
                "the database is not empty: an export keeps all ids, so it can only be loaded into \
                 an empty database"
            ),
        },
    };
    if loading.line > 1 {
        log::info!(target: "notice", "resuming after line {}", loading.line);
    }
    // The writer locks out servers until the load is complete.
    let outcome = match &mut bulk {
        Some(bulk) => loading.run_in_bulk(&mut reader, bulk),
        None => loading.run(&mut reader, &mut queue),
    };
    loading.progress.finish();
    outcome.with_context(|| {
        format!("lines up to {} are loaded; run the same command to resume", loading.line)
    })?;
    let end = reader.end().cloned().context("has no end")?;
    finish(&mut queue, &loading.head, &end, now)?;
    let webhooks = state.pools.read_blocking(webhooks::all)?.into_iter();
    let webhooks = webhooks.map(|one| NewSecret { url: one.url, secret: one.secret }).collect();
    Ok(LoadedExport { end, webhooks })
}

/// Gathers statistics after a load. If this fails, the error is only logged.
pub fn gather_statistics(state: &State) {
    if let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db)) {
        log::warn!("cannot gather statistics, so the database will do it later: {error}");
    }
}

/// The point at which a load starts.
enum Start {
    /// Continue after this line.
    At(i64),
    /// A different export has been partially loaded.
    Other,
    NotEmpty,
}

fn begin(db: &mut Db, id: &str) -> Result<Start, Error> {
    sql::one_writer(db)?;
    match transfer::unfinished(db)? {
        Some(unfinished) if unfinished.export_id == id => Ok(Start::At(unfinished.line)),
        Some(_) => Ok(Start::Other),
        None if !transfer::is_empty(db)? => Ok(Start::NotEmpty),
        None => {
            transfer::begin(db, id)?;
            Ok(Start::At(1))
        }
    }
}

/// Consecutive rows of an export, loaded together.
#[derive(Default)]
struct Batch {
    records: Vec<Record>,
    /// The number of the last line.
    last: i64,
    bytes: usize,
}

struct Loading<'a> {
    state: &'a State,
    progress: ProgressReporter,
    head: Head,
    /// The last loaded line.
    line: i64,
}

impl Loading<'_> {
    /// Loads the export, using one transaction per batch.
    fn run(
        &mut self,
        reader: &mut ExportReader<impl BufRead>,
        queue: &mut WriterQueue<'_, Error>,
    ) -> anyhow::Result<()> {
        while let Some(batch) = self.next(reader)? {
            let (before, id) = (self.line, &self.head.id);
            let is_own = queue.write(|db| {
                sql::one_writer(db)?;
                insert(db, (id, before), &batch)
            });
            ensure!(is_own.map_err(|error| failed(error, before))?, OTHER_LOAD);
            self.line = batch.last;
        }
        Ok(())
    }

    /// Loads many batches per transaction. If reading fails, the lines read before that are kept.
    fn run_in_bulk(
        &mut self,
        reader: &mut ExportReader<impl BufRead>,
        bulk: &mut BulkWriter,
    ) -> anyhow::Result<()> {
        loop {
            let before = self.line;
            let written = bulk.write(|db| {
                sql::one_writer(db)?;
                let (mut last, mut bytes) = (before, 0);
                while bytes < BULK_BYTES {
                    let batch = match self.next(reader) {
                        Ok(Some(batch)) => batch,
                        Ok(None) => return Ok((last, Ok(false))),
                        Err(error) => return Ok((last, Err(error))),
                    };
                    if !insert(db, (&self.head.id, last), &batch)? {
                        return Ok((last, Err(anyhow!(OTHER_LOAD))));
                    }
                    last = batch.last;
                    bytes += batch.bytes;
                }
                Ok::<_, Error>((last, Ok(true)))
            });
            let (last, has_more) = written.map_err(|error| failed(error, before))?;
            self.line = last;
            if !has_more? {
                return Ok(());
            }
        }
    }

    /// Reads the next batch and stores its image files. Returns `None` at the end.
    fn next(&self, reader: &mut ExportReader<impl BufRead>) -> anyhow::Result<Option<Batch>> {
        let mut batch = Batch::default();
        while batch.records.len() < BATCH && batch.bytes < BATCH_BYTES {
            let Some((number, line)) = reader.next()? else { break };
            self.progress.set(number);
            let number = i64::try_from(number)?;
            if number <= self.line {
                continue;
            }
            batch.last = number;
            batch.bytes += reader.length();
            match line {
                Line::Row(record) => batch.records.push(*record),
                Line::Media(file) => {
                    self.store(&file).with_context(|| format!("line {number}"))?;
                }
                Line::Head(_) | Line::End(_) => {}
            }
        }
        Ok(Some(batch).filter(|batch| batch.last > 0))
    }

    fn store(&self, file: &MediaFile) -> anyhow::Result<()> {
        let bytes = STANDARD.decode(&file.data).context("the image is not valid base64")?;
        let stored = self.state.media.store_again(&file.file, &bytes);
        let stored = stored.with_context(|| {
            format!("the media folder {} cannot be written", self.state.media.folder().display())
        })?;
        ensure!(stored, "the content of image {} does not match its name", file.file);
        Ok(())
    }
}

const OTHER_LOAD: &str = "another program is loading into this database at the same time";

/// Returns the error for a failed transaction that was loading the lines after `before`.
fn failed(error: Error, before: i64) -> anyhow::Error {
    anyhow!(error).context(format!("lines after {before} cannot be written"))
}

/// Inserts the batch that follows line `before`. Returns false if another program has changed the
/// database.
fn insert(db: &mut Db, (id, before): (&str, i64), batch: &Batch) -> Result<bool, Error> {
    match transfer::unfinished(db)? {
        Some(found) if found.export_id == id && found.line == before => {
            Record::insert(db, &batch.records)?;
            transfer::note_line(db, batch.last)?;
            Ok(true)
        }
        // An earlier attempt might have committed without reporting success.
        Some(found) => Ok(found.export_id == id && found.line == batch.last),
        None => Ok(false),
    }
}

/// The outcome of the final transaction.
enum Finish {
    Done,
    /// A table's row count differs from the export's.
    Differs(&'static str, i64),
    Gone,
}

fn finish(
    queue: &mut WriterQueue<'_, Error>,
    head: &Head,
    end: &End,
    now: i64,
) -> anyhow::Result<()> {
    let mut attempts = 0;
    let outcome = queue.write(|db| {
        attempts += 1;
        sql::one_writer(db)?;
        match transfer::unfinished(db)? {
            Some(found) if found.export_id == head.id => {}
            // An earlier attempt might have committed without reporting success.
            None if attempts > 1 => return Ok::<_, Error>(Finish::Done),
            _ => return Ok(Finish::Gone),
        }
        for (table, rows) in TABLES {
            let count =
                sql::Sql::new(db, &format!("select count(*) as n from {rows}")).number(db)?;
            let expected = end.rows.get(*table).copied().unwrap_or(0);
            if u64::try_from(count) != Ok(expected) {
                return Ok(Finish::Differs(table, count));
            }
        }
        transfer::finish(db, (&head.identity, head.content_version), &head.last_ids)?;
        revoke_keys(db, now)?;
        Ok(Finish::Done)
    })?;
    match outcome {
        Finish::Done => Ok(()),
        Finish::Gone => bail!(OTHER_LOAD),
        Finish::Differs(table, count) => bail!(
            "the table {table} has {count} rows and the export {}, because another program wrote \
             to the database during the load; start again with an empty database",
            end.rows.get(table).copied().unwrap_or(0)
        ),
    }
}

/// Revokes keys created at the first start if the export does not contain their owner.
fn revoke_keys(db: &mut Db, now: i64) -> Result<(), Error> {
    for key in auth::list_keys(db)? {
        if users::by_login(db, &key.owner)?.is_none() {
            auth::revoke_owner(db, &key.owner, now)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read};

    use clap::Parser;
    use domain::SystemClock;
    use testkit::Database;

    use super::*;
    use crate::config::Settings;
    use crate::jobs::export;
    use crate::model::term::{Taxonomy, Term};
    use crate::store::media::Media;
    use crate::store::{MIGRATIONS, terms};

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        site: Settings,
    }

    fn state_of(database: &Database) -> State {
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let site = Arguments::parse_from(["calendar"]).site;
        State::new(pools, SystemClock::shared(), site, Media::new("media".into()))
    }

    fn tags(state: &State) -> i64 {
        let count = |db: &mut Db| sql::Sql::new(db, "select count(*) as n from terms").number(db);
        state.pools.read_blocking(count).unwrap()
    }

    /// A reader that calls a function once everything has been read.
    struct Watched<F>(Cursor<Vec<u8>>, F);

    impl<F: FnMut()> Read for Watched<F> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.0.read(buffer)?;
            if read == 0 {
                (self.1)();
            }
            Ok(read)
        }
    }

    #[test]
    fn export_is_loaded_in_one_transaction_if_it_is_a_file() {
        let databases = [(); 3].map(|()| Database::new());
        let [source, file, pipe] = databases.each_ref().map(state_of);
        let add = |db: &mut Db| {
            (0..600).try_for_each(|number| {
                let tag = Term {
                    id: 0,
                    taxonomy: Taxonomy::Tag,
                    name: format!("tag {number}"),
                    slug: format!("tag-{number}"),
                    description: String::new(),
                    parent: 0,
                    count: 0,
                };
                terms::insert(db, &tag).map(drop)
            })
        };
        source.pools.write_blocking(add).unwrap();
        let mut text = Vec::new();
        export(&source, &mut text).unwrap();
        let is_sqlite = source.pools.backend() == Backend::Sqlite;
        for (target, is_file) in [(&file, true), (&pipe, false)] {
            let mut seen = Vec::new();
            let watched = Watched(Cursor::new(text.clone()), || seen.push(tags(target)));
            let watched = BufReader::new(watched);
            match is_file {
                true => load_export_file(target, watched, 0).unwrap(),
                false => load_export(target, watched, 0).unwrap(),
            };
            assert_eq!(seen[0] > 0, !(is_file && is_sqlite), "{is_file}");
            assert_eq!(tags(target), 600, "{is_file}");
        }
    }
}
