//! Lists of events: common ones from database indexes, all others from the index in memory.

pub(crate) mod fast_paths;
mod page;
pub(crate) mod places;
mod statements;

pub use page::{page, page_with_included, total};
pub use statements::page_statement;
