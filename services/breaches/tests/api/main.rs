//! One test binary: a file per resource, a real server on its own database for each test.

#![allow(clippy::unwrap_used)] // A test that meets an error has failed.

mod app;
mod breached_account;
mod breached_domain;
mod browser;
mod caching;
mod catalogue;
mod cleaning;
mod commands;
mod contract;
mod deletion;
mod deliveries;
mod distributed;
mod domain_list;
mod domain_verification;
mod errors;
mod explain;
mod forms;
mod inputs;
mod links;
mod load_limits;
mod loads;
mod mail;
mod manifest;
mod notices;
mod numbers;
mod pages;
mod pastes;
mod paths;
mod plans;
mod privacy;
mod private_files;
mod processes;
mod range;
mod rates;
mod resume;
mod runs;
mod same_jobs;
mod silent_loads;
mod stealer_logs;
mod stop;
mod subscription;
mod test_accounts;
mod transport;
mod visibility;
