//! Files that a run with an older listing may not change.

use serde::{Deserialize, Serialize};

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
