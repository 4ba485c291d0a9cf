//! Generates records for tables described by a schema.
//!
//! A value only depends on the seed, the table, the field and the row number, so any slice of a
//! table is the same in every format, and rows never have to be stored.

mod cell;
mod children;
mod dates;
mod evaluation;
mod expression;
mod fault;
mod field;
mod groups;
mod kinds;
mod known;
mod members;
mod nested;
mod parse;
mod permutation;
mod propose;
mod references;
mod schema;
mod sql_text;
mod tables;

pub use cell::{Cell, Shape};
pub use fault::SchemaFault;
pub use kinds::people::person_parts;
pub use parse::{parse, types};
pub use propose::{of_json_schema, of_sample, of_sql, virtual_tables};
pub use schema::{Rows, Schema, Table};
pub use sql_text::sql_name;
pub use tables::Bounds;
