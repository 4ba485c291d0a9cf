//! The use cases: who may do what, and what is read and written together.

mod accounts;
mod buckets;
mod expression_slots;
mod files;
mod packages;
mod reconcile;
mod search;
mod snapshot;
mod stats;

pub use accounts::get_account;
pub use buckets::list_buckets;
pub use expression_slots::acquire_slot;
pub use files::search_files;
pub use packages::seed_packages;
pub use reconcile::reconcile;
pub use search::search;
pub use snapshot::{SnapshotError, follow, open, open_index, refresh};
pub use stats::get_stats;
