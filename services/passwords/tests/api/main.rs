//! Integration tests of the password range service.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod app;
mod backup;
mod base_path;
mod build;
mod caching;
mod commands;
mod contract;
mod crash;
mod damage;
mod empty;
mod errors;
mod export_folder;
mod log;
mod memory;
mod metrics;
mod mirror;
mod mirror_faults;
mod page;
mod private_files;
mod range;
mod reload;
mod requests;
mod settings;
mod stop;
