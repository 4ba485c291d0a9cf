//! The export format: a header, image files, rows, and a trailer with counts and a checksum.
//!
//! Each line is a JSON object with a single key. If the trailer is missing, the file is truncated.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

use anyhow::{Context as _, bail, ensure};
use batch::BoundedLines;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::store::media;
use crate::store::transfer::{Record, Sequences};

/// The format version. After a release, changing the fields of any row requires a new version, or
/// `#[serde(default)]` on new fields.
pub const VERSION: u32 = 1;

/// Maximum line length in bytes. A 10 MiB image takes 14 MiB.
pub const LONGEST_LINE: usize = 16 << 20;

/// The first bytes of every export.
const START: &[u8] = b"{\"calendar_export\":";

#[derive(Debug, Deserialize)]
pub enum Line {
    #[serde(rename = "calendar_export")]
    Head(Head),
    #[serde(rename = "media")]
    Media(MediaFile),
    #[serde(rename = "row")]
    Row(Box<Record>),
    #[serde(rename = "end")]
    End(End),
}

/// A line to be written.
#[derive(Serialize)]
pub enum NewLine<'a> {
    #[serde(rename = "calendar_export")]
    Head(&'a Head),
    #[serde(rename = "media")]
    Media(&'a MediaFile),
    #[serde(rename = "row")]
    Row(&'a Record),
    #[serde(rename = "end")]
    End(&'a End),
}

/// The header, which is the first line of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    pub version: u32,
    /// Version of the service that wrote the export.
    pub service: String,
    /// A random id for this export.
    pub id: String,
    /// The calendar's own id.
    pub identity: String,
    pub content_version: i64,
    pub last_ids: Sequences,
}

/// An image file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaFile {
    pub file: String,
    /// The content, base64 encoded.
    pub data: String,
}

/// The trailer, which is the last line of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Number of rows per table.
    pub rows: BTreeMap<String, u64>,
    pub files: u64,
    /// SHA-256 of all lines before this one, including their line feeds.
    pub sha256: String,
}

/// The row and file counts and the checksum of the lines so far.
#[derive(Clone, Default)]
pub struct Tally {
    digest: Sha256,
    rows: BTreeMap<String, u64>,
    files: u64,
}

impl Tally {
    /// Adds a line to the digest.
    pub fn add_text(&mut self, line: &[u8]) {
        self.digest.update(line);
        self.digest.update(b"\n");
    }

    pub fn add_row(&mut self, table: &str) {
        match self.rows.get_mut(table) {
            Some(count) => *count += 1,
            None => {
                self.rows.insert(table.to_owned(), 1);
            }
        }
    }

    pub fn add_file(&mut self) {
        self.files += 1;
    }

    pub fn end(&self) -> End {
        let digest = self.digest.clone().finalize();
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        End { rows: self.rows.clone(), files: self.files, sha256 }
    }
}

/// Returns whether a file that begins with `start` is an export.
pub fn is_export(start: &[u8]) -> bool {
    start.starts_with(START)
}

/// Reads an export line by line and verifies the trailer.
pub struct ExportReader<R> {
    lines: BoundedLines<R>,
    tally: Tally,
    end: Option<End>,
    /// Length of the last line in bytes.
    length: usize,
}

impl<R: BufRead> ExportReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, or is not an export that this version can
    /// load.
    pub fn new(input: R) -> anyhow::Result<(ExportReader<R>, Head)> {
        let lines = BoundedLines::new(input, LONGEST_LINE);
        let mut reader = ExportReader { lines, tally: Tally::default(), end: None, length: 0 };
        let Some((_, Line::Head(head))) = reader.next()? else {
            bail!("is not a calendar export");
        };
        ensure!(
            head.version == VERSION,
            "has format version {}, but this program reads version {VERSION}; use version {} of \
             the program",
            head.version,
            head.service
        );
        Ok((reader, head))
    }

    /// Returns the next line and its number, or `None` after a valid trailer.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, is truncated, or was modified.
    pub fn next(&mut self) -> anyhow::Result<Option<(u64, Line)>> {
        let Some((number, line)) = self.lines.next_line().context("cannot be read")? else {
            ensure!(self.end.is_some(), "is truncated: its last line is missing");
            return Ok(None);
        };
        ensure!(self.end.is_none(), "line {number}: is after the end of the export");
        let text = line.text().with_context(|| format!("line {number}"))?;
        let parsed: Line = serde_json::from_str(text).map_err(|error| {
            let what = match error.is_data() {
                true => {
                    "does not have the fields that this program expects; load the export with the \
                     program that wrote it"
                }
                false => "is damaged or truncated",
            };
            anyhow::Error::new(error).context(format!("line {number}: {what}"))
        })?;
        match &parsed {
            Line::End(end) => {
                let counted = self.tally.end();
                ensure!(
                    *end == counted,
                    "line {number}: counts or checksum differ, so the file was changed or damaged"
                );
                self.end = Some(counted);
                // The trailer must be the last line.
                return self.next();
            }
            Line::Head(_) => ensure!(number == 1, "line {number}: is a second header"),
            Line::Media(_) => self.tally.add_file(),
            Line::Row(row) => {
                // A malicious export could contain the path of a different file here, which would
                // later be read or deleted.
                ensure!(
                    row.file().is_none_or(media::is_file_name),
                    "line {number}: an image has a file name that a calendar never assigns"
                );
                self.tally.add_row(row.table());
            }
        }
        self.tally.add_text(text.as_bytes());
        self.length = text.len();
        Ok(Some((number, parsed)))
    }

    /// Returns the length of the last line in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the trailer once it has been read.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |table: &str| self.rows.get(table).copied().unwrap_or(0);
        write!(
            f,
            "{} events, {} venues, {} organizers, {} categories and tags, {} images with {} files, {} users, \
             {} webhooks",
            count("events"),
            count("venues"),
            count("organizers"),
            count("terms"),
            count("images"),
            self.files,
            count("users"),
            count("webhooks")
        )
    }
}
