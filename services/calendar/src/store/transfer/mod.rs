//! Everything that a calendar export contains, ordered to satisfy references between tables.
//!
//! Rows are copied column by column, and the target returns the same responses as the source. Keys,
//! webhook secrets, webhook messages and data that we derive at run time aren't copied.

mod carried;
mod rows;
mod target;

pub use rows::{Record, TABLES, each, files};
pub use target::{
    Sequences, begin, content_version, finish, is_empty, note_line, sequences, unfinished,
};
