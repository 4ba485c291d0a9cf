//! Accounts: reading them by key, by range and by domain, and writing those of loads.
//!
//! On SQLite a load that is small compared to the table is appended to a *run*; see `runs`. Only this
//! folder uses runs.

mod batches;
mod compaction;
pub mod domain_walk;
mod new_account;
mod read;
mod runs;
mod writer;

pub use batches::{Linked, merge};
pub use compaction::{
    Placement, has_accounts_in_runs, is_compact, join_two, move_some, placement, strip_some,
};
pub use domain_walk::in_one_snapshot;
pub use new_account::NewAccount;
pub use read::*;
pub use runs::{AccountFilters, AccountView, faults, with_view};
pub use writer::AccountWriter;
