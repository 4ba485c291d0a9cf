//! The site import report.

use std::fmt;

use serde::Serialize;

use super::items::ItemKind;

/// Maximum number of faults to report individually.
const MAX_FAULTS: usize = 100;

/// The site import report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Changed items that we skipped because they were trashed or erased here.
    pub skipped: u64,
    pub failed: u64,
    /// Images that could not be fetched. The next run tries again.
    pub missing_images: u64,
    /// Lists that had more or fewer items than the site claimed.
    pub incomplete: u64,
    /// The first items that failed, up to a limit.
    pub faults: Vec<ItemFault>,
}

/// An item that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemFault {
    /// The list it is in.
    pub list: &'static str,
    pub id: i64,
    /// The reason, for the operator.
    pub message: String,
}

impl TakenOver {
    /// Returns whether everything was imported.
    pub fn is_whole(&self) -> bool {
        self.failed + self.missing_images + self.incomplete == 0
    }

    /// Counts an item that failed.
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
