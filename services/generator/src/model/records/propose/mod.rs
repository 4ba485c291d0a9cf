//! Proposes schemas for existing tables, based on SQL, JSON Schema or a sample.

mod checks;
mod column;
mod days;
mod existing;
mod json_schema;
mod names;
mod partitions;
mod sample;
mod settled;
mod sql;
mod statements;
mod types;

pub use json_schema::of_json_schema;
pub use sample::of_sample;
pub use sql::of_sql;
