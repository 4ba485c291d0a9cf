//! SQL statements.

pub mod fill_progress;
