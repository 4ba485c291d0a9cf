//! Exports the whole calendar.

use std::fmt;
use std::io::{self, Write};

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use batch::{ProgressReporter, Unit};
use database::Db;
use serde::Serialize;

use super::format::{End, Head, LONGEST_LINE, MediaFile, NewLine, Tally, VERSION};
use crate::state::State;
use crate::store::transfer;
use crate::store::{imported, read_transactions, sql};

/// The outcome of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The trailer, which is also the last line of the export.
    #[serde(flatten)]
    pub end: End,
    /// Number of image files that are missing from the media folder.
    pub missing_files: u64,
}

/// Writes everything from a single snapshot of the database, so other processes can keep writing.
///
/// # Errors
/// Returns an error if the output cannot be written, or the database fails.
pub fn export(state: &State, out: &mut dyn Write) -> anyhow::Result<Exported> {
    let mut db = state.pools.connect()?;
    let progress = ProgressReporter::new("exporting", Unit::Items("lines"), None);
    let mut writer = Writer { out, tally: Tally::default(), progress, lines: 0 };
    let missing_files = read_transactions::read_transaction(&mut db, |db| {
        sql::without_idle_timeout(db)?;
        writer.line(&NewLine::Head(&head(db)?))?;
        let missing = files(state, db, &mut writer)?;
        transfer::each(db, |row| {
            writer.tally.add_row(row.table());
            writer.line(&NewLine::Row(row))
        })?;
        anyhow::Ok(missing)
    })?;
    let end = writer.tally.end();
    writer.line(&NewLine::End(&end))?;
    writer.out.flush().context("cannot be written")?;
    writer.progress.finish();
    Ok(Exported { end, missing_files })
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    tally: Tally,
    progress: ProgressReporter,
    lines: u64,
}

impl Writer<'_> {
    fn line(&mut self, line: &NewLine<'_>) -> anyhow::Result<()> {
        let text = serde_json::to_string(line)?;
        // A longer line couldn't be loaded.
        ensure!(text.len() <= LONGEST_LINE, "a row is larger than {} MiB", LONGEST_LINE >> 20);
        self.tally.add_text(text.as_bytes());
        let mut write = |bytes: &[u8]| self.out.write_all(bytes).context("cannot be written");
        write(text.as_bytes())?;
        write(b"\n")?;
        self.lines += 1;
        self.progress.set(self.lines);
        Ok(())
    }
}

fn head(db: &mut Db) -> anyhow::Result<Head> {
    Ok(Head {
        version: VERSION,
        service: env!("CARGO_PKG_VERSION").to_owned(),
        id: sql::random_id(db)?,
        identity: imported::calendar_id(db)?,
        content_version: transfer::content_version(db)?,
        last_ids: transfer::sequences(db)?,
    })
}

/// Writes all image files and returns how many were missing.
fn files(state: &State, db: &mut Db, writer: &mut Writer<'_>) -> anyhow::Result<u64> {
    let (mut last, mut missing) = (String::new(), 0);
    loop {
        let names = transfer::files(db, &last)?;
        let Some(end) = names.last() else { return Ok(missing) };
        last.clone_from(end);
        for file in names {
            match state.media.read(&file) {
                Ok(bytes) => {
                    writer.tally.add_file();
                    writer
                        .line(&NewLine::Media(&MediaFile { file, data: STANDARD.encode(bytes) }))?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    log::warn!("the file {file} is missing in the media folder");
                    missing += 1;
                }
                Err(error) => {
                    return Err(error).with_context(|| format!("the image {file} cannot be read"));
                }
            }
        }
    }
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)
    }
}
