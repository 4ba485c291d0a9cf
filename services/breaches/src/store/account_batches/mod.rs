//! Linking many accounts to breaches: each group takes two or three statements, however many breaches
//! its accounts are linked to. On SQLite a further breach goes beside the table, into a run.

mod append;
mod changes;
mod link;
mod postgres;
mod sqlite;

pub use append::append;
pub use changes::Linked;
pub use link::{link, merge};
