//! Event lists. They are answered from the in-memory index, or by an SQL query while the index is
//! being built.

mod page;
mod statement;

pub use page::{page, page_with_included, total};
pub use statement::{page as page_by_statement, page_statement};
