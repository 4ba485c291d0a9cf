//! The result of taking over a site.

use std::fmt;

use serde::Serialize;

use super::items::ItemKind;

/// Maximum number of faults reported individually.
const MAX_FAULTS: usize = 100;

/// The result of taking over a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Changed items that were moved to the trash or erased here.
    pub skipped: u64,
    pub failed: u64,
    /// Images that could not be fetched. The next run tries again.
    pub missing_images: u64,
    /// Lists that had another number of items than they said.
    pub incomplete: u64,
    /// The first failed items, by their ids.
    pub faults: Vec<ItemFault>,
}

/// A failed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemFault {
    /// The list with the item.
    pub list: &'static str,
    /// Its id at the site.
    pub id: i64,
    /// The error.
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
