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
    /// Number of processed events of the next source.
    pub events: u64,
    /// Place in the listing of the next source.
    #[serde(default)]
    pub place: Option<Place>,
    /// Named buckets, and whether their listings were truncated.
    pub named: FlaggedIds,
    /// Ends of truncated pages, which the next pages of their buckets continue.
    #[serde(default)]
    pub ends: BTreeMap<u64, PageEnd>,
    /// Buckets that the current source has named, and whether it is incomplete.
    #[serde(default)]
    pub present: (IdSet, bool),
    /// Buckets named by incomplete sources.
    #[serde(default)]
    pub partial: IdSet,
    /// Buckets that only reject files have named.
    #[serde(default)]
    pub appended: IdSet,
    /// Counts so far.
    pub tally: Tally,
    /// Listings of unreachable hosts, which a resumed run continues.
    #[serde(default)]
    pub abandoned: Vec<AbandonedListing>,
    /// Bad lines in SQL.
    pub kept: usize,
    /// Lengths of the reject file and of its reasons.
    #[serde(default)]
    pub reject: Option<RejectLengths>,
}

/// A listing whose host became unreachable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbandonedListing {
    /// Number of its source.
    pub source: usize,
    /// The place at which it continues.
    pub place: Option<Place>,
    /// Buckets that are incomplete only because of this listing.
    pub partial: IdSet,
    /// The note in the report.
    pub note: String,
}

impl IntakeState {
    /// Forgets a removed bucket, so this run does not list it again. If the removal is lifted
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
