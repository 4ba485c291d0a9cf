//! Long work: imports, loads, purges, test data.

mod adaptive_batch;
pub mod addresses;
mod context;
mod csv_records;
pub mod doctor;
mod domain_ids;
mod error;
mod fingerprint;
pub mod import_catalogue;
pub mod input;
mod lines;
pub mod load;
pub mod load_accounts;
pub mod load_pastes;
pub mod load_stealer_logs;
mod progress;
pub mod purge;
pub mod seed;
mod sorter;

pub use context::JobContext;
pub use error::JobError;
