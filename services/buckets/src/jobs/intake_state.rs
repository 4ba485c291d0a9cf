//! Intake state at a checkpoint, as saved in the index journal.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::formats::{LoosePages, PageEnd};
use super::reject_file::RejectLengths;
use super::rejected_names::RejectedNames;
use super::remote::Place;
use super::report::Tally;
use crate::model::id_ranges::{FlaggedIds, IdSet};
use crate::store::removals::Removal;

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
    /// Addresses of buckets with pages that aren't joined to their neighbours yet, and these pages.
    #[serde(default)]
    pub loose: BTreeMap<u64, (String, LoosePages)>,
    /// Buckets in the current source, and whether that source is incomplete.
    #[serde(default)]
    pub present: (IdSet, bool),
    /// Buckets in incomplete sources.
    #[serde(default)]
    pub partial: IdSet,
    /// Whether there was a source that could have had files of any bucket but couldn't be read.
    #[serde(default)]
    pub all_partial: bool,
    /// Number of listings of parts of a bucket that the tally doesn't name.
    #[serde(default)]
    pub more_partial: u64,
    /// Buckets that have only occurred in reject files.
    #[serde(default)]
    pub appended: IdSet,
    /// Files that bad lines name.
    #[serde(default)]
    pub rejected: RejectedNames,
    /// Buckets with bad lines that don't say which files they describe.
    #[serde(default)]
    pub unclear: IdSet,
    /// Whether the current source had entries other than bad lines.
    #[serde(default)]
    pub has_entries: bool,
    /// Position of the first bad line in the current source that doesn't even name a bucket.
    #[serde(default)]
    pub unclear_line: Option<u64>,
    /// Position of the last line read from the current source, if it's bad and doesn't describe a
    /// file.
    #[serde(default)]
    pub bad_end: Option<u64>,
    /// Removals that have left out files of the run, by bucket.
    #[serde(default)]
    pub withheld: BTreeMap<u64, BTreeSet<i64>>,
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
    /// Buckets that are incomplete only because of this listing, or of other abandoned listings.
    pub partial: IdSet,
    /// Note about the listing in the report.
    pub note: String,
}

impl IntakeState {
    /// Records that a removal has left out files of a bucket.
    pub fn withhold(&mut self, bucket: u64, removal: i64) {
        self.withheld.entry(bucket).or_default().insert(removal);
    }

    /// Records a removal that erases the run's files in a bucket, or those below a prefix.
    pub fn take_down(&mut self, bucket: u64, removal: &Removal) {
        if self.named.contains_key(&bucket) {
            self.withhold(bucket, removal.id);
        }
        if self.present.0.contains(&bucket) {
            forget_name(&mut self.place, &removal.prefix);
        }
        for listing in self.abandoned.iter_mut().filter(|one| one.partial.contains(&bucket)) {
            forget_name(&mut listing.place, &removal.prefix);
        }
        // If the end is erased, the next page doesn't count as a continuation.
        if self.ends.get(&bucket).is_some_and(|end| end.is_below(&removal.prefix)) {
            self.ends.remove(&bucket);
        }
        if removal.prefix.is_empty() {
            self.forget(bucket);
        }
    }

    /// Records why the current source is incomplete.
    pub fn note_incomplete(&mut self, note: String) {
        self.present.1 = true;
        let notes = &mut self.tally.incomplete;
        // There are fewer than 32 different reasons, so there's no need to look further back.
        if !notes.iter().rev().take(32).any(|known| *known == note) {
            notes.push(note);
        }
    }

    /// Records the buckets of an incomplete source. Unless it is an abandoned listing, they stay
    /// incomplete when abandoned listings of the same buckets are finished.
    pub fn leave_incomplete(&mut self, buckets: &IdSet, is_abandoned: bool) {
        self.partial.extend(buckets.iter());
        if !is_abandoned {
            for listing in &mut self.abandoned {
                listing.partial.retain(|bucket| !buckets.contains(bucket));
            }
        }
    }

    /// Returns `true` if a bucket is incomplete regardless of abandoned listings.
    pub fn stays_incomplete(&self, bucket: u64) -> bool {
        let waits = |listing: &AbandonedListing| listing.partial.contains(&bucket);
        self.partial.contains(&bucket) && !self.abandoned.iter().any(waits)
    }

    /// Forgets about a removed bucket, so that this run doesn't list it again. If the removal is
    /// lifted before the run is done, files read afterwards count as an incomplete listing.
    fn forget(&mut self, bucket: u64) {
        self.named.remove(&bucket);
        self.ends.remove(&bucket);
        self.loose.remove(&bucket);
        self.rejected.forget_bucket(bucket);
        self.present.0.remove(&bucket);
        self.appended.remove(&bucket);
        self.partial.insert(bucket);
        for listing in &mut self.abandoned {
            listing.partial.remove(&bucket);
        }
    }
}

/// Erases the name of a listing's last entry if it begins with a removed prefix. The listing then
/// continues at the server's token, or starts over if that is a name too.
pub(super) fn forget_name(place: &mut Option<Place>, prefix: &str) {
    let Some(Place { marker, key }) = place else { return };
    if marker.parameter == "marker" && marker.value.starts_with(prefix) {
        *place = None;
    } else if key.as_ref().is_some_and(|key| key.starts_with(prefix)) {
        *key = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_erases_the_last_name_of_a_truncated_page() {
        let mut state = IntakeState::default();
        let ends = [
            (1, r#"{"next":null,"last":"secret/1"}"#),
            (2, r#"{"next":"secret/1","last":"public/1"}"#),
            (3, r#"{"next":"token","last":"public/1"}"#),
        ];
        for (bucket, end) in ends {
            state.ends.insert(bucket, serde_json::from_str(end).unwrap());
        }
        let removal = Removal {
            id: 1,
            address: String::new(),
            prefix: "secret/".to_owned(),
            reason: String::new(),
            operator: String::new(),
            requested_at: 1,
            applied_at: None,
            files: 0,
            lifted_at: None,
            lifted_reason: None,
            lifted_by: None,
        };
        for (bucket, left) in [(3, 3), (2, 2), (1, 1)] {
            state.take_down(bucket, &removal);
            assert_eq!(state.ends.len(), left);
        }
        assert!(state.ends.contains_key(&3));
    }
}
