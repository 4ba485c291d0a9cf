//! Work beside requests: webhooks, first start, due publications, the index of events, loading, import.

mod dry_run;
mod event_index;
mod first_start;
mod import;
mod load;
mod publish;
mod turns;
mod webhooks;

pub use event_index::{prune_changes, refresh_index};
pub use first_start::seed;
pub use import::{ImportOptions, import};
pub use load::{Fault, LoadOptions, Loaded, load};
pub use publish::publish_due;
pub use webhooks::{deliver_due, deliver_for_ever, prune_messages};
