//! Background tasks, and the work behind the longer commands.

mod doctor;
mod dry_run;
mod event_index;
mod first_start;
mod import;
mod import_site;
mod load;
mod load_batches;
mod publish;
mod purge;
mod series;
mod spreadsheet;
mod subscriptions;
mod transfer;
mod users;
mod webhooks;
mod writer_queue;

pub use doctor::examine;
pub use event_index::{prune_changes, refresh_index};
pub use first_start::{Announce, seed};
pub use import::{ImportOptions, import};
pub use import_site::{SiteAccess, import_site};
pub use load::{Fault, LoadOptions, Loaded, load, load_file, load_table, load_table_file};
pub use publish::publish_due;
pub use purge::{PurgeOptions, Purged, empty_trash, purge};
pub use series::{extend_series, review_series};
pub use spreadsheet::{DateOrder, export_table};
pub use subscriptions::{
    add_subscription, change_subscription, list_subscriptions, measure_subscriptions,
    release_subscribed, remove_subscription, run_due_subscriptions, run_subscription,
    run_subscriptions_forever, show_subscription, step_subscription,
};
pub use transfer::{
    LoadedExport, export, gather_statistics, is_export, load_export, load_export_file,
    require_finished, verify_export,
};
pub use users::{Inherited, UserError, change_role, create_user, remove_user};
pub use webhooks::{deliver_due, deliver_forever, measure_messages, prune_messages};
