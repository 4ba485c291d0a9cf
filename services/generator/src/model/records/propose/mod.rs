//! Proposes schemas for existing tables, based on SQL, JSON Schema or a sample.

mod alternatives;
mod bodies;
mod checks;
mod column;
mod days;
mod existing;
mod json_schema;
mod names;
mod narrowed;
mod partitions;
mod rewritten;
mod sample;
mod settled;
mod sql;
mod statements;
mod types;
mod values;

pub use json_schema::of_json_schema;
pub use sample::of_sample;
pub use sql::of_sql;
