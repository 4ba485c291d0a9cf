//! All rows that an export of a calendar carries, in the order of their references.
//!
//! Rows are copied column by column, so the target gives the same answers. Not copied are keys, the
//! secrets and messages of webhooks, and what the service derives while it runs.

mod carried;
mod rows;
mod target;

pub use rows::{Record, TABLES, each, files};
pub use target::{
    Sequences, begin, content_version, finish, is_empty, note_line, sequences, unfinished,
};
