//! SQL statements.

pub(crate) mod fill_progress;
pub(crate) mod schemas;

use database::Migrations;

/// Migrations for this service's own tables. They run after the migrations from `auth`.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
    tables: &["record_schema"],
};
