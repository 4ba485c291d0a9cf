//! All rows that an export of a calendar contains, in an order that respects their references.
//!
//! Rows are copied column by column, so that the target gives the same responses. Keys, the secrets
//! and messages of webhooks, and data that the service derives at run time are not copied.

mod carried;
mod rows;
mod target;

pub use rows::{Record, TABLES, each, files};
pub use target::{
    Sequences, begin, content_version, finish, is_empty, note_line, sequences, unfinished,
};
