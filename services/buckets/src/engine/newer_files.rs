//! Files that a run with an older listing may not change.

use serde::{Deserialize, Serialize};

use super::bitmap::Bitmap;
use crate::model::id_ranges::IdRanges;

/// Files that other runs published after the listing of a run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewerFiles {
    /// Files with larger ids were added since then.
    pub after: u64,
    /// Files that other runs listed unchanged since then.
    pub confirmed: IdRanges,
}

impl NewerFiles {
    /// Returns `true` if the file is newer than the listing.
    pub fn contain(&self, id: u64) -> bool {
        id > self.after || self.confirmed.contains(id)
    }
}

/// Collects which files of a bucket a publish finds unchanged.
pub(super) struct Compared {
    unchanged: Bitmap,
    /// Files that stay but are not in the run, or differ there.
    others: Bitmap,
    ids: u64,
}

impl Compared {
    /// Creates an empty collection for ids below `ids`.
    pub(super) fn new(ids: u64) -> Self {
        Self { unchanged: Bitmap::new(ids), others: Bitmap::new(ids), ids }
    }

    /// Adds a file that stays.
    pub(super) fn insert(&mut self, id: u64, is_unchanged: bool) {
        if is_unchanged { self.unchanged.insert(id) } else { self.others.insert(id) }
    }

    /// Returns the unchanged files. The set may also contain ids of dead rows and of other buckets.
    pub(super) fn unchanged(&self) -> IdRanges {
        let is_known = |&id: &u64| self.unchanged.contains(id) || self.others.contains(id);
        let known = (0..self.ids).filter(is_known);
        IdRanges::of_flagged(known.map(|id| (id, self.unchanged.contains(id))))
    }
}
