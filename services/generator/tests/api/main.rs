//! The service over real sockets, on the database that `TEST_DATABASE_URL` names.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod access;
mod answers;
mod app;
mod base_path;
mod caching;
mod card;
mod commands;
mod contract;
mod culture;
mod errors;
mod finance;
mod licenses;
mod lists;
mod log;
mod name;
mod page;
mod person;
mod phone;
mod private_files;
mod requests;
mod social;
mod stop;
mod text;
