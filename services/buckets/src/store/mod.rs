//! What the service keeps in SQL: packages, identities of buckets, runs, removals. No file rows.

pub mod bucket;
pub mod package;
pub mod rejected;
pub mod removal;
pub mod run;
pub mod schema;
pub mod state;

use database::Migrations;

/// The tables of this service; after those of `auth`.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
};
