//! Searches an index of files in open cloud storage buckets.
//!
//! The HTTP API searches files by words or regular expressions, lists buckets and returns
//! statistics. Operators load data, remove data and issue keys on the command line. File rows are
//! stored in a file index (see [`engine`]) and everything else in SQL (see [`store`]).

mod app;
mod cli;
mod config;
pub mod engine;
mod error;
mod handlers;
pub mod jobs;
mod metrics;
pub mod model;
mod openapi;
mod policy;
mod routes;
mod service;
mod state;
pub mod store;
mod wire;

pub use app::{SnapshotError, acquire_slot, open, refresh, search, seed_packages};
pub use cli::Cli;
pub use config::Settings;
pub use service::Buckets;
pub use state::{Snapshot, State};
