//! Intake state at a checkpoint, as saved in the index journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::formats::PageEnd;
use super::reject_file::RejectLengths;
use super::remote::Place;
use super::report::Tally;
use crate::model::id_ranges::{FlaggedIds, IdSet};

/// Intake state at a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntakeState {
    /// Number of finished sources.
    pub done: usize,
    /// Number of events processed in the current source.
    pub events: u64,
    /// Position in the current source, if it's a listing.
    #[serde(default)]
    pub place: Option<Place>,
    /// Buckets covered by the run, and whether their listings were truncated.
    pub named: FlaggedIds,
    /// Ends of truncated pages, by bucket. The next page should continue from there.
    #[serde(default)]
    pub ends: BTreeMap<u64, PageEnd>,
    /// Buckets in the current source, and whether that source is incomplete.
    #[serde(default)]
    pub present: (IdSet, bool),
    /// Buckets in incomplete sources.
    #[serde(default)]
    pub partial: IdSet,
    /// Number of listings of parts of a bucket that the tally doesn't name.
    #[serde(default)]
    pub more_partial: u64,
    /// Buckets that have only occurred in reject files.
    #[serde(default)]
    pub appended: IdSet,
    /// Counts of everything read so far.
    pub tally: Tally,
    /// Listings that were abandoned because the host was unreachable. They continue when the run is
    /// resumed.
    #[serde(default)]
    pub abandoned: Vec<AbandonedListing>,
    /// Source, position and problem of the first bad line. Empty if there isn't one.
    #[serde(default)]
    pub first_bad: String,
    /// Number of bad lines kept in SQL.
    pub kept: usize,
    /// Lengths of the reject file and the reasons file.
    #[serde(default)]
    pub reject: Option<RejectLengths>,
}

/// A listing that was abandoned because its host was unreachable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbandonedListing {
    /// Index of the source.
    pub source: usize,
    /// Place to continue from.
    pub place: Option<Place>,
    /// Buckets that are incomplete only because of this listing.
    pub partial: IdSet,
    /// Note about the listing in the report.
    pub note: String,
}

impl IntakeState {
    /// Forgets about a removed bucket, so that this run doesn't list it again. If the removal is
    /// lifted before the run is done, files read afterwards count as an incomplete listing.
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
