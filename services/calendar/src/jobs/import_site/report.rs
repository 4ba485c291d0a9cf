//! The report on a site import.

use std::fmt;

use serde::Serialize;

use super::items::ItemKind;

/// Maximum number of failed items to report individually.
const MAX_FAULTS: usize = 100;

/// The result of a site import, with item counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Items that have changed on the site, but weren't written because they had been trashed or
    /// erased here.
    pub skipped: u64,
    pub failed: u64,
    /// Images that couldn't be fetched. The next run retries them.
    pub missing_images: u64,
    /// Lists that turned out to be longer or shorter than the site reported.
    pub incomplete: u64,
    /// Details of the first items that failed. `failed` counts all of them.
    pub faults: Vec<ItemFault>,
}

/// An item that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemFault {
    /// The list containing the failed item, e.g. `venues`.
    pub list: &'static str,
    pub id: i64,
    /// An explanation for the operator.
    pub message: String,
}

impl TakenOver {
    /// Returns whether the import is complete, with nothing for another run to retry.
    pub fn is_whole(&self) -> bool {
        self.failed + self.missing_images + self.incomplete == 0
    }

    /// Records a failed item.
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
