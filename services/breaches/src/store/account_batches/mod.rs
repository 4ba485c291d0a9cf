//! Linking many accounts to breaches: each group takes two or three statements, however many breaches
//! its accounts are linked to.

mod changes;
mod link;
mod postgres;
mod sqlite;

pub use changes::{Linked, NewAccount};
pub use link::link;
