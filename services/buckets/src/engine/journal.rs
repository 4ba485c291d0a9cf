//! What an index records about itself and its runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::identity::Identity;

/// What publishing a run does to the buckets that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They have exactly the files of the run.
    Replace,
    /// Files are added; an equal path replaces.
    Append,
}

/// A bucket that a run names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBucket {
    /// Its id.
    pub id: u64,
    /// Whether its listing says that more files follow.
    pub truncated: bool,
    /// Whether a source of it broke off: then no file of it is dropped but for an equal path.
    #[serde(default)]
    pub partial: bool,
}

impl NamedBucket {
    /// What becomes of its files in a run of a mode.
    pub fn mode(&self, of_run: Mode) -> Mode {
        if self.partial { Mode::Append } else { of_run }
    }
}

/// What a publish did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishCounts {
    /// Files whose path was new in their bucket.
    pub added: u64,
    /// Files whose path was there before.
    pub replaced: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that the run named again later.
    pub duplicates: u64,
}

/// A run that is under way, as far as its last checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRun {
    /// Id of the run.
    pub run: u64,
    /// Rows of the path column before the run.
    pub first_row: u64,
    /// Bytes of the path column before the run.
    pub first_byte: u64,
    /// The loader's own notes.
    pub progress: String,
}

/// The last publish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publish {
    /// Id of the run.
    pub run: u64,
    /// Unix seconds.
    pub at: i64,
    /// The buckets that it named.
    pub buckets: Vec<NamedBucket>,
    /// What it did.
    pub counts: PublishCounts,
}

/// What an index records about itself; stored in the very commit that it describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Counts every change that a search can see.
    pub sequence: u64,
    /// Rows that were ever given out and are committed.
    pub rows: u64,
    /// Bytes of paths that are committed.
    pub bytes: u64,
    /// The run that is under way; its rows are hidden.
    pub open: Option<OpenRun>,
    /// The last publish.
    pub published: Option<Publish>,
    /// The last removal that is in force.
    pub removal: Option<i64>,
    /// Files that it hid; whoever finishes it after a kill finds none of them any more.
    #[serde(default)]
    pub removed: u64,
    /// Tells the index apart from others, and its states from each other.
    #[serde(default)]
    pub identity: Identity,
}

impl Journal {
    /// The largest id of a run that it knows; 0: none.
    pub fn largest_run(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.run);
        self.published.as_ref().map_or(0, |published| published.run).max(open)
    }

    /// The journal after a publish.
    pub fn with_publish(&self, publish: Publish) -> Self {
        let sequence = self.sequence + 1;
        let Identity { index, publishes } = self.identity.clone();
        let identity = Identity { index, publishes: publishes + 1 };
        Self { sequence, open: None, published: Some(publish), identity, ..self.clone() }
    }

    /// The journal after a removal that hides so many files now; what it hid before a kill counts too.
    pub fn with_removal(&self, removal: i64, hides: u64) -> Self {
        let before = if self.removal == Some(removal) { self.removed } else { 0 };
        let (sequence, removed) = (self.sequence + 1, before + hides);
        Self { sequence, removal: Some(removal), removed, ..self.clone() }
    }
}

/// One published state, as far as a reader needs it without searching.
#[derive(Clone, Debug, Default)]
pub struct IndexSummary {
    /// The journal of the state.
    pub journal: Journal,
    /// Visible files per bucket; a bucket without files is absent.
    pub counts: Arc<BTreeMap<u64, u64>>,
    /// Bytes of the index on disk.
    pub disk_bytes: u64,
    /// Rows of replaced and removed files that are kept until a rebuild.
    pub dead_rows: u64,
}
