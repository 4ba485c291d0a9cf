//! Accounts of further breaches beside the table of accounts, on SQLite.
//!
//! A further breach of a large database would rewrite nearly every page of `account`. It is written as a
//! *run* instead: its accounts in key order, in blocks, with a small index by domain and a filter. What
//! an address is in is the union of its row and of its entries in runs; no link is in two of them. A run
//! never changes, but for accounts that are taken out of it; runs become one when there are many, and
//! go into the table bit by bit when they weigh much beside it.
//!
//! A reader that is not in a transaction reads runs first and the table behind them: accounts only ever
//! move from runs into it.

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
pub use list::{Weights, any, first_with, weights};
pub use merge::merge_two;
pub use read::{between, from};
pub use run_account::RunAccount;
pub use take::{strip, take};
pub use view::{RunFilters, RunView, with_view};
pub use write::RunWriter;
