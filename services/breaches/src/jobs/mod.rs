//! Long work: imports, loads, purges, test data.

mod adaptive_batch;
mod address_reader;
mod context;
mod csv_records;
mod doctor;
mod domain_ids;
mod error;
mod fingerprint;
mod import_catalogue;
mod input;
mod load;
mod load_accounts;
mod load_pastes;
mod load_stealer_logs;
mod purge;
mod seed;
mod skip_reason;

pub use address_reader::Format;
pub use context::JobContext;
pub use doctor::{Findings, examine};
pub use error::JobError;
pub use import_catalogue::{ImportOptions, ImportReport, import_catalogue, read_catalogue};
pub use input::open as open_input;
pub use load::Outcome;
pub use load_accounts::{AccountsOptions, Linker, load_accounts};
pub use load_pastes::{PastesOptions, load_pastes};
pub use load_stealer_logs::{StealerLogsOptions, load_stealer_logs};
pub use purge::retire;
pub use seed::{first_start, remove_test, seed_test};
pub use skip_reason::SkipReason;
