//! Events as CSV tables, for use in spreadsheets.

mod columns;
mod read;
mod write;

pub use read::TableRows;
pub use write::export_table;
