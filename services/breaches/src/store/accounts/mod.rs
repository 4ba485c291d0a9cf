//! Accounts: lookups by key, range and domain, and writes by loads.
//!
//! On SQLite, loads that are small compared to the table are appended to a *run*; see `runs`. Runs
//! are an implementation detail of this module.

mod batches;
mod compaction;
pub mod domain_walk;
mod many;
mod new_account;
mod pages;
mod read;
mod routed;
mod rows;
mod runs;
mod strip;
mod writer;

pub use batches::{Linked, PasteLink, add_pairs, add_pastes, merge, with_sequence};
pub use compaction::{
    Placement, StripPlace, domains_in_runs, has_accounts_in_runs, is_compact, join_two, move_some,
    placement, placement_in_table, strip_some,
};
pub use domain_walk::in_one_snapshot;
pub use many::with_keys;
pub use new_account::{NewAccount, NewLink};
pub use pages::{Pages, sample};
pub use read::*;
pub use routed::{one_key, one_page, one_range, routed_range, routed_with_key};
pub use rows::{AccountRow, IN_RUNS, RangeRow};
pub use runs::{AccountFilters, AccountView, faults, figures as run_figures, with_view};
pub use strip::{StripStatements, StripStep, prepare_strip, strip_between};
pub use writer::AccountWriter;
