//! Work beside requests: first start, due publications, the index of events, loading.

mod event_index;
mod first_start;
mod load;
mod publish;

pub use event_index::{prune_changes, refresh_index};
pub use first_start::seed;
pub use load::{Fault, LoadOptions, Loaded, load};
pub use publish::publish_due;
