//! The report of taking over a site.

use std::fmt;

use serde::Serialize;

use super::items::ItemKind;

/// Maximum number of faults reported individually.
const MAX_FAULTS: usize = 100;

/// The report of taking over a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Changed items that were skipped because they were trashed or erased here.
    pub skipped: u64,
    pub failed: u64,
    /// Images that could not be fetched. The next run retries them.
    pub missing_images: u64,
    /// Lists whose number of items differed from the number that the site reported.
    pub incomplete: u64,
    /// The first failed items, up to a limit.
    pub faults: Vec<ItemFault>,
}

/// A failed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemFault {
    /// The list that contains the item.
    pub list: &'static str,
    /// Id of the item at the site.
    pub id: i64,
    /// The reason, for the operator.
    pub message: String,
}

impl TakenOver {
    /// Returns whether everything was taken over.
    pub fn is_whole(&self) -> bool {
        self.failed + self.missing_images + self.incomplete == 0
    }

    /// Counts a failed item.
    pub fn note(&mut self, kind: ItemKind, id: i64, message: String) {
        self.failed += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(ItemFault { list: kind.collection(), id, message });
        }
    }
}

impl fmt::Display for TakenOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TakenOver { created, updated, unchanged, skipped, failed, missing_images, .. } = self;
        write!(
            f,
            "{created} created, {updated} updated, {unchanged} unchanged, {skipped} skipped, {failed} failed, \
             {missing_images} images missing"
        )
    }
}
