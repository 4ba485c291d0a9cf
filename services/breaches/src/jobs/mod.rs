//! Long work: imports, loads, purges, test data.

mod adaptive_batch;
mod address_links;
mod address_reader;
mod caution;
mod clean;
mod context;
mod csv_columns;
mod csv_records;
mod decoding;
mod doctor;
mod domain_ids;
mod dry_run;
mod error;
mod excluded;
mod fingerprint;
mod heartbeat;
mod import_catalogue;
mod input;
mod linker;
mod load;
mod load_accounts;
mod load_pastes;
mod load_stealer_logs;
mod maintenance;
mod missing_column;
mod patience;
mod purge;
mod read_accounts;
mod run_maintenance;
mod seed;
mod silence;
mod skip_reason;
mod sorted_text;
mod sources;
mod tally;
mod walk;

pub use address_reader::{Format, read as read_addresses};
pub use clean::{Cleaned, clean};
pub use context::JobContext;
pub use decoding::{TextEncoding, text as decoded};
pub use doctor::{Findings, examine};
pub use dry_run::{Forecast, forecast};
pub use error::JobError;
pub use import_catalogue::{ImportOptions, ImportReport, import_catalogue, read_catalogue};
pub use input::open as open_input;
pub use linker::Linker;
pub use load_accounts::{AccountsOptions, load_accounts};
pub use load_pastes::{PastesOptions, load_pastes, read as read_paste};
pub use load_stealer_logs::{StealerLogsOptions, load_stealer_logs, read as read_logins};
pub use maintenance::{
    deliver_due, deliver_mails, deliver_webhooks, maintain, recount_domains, tell_listeners,
};
pub use purge::retire;
pub use seed::{first_start, remove_test, seed_test};
pub use skip_reason::SkipReason;
pub use tally::Outcome;
