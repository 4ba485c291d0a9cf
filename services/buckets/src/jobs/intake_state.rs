//! The state of an intake at a checkpoint, saved in the journal of the index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::formats::PageEnd;
use super::reject_file::RejectLengths;
use super::remote::Place;
use super::report::Tally;
use crate::model::id_ranges::{FlaggedIds, IdSet};

/// The state of an intake at a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntakeState {
    /// Number of finished sources.
    pub done: usize,
    /// Number of events of the next source that have been processed.
    pub events: u64,
    /// Position in the listing of the next source.
    #[serde(default)]
    pub place: Option<Place>,
    /// Buckets that were named, and whether their listings were truncated.
    pub named: FlaggedIds,
    /// Ends of truncated pages. The next pages of their buckets continue there.
    #[serde(default)]
    pub ends: BTreeMap<u64, PageEnd>,
    /// Buckets that the current source has named, and whether the source is incomplete.
    #[serde(default)]
    pub present: (IdSet, bool),
    /// Buckets that incomplete sources have named.
    #[serde(default)]
    pub partial: IdSet,
    /// Buckets that only reject files have named.
    #[serde(default)]
    pub appended: IdSet,
    /// The counts of everything read so far.
    pub tally: Tally,
    /// Listings of unreachable hosts. A resumed run continues them.
    #[serde(default)]
    pub abandoned: Vec<AbandonedListing>,
    /// Bad lines in SQL.
    pub kept: usize,
    /// Lengths of the reject file and of the file of its reasons.
    #[serde(default)]
    pub reject: Option<RejectLengths>,
}

/// A listing that was abandoned because its host became unreachable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbandonedListing {
    /// Number of its source.
    pub source: usize,
    /// The position at which it continues.
    pub place: Option<Place>,
    /// Buckets that are incomplete only because of this listing.
    pub partial: IdSet,
    /// The note about it in the report.
    pub note: String,
}

impl IntakeState {
    /// Discards a removed bucket, so that this run does not list it again. If the removal is lifted
    /// before the run ends, the rest of the bucket counts as incomplete.
    pub fn forget(&mut self, bucket: u64) {
        self.named.remove(&bucket);
        self.ends.remove(&bucket);
        self.present.0.remove(&bucket);
        self.appended.remove(&bucket);
        self.partial.insert(bucket);
        for listing in &mut self.abandoned {
            listing.partial.remove(&bucket);
        }
    }
}
