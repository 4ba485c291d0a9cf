//! Links accounts to breaches in bulk. A group takes two or three statements, no matter how many
//! breaches there are. On SQLite, a small load may be appended to a run instead. On a distributed
//! database, all accounts in a transaction are linked in one go.

mod append;
mod changes;
mod link;
mod postgres;
mod sequence;
mod sqlite;
mod staged;

pub use append::append;
pub use changes::Linked;
pub use link::{link, merge};
pub use sequence::with_sequence;
pub use staged::{PasteLink, add_pairs, add_pastes, link as link_staged};
