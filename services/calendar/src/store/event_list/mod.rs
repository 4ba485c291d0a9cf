//! Lists of events: the usual ones from indexes of the database, all others from the index in memory.

pub(crate) mod fast_paths;
mod page;
pub(crate) mod places;
mod statements;

pub use page::{page, page_with_included};
pub use statements::page_statement;
