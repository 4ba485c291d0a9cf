//! SQL tables for everything except file rows, e.g. packages, buckets, runs, crawls and removals.

pub(crate) mod alert_messages;
pub(crate) mod alerts;
pub(crate) mod buckets;
pub(crate) mod crawl_claims;
pub(crate) mod crawl_confirmations;
pub(crate) mod crawl_etags;
pub(crate) mod crawl_listings;
pub mod crawl_pages;
pub(crate) mod crawl_turns;
pub(crate) mod crawls;
pub(crate) mod generations;
pub mod load_runs;
pub mod packages;
pub mod rejected_lines;
pub(crate) mod removals;
mod schema;

use database::Migrations;

/// This service's tables. Create those of `auth` first.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
    tables: &["package", "bucket", "load_run", "removal", "index_state", "alert"],
};
