//! The lines of a load, read from JSON or a CSV table and collected into batches.

use std::io::BufRead;

use anyhow::Context;
use batch::{BoundedLines, ProgressReporter, Unit};
use serde_json::Value;

use super::spreadsheet::TableRows;
use crate::wire::params::Params;

/// Maximum line length in bytes, which is twice the limit for a request body.
const LONGEST_LINE: usize = 2 << 20;

/// Number of lines per transaction. Other writers have to wait until the transaction commits.
pub(super) const BATCH: usize = 250;

/// Size in bytes at which no more lines are added to a batch.
const BATCH_BYTES: usize = 4 << 20;

/// A line number, with the parsed line or the error from parsing it.
pub(super) type Parsed = (u64, Result<Params, String>);

/// The number, content and length in bytes of a line. Blank lines have no content.
pub(super) type SourceLine = (u64, Option<Result<Params, String>>, usize);

/// An input to load line by line.
pub(super) trait Source {
    /// Returns the next line, or `None` at the end.
    fn next(&mut self) -> anyhow::Result<Option<SourceLine>>;
}

/// JSON objects, one per line.
pub(super) struct JsonLines<R>(BoundedLines<R>);

pub(super) fn json_lines<R: BufRead>(lines: R) -> JsonLines<R> {
    JsonLines(BoundedLines::new(lines, LONGEST_LINE))
}

impl<R: BufRead> Source for JsonLines<R> {
    fn next(&mut self) -> anyhow::Result<Option<SourceLine>> {
        let Some((number, line)) = self.0.next_line().context("cannot be read")? else {
            return Ok(None);
        };
        Ok(Some(match line.text() {
            Ok(text) if text.trim().is_empty() => (number, None, 0),
            Ok(text) => (number, Some(parse(text)), text.len()),
            Err(error) => (number, Some(Err(error.to_string())), 0),
        }))
    }
}

impl<R: BufRead> Source for TableRows<R> {
    fn next(&mut self) -> anyhow::Result<Option<SourceLine>> {
        let row = TableRows::next(self)?;
        Ok(row.map(|(number, params, length)| (number, Some(params), length)))
    }
}

/// Collects lines into batches.
pub(super) struct Batches<S> {
    source: S,
    pub(super) progress: ProgressReporter,
    /// Number of the last loaded line.
    pub(super) loaded: u64,
    /// Number of bytes read.
    pub(super) bytes: usize,
}

impl<S: Source> Batches<S> {
    pub(super) fn new(source: S) -> Self {
        let progress = ProgressReporter::new("loading", Unit::Items("lines"), None);
        Self { source, progress, loaded: 0, bytes: 0 }
    }

    /// Returns the next batch of non-blank lines, or an empty batch at the end.
    pub(super) fn next(&mut self) -> anyhow::Result<Vec<Parsed>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some((number, parsed, length)) = self.source.next()? else { break };
            self.progress.set(number);
            bytes += length;
            self.bytes += length;
            batch.extend(parsed.map(|parsed| (number, parsed)));
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
