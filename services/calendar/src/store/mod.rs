//! Queries of the calendar, a file per group of tables, and the images outside of it.

mod conditions;
pub mod counts;
pub mod entities;
pub mod event_list;
pub mod event_selector;
pub mod events;
pub mod images;
pub mod included;
mod included_postgres;
pub mod linked;
pub mod links;
pub mod maintenance;
pub mod media;
pub mod read_transaction;
pub mod remote_images;
mod schema;
pub mod search_vocabulary;
pub mod slugs;
pub mod sql;
pub mod terms;
pub mod users;

use database::Migrations;

/// The tables of the calendar.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
};
