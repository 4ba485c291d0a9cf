//! The journal, which records the state of an index and its runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::id_ranges::{self, IdRanges};
use crate::model::identity::Identity;

/// How a publish changes the buckets covered by the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The run's files replace all existing files in the bucket.
    Replace,
    /// The run's files are added. Existing files with the same path are replaced.
    Append,
}

/// A bucket covered by a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedBucket {
    pub id: u64,
    /// Whether the listing was truncated.
    pub truncated: bool,
    /// Whether one of the sources was incomplete. In that case, files are only replaced by files
    /// with the same path.
    pub partial: bool,
}

impl NamedBucket {
    /// How a run in this mode changes the bucket.
    pub fn mode(&self, of_run: Mode) -> Mode {
        if self.partial { Mode::Append } else { of_run }
    }
}

/// Returns a number above the id of every bucket.
pub(super) fn above_ids(buckets: &[NamedBucket]) -> u64 {
    buckets.iter().map(|bucket| bucket.id).max().map_or(0, |largest| largest + 1)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishCounts {
    /// Files with a new path.
    pub added: u64,
    /// Files that already existed with different attributes, or that the run marked as changed.
    pub replaced: u64,
    /// Files that already existed with the same attributes, or that are newer than the run's
    /// listing. They keep their ids.
    #[serde(default)]
    pub unchanged: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Files that occurred more than once in the run.
    pub duplicates: u64,
}

/// An unfinished run, as of its last checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRun {
    /// Run id.
    pub run: u64,
    /// Number of rows before the run.
    pub first_row: u64,
    /// Size of the stored paths before the run, in bytes.
    pub first_byte: u64,
    /// The loader's progress, which the engine doesn't interpret.
    pub progress: String,
}

/// A published run and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publish {
    /// Run id.
    pub run: u64,
    /// Unix time in seconds.
    pub at: i64,
    /// Buckets covered by the run. Serialised as ranges of ids.
    #[serde(serialize_with = "write_named", deserialize_with = "read_named")]
    pub buckets: Vec<NamedBucket>,
    pub counts: PublishCounts,
    /// Files that the run found unchanged in buckets that a crawl was listing at the same time.
    #[serde(default, skip_serializing_if = "IdRanges::is_empty")]
    pub confirmed: IdRanges,
    /// Unix time at which the run's listing began.
    #[serde(default)]
    pub begun_at: i64,
}

fn write_named<S: Serializer>(buckets: &[NamedBucket], serializer: S) -> Result<S::Ok, S::Error> {
    let flags = buckets.iter().map(|bucket| (bucket.id, (bucket.truncated, bucket.partial)));
    serializer.collect_seq(id_ranges::ranges(flags))
}

fn read_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NamedBucket>, D::Error> {
    let ranges = Vec::<(u64, u64, (bool, bool))>::deserialize(deserializer)?;
    let named = |(id, (truncated, partial))| NamedBucket { id, truncated, partial };
    Ok(id_ranges::ids(ranges).map(named).collect())
}

/// An index's journal, stored in the commit that it describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Incremented with every change that searches can see.
    pub sequence: u64,
    /// Number of committed rows, including deleted ones.
    pub rows: u64,
    /// Size of the committed paths, in bytes.
    pub bytes: u64,
    /// The unfinished run, if any. Its rows are hidden.
    pub open: Option<OpenRun>,
    /// The last published run, if any.
    pub published: Option<Publish>,
    /// Id of the last takedown, if any.
    pub removal: Option<i64>,
    /// Number of files hidden by the last removal. It is stored because, if the process is killed,
    /// the process that completes the removal can no longer count them.
    #[serde(default)]
    pub removed: u64,
    /// Identifies the index and its state.
    #[serde(default)]
    pub identity: Identity,
}

impl Journal {
    /// Returns the highest file id that has ever been published.
    pub fn published_id(&self) -> u64 {
        self.open.as_ref().map_or(self.rows, |open| open.first_row)
    }

    /// Returns the number of rows before the open run, and the size of their paths in bytes.
    pub fn published_rows(&self) -> (u64, u64) {
        self.open.as_ref().map_or((self.rows, self.bytes), |open| (open.first_row, open.first_byte))
    }

    /// Returns the highest run id, or 0 if there haven't been any runs.
    pub fn largest_run(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.run);
        self.published.as_ref().map_or(0, |published| published.run).max(open)
    }

    /// Returns the journal after the start of a run. Drops the last run's confirmed files, since
    /// the crawls have been notified of them by now.
    pub fn with_run(&self, run: OpenRun) -> Self {
        let mut journal = Self { open: Some(run), ..self.clone() };
        if let Some(published) = &mut journal.published {
            published.confirmed = IdRanges::default();
        }
        journal
    }

    /// Returns the journal as updated by a publish.
    pub fn with_publish(&self, publish: Publish) -> Self {
        let (sequence, identity) = (self.sequence + 1, self.identity.advanced());
        Self { sequence, open: None, published: Some(publish), identity, ..self.clone() }
    }

    /// Returns the journal after a removal. `hides` is added to the number of files that a killed
    /// attempt has already hidden.
    pub fn with_removal(&self, removal: i64, hides: u64) -> Self {
        let before = if self.removal == Some(removal) { self.removed } else { 0 };
        let (sequence, removed) = (self.sequence + 1, before + hides);
        let identity = self.identity.advanced();
        Self { sequence, removal: Some(removal), removed, identity, ..self.clone() }
    }
}

/// Summary of a published state.
#[derive(Clone, Debug, Default)]
pub struct IndexSummary {
    pub journal: Journal,
    /// Visible files per bucket. Empty buckets are left out.
    pub counts: Arc<BTreeMap<u64, u64>>,
    /// Size on disk, in bytes.
    pub disk_bytes: u64,
    /// Rows left over from replaced and removed files. They take up space until a rebuild.
    pub dead_rows: u64,
}
