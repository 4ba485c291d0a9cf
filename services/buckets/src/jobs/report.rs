//! The report of a run as text and JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::formats::Skipped;
use crate::engine::PublishCounts;

/// Counts of what was read, saved at checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Files passed to the index.
    pub files: u64,
    /// Bad lines and entries.
    pub bad: u64,
    /// Common prefixes (folders) in listings.
    pub skipped_prefixes: u64,
    /// Old versions and delete markers.
    pub skipped_versions: u64,
    /// Keys that end in `/` and have no bytes.
    pub skipped_directory_markers: u64,
    /// Files of removed buckets.
    pub skipped_removed: u64,
    /// Incomplete sources, with the reasons.
    pub incomplete: Vec<String>,
}

impl Tally {
    /// Returns the number of valid and bad lines.
    pub fn lines(&self) -> u64 {
        self.files + self.bad + self.skipped_directory_markers + self.skipped_removed
    }

    /// Returns true if nothing was read.
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

/// The final report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The run; `None` for a dry run.
    pub run: Option<u64>,
    /// Counts of what was read.
    #[serde(flatten)]
    pub tally: Tally,
    /// Counts of the publish.
    #[serde(flatten)]
    pub counts: PublishCounts,
    /// Buckets that were not listed before.
    pub buckets_new: u64,
    /// Listed buckets with new, changed or gone files.
    pub buckets_changed: u64,
    /// Listed buckets whose files are all unchanged.
    #[serde(default)]
    pub buckets_unchanged: u64,
    /// Addresses of buckets with truncated listings.
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
        Ok(())
    }
}
