//! One test binary: a file per resource, a real server on its own database for each test.

mod app;
mod breached_account;
mod breached_domain;
mod catalogue;
mod commands;
mod contract;
mod errors;
mod explain;
mod loads;
mod plans;
mod privacy;
mod range;
mod rates;
mod resume;
mod stealer_logs;
mod subscription;
mod test_accounts;
mod transport;
mod visibility;
