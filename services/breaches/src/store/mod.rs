//! Queries, one file per group of tables; nothing here knows HTTP.

pub mod account;
pub mod account_write;
pub mod admin_event;
pub mod block;
pub mod breach;
pub mod caller;
pub mod domain_account;
pub mod domain_control;
pub mod job;
pub mod mail_domain;
pub mod meta;
pub mod opt_out;
pub mod paste;
pub mod plan_feature;
pub mod schema;
pub mod stealer_log;
pub mod subscriber;

use database::Migrations;
use diesel_migrations::embed_migrations;

/// The migrations of this service; those of `auth` come before them.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: embed_migrations!("migrations/sqlite"),
    postgres: embed_migrations!("migrations/postgres"),
};
