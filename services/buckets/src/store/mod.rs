//! SQL tables for packages, buckets, runs, crawls and removals. File rows are not stored in SQL.

pub(crate) mod alert_messages;
pub(crate) mod alerts;
pub(crate) mod buckets;
pub mod crawl_pages;
pub(crate) mod crawls;
pub(crate) mod generations;
pub mod load_runs;
pub mod packages;
pub mod rejected_lines;
pub(crate) mod removals;
mod schema;

use database::Migrations;

/// The tables of this service, created after those of `auth`.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
};
