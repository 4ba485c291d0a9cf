//! Lists of events.

mod candidates;
mod fast_paths;
mod page;
mod statements;

pub use candidates::Candidates;
pub use page::{page, page_with_included};
pub use statements::page_statement;
