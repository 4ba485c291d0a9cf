//! Links many accounts to breaches. Each group takes two or three statements, regardless of the
//! number of breaches. On SQLite, an additional breach is appended to a run instead of the table. A
//! distributed database gets all accounts of a transaction at once.

mod append;
mod changes;
mod link;
mod postgres;
mod sqlite;
mod staged;

pub use append::append;
pub use changes::Linked;
pub use link::{link, merge};
pub use staged::{PasteLink, StagedRow, add_pairs, add_pastes, link as link_staged};
