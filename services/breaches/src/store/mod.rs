//! Queries, one file per group of tables.

pub mod account_links;
pub mod accounts;
pub mod admin_events;
pub mod blocks;
pub mod breaches;
pub mod domain_accounts;
pub mod domain_controls;
pub mod jobs;
pub mod key_holders;
pub mod load_connections;
pub mod mail_domains;
pub mod meta;
pub mod opt_outs;
pub mod pastes;
pub mod plan_features;
pub mod schema;
pub mod stealer_logs;
pub mod subscribers;

use database::Migrations;
use diesel_migrations::embed_migrations;

/// The migrations of this service; those of `auth` come before them.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: embed_migrations!("migrations/sqlite"),
    postgres: embed_migrations!("migrations/postgres"),
};
