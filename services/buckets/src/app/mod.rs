//! The service's use cases, which check permissions and decide which reads and writes belong
//! together.

mod accounts;
mod alert_delivery;
mod alert_files;
mod alerts;
mod buckets;
mod crawls;
mod downloads;
mod error;
mod expression_slots;
mod facets;
mod files;
mod packages;
mod pairing;
mod reconcile;
mod search;
mod snapshot;
mod stats;
mod takedowns;

pub use accounts::get_account;
pub use alert_delivery::AlertDelivery;
pub use alert_files::get_alert_files;
pub use alerts::{add_alert, get_alert, list_alerts, put_alert, remove_alert, saved_search};
pub use buckets::list_buckets;
pub use crawls::{CrawlChange, add_crawl, change_crawl, get_crawl, list_crawls};
pub use downloads::{Download, download_files};
pub use error::SnapshotError;
pub use expression_slots::acquire_slot;
pub use facets::get_facets;
pub use files::search_files;
pub use packages::seed_packages;
pub use pairing::is_paired;
pub use reconcile::reconcile;
pub use search::{CancelOnDrop, search};
pub use snapshot::{copy_index, follow, lost, open, open_index, refresh};
pub use stats::{get_stats, get_totals};
pub use takedowns::pending_takedowns;
