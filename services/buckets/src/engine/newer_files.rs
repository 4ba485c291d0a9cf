//! Files that a run with an older listing must not change.

use serde::{Deserialize, Serialize};

use super::bitmap::Bitmap;
use crate::model::id_ranges::IdRanges;

/// Files that other runs have published since a run's listing began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewerFiles {
    /// Files with higher ids have been added since then.
    pub after: u64,
    /// Files that other runs have found unchanged since then.
    pub confirmed: IdRanges,
    /// Files that stay only if the run doesn't contain their paths.
    #[serde(skip)]
    pub kept: IdRanges,
}

impl NewerFiles {
    /// Returns `true` if the file is newer than the listing.
    pub fn contain(&self, id: u64) -> bool {
        id > self.after || self.confirmed.contains(id)
    }
}

/// Collects the files that a publish finds unchanged.
pub(super) struct Compared {
    unchanged: Bitmap,
    /// Files that stay even though they aren't in the run or have different attributes there.
    others: Bitmap,
    /// The smallest and the largest unchanged id.
    span: Option<(u64, u64)>,
}

impl Compared {
    /// Creates an empty collection for ids below `ids`.
    pub(super) fn new(ids: u64) -> Self {
        Self { unchanged: Bitmap::new(ids), others: Bitmap::new(ids), span: None }
    }

    /// Adds a file that stays.
    pub(super) fn insert(&mut self, id: u64, is_unchanged: bool) {
        if !is_unchanged {
            return self.others.insert(id);
        }
        self.unchanged.insert(id);
        let (least, most) = self.span.unwrap_or((id, id));
        self.span = Some((least.min(id), most.max(id)));
    }

    /// Returns the smallest and the largest unchanged id. Other files only need to be added if
    /// their ids are in this range.
    pub(super) fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    /// Returns the unchanged files. The set can also contain ids of dead rows and of files in other
    /// buckets.
    pub(super) fn unchanged(&self) -> IdRanges {
        let Some((least, most)) = self.span else { return IdRanges::default() };
        let is_known = |&id: &u64| self.unchanged.contains(id) || self.others.contains(id);
        let known = (least..=most).filter(is_known);
        IdRanges::of_flagged(known.map(|id| (id, self.unchanged.contains(id))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_ids_end_only_at_other_ones_between_them() {
        let mut compared = Compared::new(100);
        assert_eq!((compared.span(), compared.unchanged()), (None, IdRanges::default()));
        compared.insert(50, false);
        assert_eq!((compared.span(), compared.unchanged()), (None, IdRanges::default()));
        for (id, is_unchanged) in [(60, true), (20, true), (10, false), (40, true), (90, false)] {
            compared.insert(id, is_unchanged);
        }
        assert_eq!(compared.span(), Some((20, 60)));
        let unchanged = compared.unchanged();
        let found: Vec<u64> = (0..100).filter(|&id| unchanged.contains(id)).collect();
        assert_eq!(found, (20..=40).chain([60]).collect::<Vec<u64>>());
    }
}
