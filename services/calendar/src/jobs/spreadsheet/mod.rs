//! Events as CSV tables, for use in spreadsheets.

mod cell_dates;
mod columns;
mod read;
mod write;

pub use cell_dates::DateOrder;
pub use read::TableRows;
pub use write::export_table;
