//! Everything that a calendar export contains, ordered so that referenced rows come first.
//!
//! Rows are copied column by column, so that the target returns the same responses as the source.
//! Keys, webhook secrets, webhook messages and data derived at run time aren't copied.

mod carried;
mod rows;
mod target;

pub use rows::{Record, TABLES, each, files};
pub use target::{
    Sequences, begin, content_version, finish, is_empty, note_line, sequences, unfinished,
};
