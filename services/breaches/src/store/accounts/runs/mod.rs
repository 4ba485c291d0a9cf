//! Stores the accounts of additional breaches in runs, apart from the table of accounts (SQLite
//! only).
//!
//! In a large database, writing another breach to the table would rewrite nearly every page of
//! `account`. Instead, the breach is written as a *run*: accounts in key order, in blocks, with a
//! small index by domain and a filter. The breaches of an address are the union of those in its row
//! and in runs; no link is stored twice. A run only changes when accounts are removed from it. Runs
//! are merged when there are many, and are moved to the table step by step when they are large
//! compared to it.
//!
//! A reader outside a transaction reads runs first and the table second, because accounts only move
//! from runs to the table.

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
pub use read::{between, from};
pub use run_account::RunAccount;
pub use take::{Stripped, strip, take};
pub use view::{AccountFilters, AccountView, with_view};
pub use write::RunWriter;
