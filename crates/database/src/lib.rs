#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod command;
mod connect;
mod db;
mod error;
mod metrics;
mod migrate;
mod off_worker;
mod pools;
mod settings;
mod sql;
mod sqlite;
mod stable_plans;
mod target;
mod transaction;

pub use command::MigrateCommand;
pub use db::{Backend, Db, MultiBackend};
pub use error::DatabaseError;
pub use migrate::Migrations;
pub use off_worker::off_worker;
pub use pools::Pools;
pub use settings::DatabaseSettings;
pub use sql::{StartsWith, contains_pattern, starts_with};
pub use sqlite::{SqliteOptions, WRITERS_GAP};
pub use transaction::{begin_reading, end_reading, transaction};
