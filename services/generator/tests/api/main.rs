//! Integration tests over real sockets, on SQLite or on the server in `TEST_DATABASE_URL`.
#![allow(clippy::unwrap_used)] // A failed test panics.

mod access;
mod answers;
mod app;
mod backup;
mod base_path;
mod caching;
mod card;
mod commands;
mod contract;
mod culture;
mod dumps;
mod errors;
mod finance;
mod into;
mod licenses;
mod lists;
mod log;
mod metrics;
mod name;
mod page;
mod person;
mod phone;
mod private_files;
mod proposals;
mod record_alternatives;
mod record_bounds;
mod record_kinds;
mod record_parts;
mod records;
mod requests;
mod schema;
mod schemas;
mod social;
mod stop;
mod text;
