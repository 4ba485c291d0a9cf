//! Loads an export into an empty database.
//!
//! Each transaction records the last line it loaded, so a load that was killed can resume from
//! there. At the end, we compare the row counts in the database with those in the export.

use std::io::BufRead;

use anyhow::{Context as _, anyhow, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use batch::{ProgressReporter, Unit};
use database::{Backend, Db, WriterQueue};
use serde::Serialize;

use super::format::{End, ExportReader, Head, Line, MediaFile};
use crate::error::Error;
use crate::jobs::writer_queue::writer_queue;
use crate::state::State;
use crate::store::transfer::{self, Record, TABLES};
use crate::store::{sql, statistics, users, webhooks};

/// Lines per transaction.
const BATCH: usize = 250;

/// Size in bytes at which no more lines are added to a transaction.
const BATCH_BYTES: usize = 4 << 20;

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
/// empty, or the database fails. Rows that were already loaded stay in the database until the load
/// is resumed.
pub fn load_export(state: &State, input: impl BufRead, now: i64) -> anyhow::Result<LoadedExport> {
    let (mut reader, head) = ExportReader::new(input)?;
    let server_lock = state.pools.lock_out_servers();
    ensure!(
        server_lock.is_some() || state.pools.backend() == Backend::Postgres,
        "a server or another load is using the database; stop it, and run the same command again"
    );
    let mut queue = writer_queue(&state.pools);
    let start = queue.write(|db| begin(db, &head.id))?;
    let mut loading = Loading {
        state,
        queue,
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
    let outcome = loading.run(&mut reader);
    loading.progress.finish();
    outcome.with_context(|| {
        format!("lines up to {} are loaded; run the same command to resume", loading.line)
    })?;
    let end = reader.end().cloned().context("has no end")?;
    finish(&mut loading.queue, &loading.head, &end, now)?;
    let webhooks = state.pools.read_blocking(webhooks::all)?.into_iter();
    let webhooks = webhooks.map(|one| NewSecret { url: one.url, secret: one.secret }).collect();
    Ok(LoadedExport { end, webhooks })
}

/// Gathers statistics after a load. If that fails, the error is only logged.
pub fn gather_statistics(state: &State) {
    if let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db)) {
        log::warn!("cannot gather statistics, so the database will do it later: {error}");
    }
}

/// How to start a load.
enum Start {
    /// Continue after this line.
    At(i64),
    /// A different export has been loaded halfway.
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

struct Loading<'a> {
    state: &'a State,
    queue: WriterQueue<'a, Error>,
    progress: ProgressReporter,
    head: Head,
    /// The last loaded line.
    line: i64,
}

impl Loading<'_> {
    fn run(&mut self, reader: &mut ExportReader<impl BufRead>) -> anyhow::Result<()> {
        let (mut records, mut bytes, mut last) = (Vec::new(), 0, self.line);
        while let Some((number, line)) = reader.next()? {
            self.progress.set(number);
            let number = i64::try_from(number)?;
            if number <= self.line {
                continue;
            }
            last = number;
            bytes += reader.length();
            match line {
                Line::Row(record) => records.push(*record),
                Line::Media(file) => {
                    self.store(&file).with_context(|| format!("line {number}"))?;
                }
                Line::Head(_) | Line::End(_) => {}
            }
            if records.len() >= BATCH || bytes >= BATCH_BYTES {
                self.commit(&records, last)?;
                records.clear();
                bytes = 0;
            }
        }
        if last > self.line { self.commit(&records, last) } else { Ok(()) }
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

    fn commit(&mut self, records: &[Record], last: i64) -> anyhow::Result<()> {
        let (before, id) = (self.line, &self.head.id);
        let is_own = self.queue.write(|db| {
            sql::one_writer(db)?;
            match transfer::unfinished(db)? {
                Some(found) if found.export_id == *id && found.line == before => {
                    Record::insert(db, records)?;
                    transfer::note_line(db, last)?;
                    Ok(true)
                }
                // An earlier attempt may have committed without our knowing.
                Some(found) => Ok::<_, Error>(found.export_id == *id && found.line == last),
                None => Ok(false),
            }
        });
        let is_own = is_own.map_err(|error| {
            anyhow!(error).context(format!("lines {} to {last} cannot be written", before + 1))
        })?;
        ensure!(is_own, "another program is loading into this database at the same time");
        self.line = last;
        Ok(())
    }
}

/// The outcome of the final transaction.
enum Finish {
    Done,
    /// A table has a different number of rows than the export.
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
            // An earlier attempt may have committed without our knowing.
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
        Finish::Gone => bail!("another program is loading into this database at the same time"),
        Finish::Differs(table, count) => bail!(
            "the table {table} has {count} rows and the export {}, because another program wrote \
             to the database during the load; start again with an empty database",
            end.rows.get(table).copied().unwrap_or(0)
        ),
    }
}

/// Revokes the keys from the first start if the export does not contain their owner.
fn revoke_keys(db: &mut Db, now: i64) -> Result<(), Error> {
    for key in auth::list_keys(db)? {
        if users::by_login(db, &key.owner)?.is_none() {
            auth::revoke_owner(db, &key.owner, now)?;
        }
    }
    Ok(())
}
