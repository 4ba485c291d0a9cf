//! What an intake remembers over a stop: the notes of a run in the journal of the index.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::reject_file::RejectLengths;
use super::remote::Place;
use super::report::Tally;

/// What an intake remembers over a stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntakeState {
    /// Sources read to their end.
    pub done: usize,
    /// Events of the next source that were taken already.
    pub events: u64,
    /// Where the listing of the next source goes on.
    #[serde(default)]
    pub place: Option<Place>,
    /// Named buckets and whether their listing goes on.
    pub named: BTreeMap<u64, bool>,
    /// Buckets that the present source named so far, and whether it broke off.
    #[serde(default)]
    pub present: (BTreeSet<u64>, bool),
    /// Buckets that sources named which broke off.
    #[serde(default)]
    pub partial: BTreeSet<u64>,
    /// What was read so far.
    pub tally: Tally,
    /// Bad lines in SQL.
    pub kept: usize,
    /// Bytes of the reject file and of its reasons.
    #[serde(default)]
    pub reject: Option<RejectLengths>,
}

impl IntakeState {
    /// Forgets that a bucket was named, which was removed: it is not listed again by this run. Should
    /// the removal be lifted before the run ends, what the run still reads of it is a part only.
    pub fn forget(&mut self, bucket: u64) {
        self.named.remove(&bucket);
        self.present.0.remove(&bucket);
        self.partial.insert(bucket);
    }
}
