//! Runs, which store the accounts of additional breaches separately from the account table (SQLite
//! only).
//!
//! Adding another breach to the table of a large database would rewrite nearly every page of
//! `account`. Instead, we write the breach as a *run*: accounts in key order, packed into blocks,
//! with a small by-domain index and a filter. An address's breaches are the union of the ones in
//! its row and the ones in runs. No link is stored twice. Runs don't change unless accounts or
//! links are removed. If there are many runs, some are merged, and if runs are large compared to
//! the table, their accounts are gradually moved there.
//!
//! Outside a transaction, read runs before the table, since accounts only ever move from runs to
//! the table and could otherwise be missed.

mod block;
mod by_domain;
mod check;
mod cursor;
mod domain_block;
mod filter;
mod key_map;
mod list;
mod merge;
mod read;
mod run_account;
mod stored;
mod take;
mod view;
mod write;

pub use by_domain::at_domain;
pub use check::{count_outside, faults};
pub use cursor::Merged;
pub use list::{Weights, any, figures, first_with, weights};
pub use merge::merge_two;
pub use read::{between, domains, from, with_keys};
pub use run_account::RunAccount;
pub use take::{Stripped, strip, take, take_keys};
pub use view::{AccountFilters, AccountView, with_view};
pub use write::RunWriter;
