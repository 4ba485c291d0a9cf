//! One test binary: a file per resource, a real server on its own database for each test.

mod app;
mod breached_account;
mod catalogue;
mod errors;
