#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod backup;
mod bulk_writer;
mod command;
mod connect;
mod db;
mod doctor;
mod error;
mod fair_turns;
mod lane;
mod metrics;
mod migrate;
mod off_worker;
mod pools;
mod probe;
mod pulse;
mod retry;
mod settings;
mod sql;
mod sqlite;
mod sqlite_hook;
mod structure;
mod target;
mod transaction;
mod worker_reader;
mod writability;
mod write_ahead_log;
mod writer_queue;

pub use bulk_writer::BulkWriter;
pub use command::MigrateCommand;
pub use db::{Backend, Db, MultiBackend};
pub use doctor::DoctorCommand;
pub use error::DatabaseError;
pub use fair_turns::{FairTurns, Turn};
pub use migrate::Migrations;
pub use off_worker::off_worker;
pub use pools::Pools;
pub use settings::DatabaseSettings;
pub use sql::{StartsWith, contains_pattern, starts_with};
pub use sqlite::{SqliteOptions, WRITERS_GAP};
pub use structure::structural_faults;
pub use transaction::{begin_reading, end_reading, rehearse, transaction};
pub use worker_reader::{ReaderCache, WorkerReader};
pub use write_ahead_log::clear_log;
pub use writer_queue::{Retries, WriterQueue};
