//! Links accounts to breaches in bulk. A group takes two or three statements, regardless of the
//! number of breaches. On SQLite, small loads may be appended to a run instead. Distributed
//! databases get all accounts of a transaction in one go.

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
