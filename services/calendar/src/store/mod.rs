//! Queries of the calendar, a file per group of tables.

mod at_once;
pub mod bundle;
pub mod counts;
pub mod entities;
pub mod event_list;
pub mod events;
pub mod images;
pub mod linked;
pub mod links;
pub mod people;
mod schema;
pub mod slugs;
pub mod snapshot;
pub mod sql;
pub mod terms;
pub mod upkeep;
pub mod vocabulary;

use database::Migrations;

/// The tables of the calendar.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
};
