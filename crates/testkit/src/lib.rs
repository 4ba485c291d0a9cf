//! Throw-away databases, servers and folders for tests.
#![warn(missing_docs)]

mod database;

pub use database::Database;
