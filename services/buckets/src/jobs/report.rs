//! Formats run reports as text and JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::formats::Skipped;
use crate::engine::PublishCounts;

/// Counts of everything read so far. Saved at checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Files accepted for the index.
    pub files: u64,
    /// Bad lines and entries.
    pub bad: u64,
    /// Common prefixes, i.e. folders in a listing.
    pub skipped_prefixes: u64,
    /// Old versions and delete markers.
    pub skipped_versions: u64,
    /// Empty objects whose key ends in `/`.
    pub skipped_directory_markers: u64,
    /// Files from removed buckets.
    pub skipped_removed: u64,
    /// Incomplete sources, and the reasons they are incomplete.
    pub incomplete: Vec<String>,
    /// Listings that don't cover their whole bucket, and the reasons. No files were removed from
    /// these buckets.
    #[serde(default)]
    pub partial: Vec<String>,
}

impl Tally {
    /// Number of lines, good and bad.
    pub fn lines(&self) -> u64 {
        self.files + self.bad + self.skipped_directory_markers + self.skipped_removed
    }

    /// Returns `true` if there was nothing to read.
    pub fn is_empty(&self) -> bool {
        self.lines() + self.skipped_prefixes + self.skipped_versions == 0
            && self.incomplete.is_empty()
    }

    /// Counts a skipped entry.
    pub fn skip(&mut self, what: Skipped) {
        match what {
            Skipped::Prefix => self.skipped_prefixes += 1,
            Skipped::Version => self.skipped_versions += 1,
            Skipped::DirectoryMarker => self.skipped_directory_markers += 1,
        }
    }
}

/// The final report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Run id, or `None` for a dry run.
    pub run: Option<u64>,
    #[serde(flatten)]
    pub tally: Tally,
    #[serde(flatten)]
    pub counts: PublishCounts,
    /// Buckets that weren't listed before.
    pub buckets_new: u64,
    /// Other buckets with new, changed or removed files.
    pub buckets_changed: u64,
    /// Buckets without any changes.
    #[serde(default)]
    pub buckets_unchanged: u64,
    /// Addresses of buckets with a truncated listing.
    pub truncated: Vec<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tally, counts, .. } = self;
        match self.run {
            Some(run) => writeln!(f, "run {run} published in {:.1} s", self.seconds)?,
            None => writeln!(f, "dry run: nothing was written, {:.1} s", self.seconds)?,
        }
        if self.run.is_some() {
            let PublishCounts { added, replaced, unchanged, removed, duplicates } = counts;
            writeln!(
                f,
                "files: {added} new, {replaced} changed, {removed} gone, {unchanged} unchanged"
            )?;
            let Self { buckets_new, buckets_changed, buckets_unchanged, .. } = self;
            writeln!(
                f,
                "buckets: {buckets_new} new, {buckets_changed} changed, {buckets_unchanged} unchanged"
            )?;
            writeln!(f, "duplicates: {duplicates}")?;
        } else {
            writeln!(f, "files: {}", tally.files)?;
        }
        writeln!(
            f,
            "skipped: {} directory markers, {} prefixes, {} versions, {} removed",
            tally.skipped_directory_markers,
            tally.skipped_prefixes,
            tally.skipped_versions,
            tally.skipped_removed
        )?;
        write!(f, "bad: {}", tally.bad)?;
        for address in &self.truncated {
            write!(f, "\ntruncated: {address}")?;
        }
        for source in &tally.incomplete {
            write!(f, "\nincomplete: {source}")?;
        }
        for listing in &tally.partial {
            write!(f, "\npartial: {listing}")?;
        }
        Ok(())
    }
}
