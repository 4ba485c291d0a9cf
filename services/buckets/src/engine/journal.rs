//! The journal of an index: its state and its runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::id_ranges;
use crate::model::identity::Identity;

/// How a publish changes the buckets that the run names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The files of the run replace all files of the bucket.
    Replace,
    /// The files of the run are added. A file with the same path is replaced.
    Append,
}

/// A bucket named by a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedBucket {
    pub id: u64,
    /// Whether its listing was truncated.
    pub truncated: bool,
    /// Whether one of its sources was incomplete. In that case only files with equal paths are
    /// replaced.
    pub partial: bool,
}

impl NamedBucket {
    /// Returns how a run of this mode changes the bucket.
    pub fn mode(&self, of_run: Mode) -> Mode {
        if self.partial { Mode::Append } else { of_run }
    }
}

/// Returns a number greater than all ids of the buckets.
pub(super) fn above_ids(buckets: &[NamedBucket]) -> u64 {
    buckets.iter().map(|bucket| bucket.id).max().map_or(0, |largest| largest + 1)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishCounts {
    /// Files with new paths.
    pub added: u64,
    /// Files whose path existed with different attributes.
    pub replaced: u64,
    /// Files whose path existed with the same attributes. They keep their ids.
    #[serde(default)]
    pub unchanged: u64,
    /// Number of removed files.
    pub removed: u64,
    /// Files that the run named again later.
    pub duplicates: u64,
}

/// An unfinished run, as of its last checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRun {
    /// Id of the run.
    pub run: u64,
    /// Number of rows in the path column before the run.
    pub first_row: u64,
    /// Number of bytes in the path column before the run.
    pub first_byte: u64,
    /// Notes of the loader.
    pub progress: String,
}

/// A published run, and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publish {
    /// Id of the run.
    pub run: u64,
    /// Unix seconds.
    pub at: i64,
    /// The buckets that the run named, written as ranges of ids.
    #[serde(serialize_with = "write_named", deserialize_with = "read_named")]
    pub buckets: Vec<NamedBucket>,
    /// Numbers of files that were added, replaced and removed.
    pub counts: PublishCounts,
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

/// The journal of an index. It is stored in the commit that it describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Number of changes that searches can see.
    pub sequence: u64,
    /// Number of committed rows, including deleted ones.
    pub rows: u64,
    /// Committed bytes of paths.
    pub bytes: u64,
    /// The unfinished run, if there is one. Its rows are hidden.
    pub open: Option<OpenRun>,
    /// The last published run, if there is one.
    pub published: Option<Publish>,
    /// Id of the last takedown, if there was one.
    pub removal: Option<i64>,
    /// Number of files that the last removal has hidden. If a process was killed, the one that
    /// completes the removal can no longer count them.
    #[serde(default)]
    pub removed: u64,
    /// Identifies the index and its state.
    #[serde(default)]
    pub identity: Identity,
}

impl Journal {
    /// Returns the largest id of any file that is or was published.
    pub fn published_id(&self) -> u64 {
        self.open.as_ref().map_or(self.rows, |open| open.first_row)
    }

    /// Returns the largest id of a run, or 0 if there were none.
    pub fn largest_run(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.run);
        self.published.as_ref().map_or(0, |published| published.run).max(open)
    }

    /// Returns the journal that results from a publish.
    pub fn with_publish(&self, publish: Publish) -> Self {
        let (sequence, identity) = (self.sequence + 1, self.identity.advanced());
        Self { sequence, open: None, published: Some(publish), identity, ..self.clone() }
    }

    /// Returns the journal after a removal that hides this number of files, in addition to those
    /// that were hidden before a kill.
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
    /// The journal of the state.
    pub journal: Journal,
    /// Number of visible files by bucket. Buckets without files are absent.
    pub counts: Arc<BTreeMap<u64, u64>>,
    /// Size of the index on disk in bytes.
    pub disk_bytes: u64,
    /// Number of rows of replaced and removed files that remain until a rebuild.
    pub dead_rows: u64,
}
