//! Operations that need the database.

mod schemas;

pub use schemas::{MOST_SCHEMAS, list_schemas, read_schema, remove_schema, save_schema};
