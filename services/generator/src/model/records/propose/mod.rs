//! Proposes schemas for existing tables, based on SQL, JSON Schema or a sample.

mod alternatives;
mod apart;
mod bodies;
mod checks;
mod column;
mod days;
mod defined;
mod encodings;
mod existing;
mod globs;
mod json_schema;
mod keys;
mod limits;
mod measures;
mod names;
mod narrowed;
mod objects;
mod partitions;
mod qualified;
mod ranges;
mod referred;
mod rewritten;
mod sample;
mod satisfied;
mod schema_numbers;
mod settled;
mod sql;
mod statements;
mod types;
mod values;
mod virtual_tables;

pub use json_schema::of_json_schema;
pub use sample::of_sample;
pub use sql::of_sql;
pub use virtual_tables::virtual_tables;
