//! Links many accounts to breaches. Each group takes two or three statements for any number of
//! breaches. On SQLite, another breach is appended to a run instead of the table.

mod append;
mod changes;
mod link;
mod postgres;
mod sqlite;

pub use append::append;
pub use changes::Linked;
pub use link::{link, merge};
