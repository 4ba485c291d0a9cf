//! Lists of events: from the index in memory, or from one statement while it is being built.

mod page;
mod statement;

pub use page::{page, page_with_included, total};
pub use statement::{page as page_by_statement, page_statement};
