//! Loads: the catalogue, addresses of breaches, stealer logs and pastes.

mod accounts;
mod adaptive_batch;
pub(super) mod address_links;
mod address_reader;
mod csv_columns;
mod csv_records;
mod decoding;
mod domain_ids;
mod dry_run;
pub(super) mod excluded;
mod finish;
mod import_catalogue;
mod input;
mod linker;
pub(super) mod missing_column;
mod pair_columns;
mod pastes;
mod read_accounts;
mod sanity_check;
mod skip_reason;
pub(super) mod sorted_text;
mod sources;
mod stealer_logs;
pub(super) mod tally;
mod walk;

pub use accounts::{AccountsOptions, load_accounts};
pub use address_reader::{Format, read as read_addresses};
pub use decoding::{TextEncoding, text as decoded};
pub use dry_run::{Forecast, forecast};
pub use import_catalogue::{ImportOptions, ImportReport, import_catalogue, read_catalogue};
pub use input::open as open_input;
pub use linker::Linker;
pub use pastes::{PastesOptions, load_pastes, read as read_paste};
pub use skip_reason::SkipReason;
pub use stealer_logs::{StealerLogsOptions, load_stealer_logs, read as read_logins};
pub use tally::Outcome;
