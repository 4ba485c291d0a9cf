//! Proposes schemas for existing tables, from SQL, JSON Schema or a sample.

mod column;
mod json_schema;
mod names;
mod sample;
mod sql;
mod statements;

pub use json_schema::of_json_schema;
pub use sample::of_sample;
pub use sql::of_sql;
