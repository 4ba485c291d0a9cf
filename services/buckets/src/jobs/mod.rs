//! Jobs for operators, such as loading, removing, rebuilding and verifying.

mod alerts;
mod attended;
mod audit;
mod context;
mod crawls;
mod dry_run;
mod erasure;
mod error;
mod export;
mod formats;
mod intake;
mod intake_abandoned;
mod intake_pages;
mod intake_rejected;
mod intake_removals;
mod intake_state;
mod inventory;
mod known_buckets;
mod load;
mod loader;
mod max_errors;
mod options;
mod overlaps;
mod progress;
mod ranked_ids;
mod reasons;
mod rebuild;
mod reject_file;
mod rejected_names;
mod remote;
mod remove;
mod report;
mod source_paths;
mod sources;
mod status;
mod stored_listing;
mod verdict;
mod verify;
mod write_session;

pub use alerts::judge_missed;
pub use audit::{
    AuditAddress, AuditOptions, AuditReport, AuditState, BucketAudit, Endpoint, InvalidLine,
    addresses_of, audit,
};
pub use context::JobContext;
pub use crawls::{
    Crawl, CrawlOptions, CrawlOutcome, CrawlRequest, KeyLimits, add_crawls, crawl_next,
    list_crawls, pause_crawl, remove_crawl, run_crawls,
};
pub use dry_run::dry_run;
pub use erasure::erase_removed;
pub use error::JobError;
pub use export::export;
pub use formats::{Bad, Defaults, Format, Item, Sink, Skipped, Taken, UnknownFormat, read};
pub use load::{load, resume, resume_accepting_removals};
pub use max_errors::MaxErrors;
pub use options::{CheckpointPolicy, LoadOptions};
pub use reasons::terminal_safe;
pub use rebuild::{rebuild, rebuild_from};
pub use remote::RemoteOptions;
pub use remove::{remove, unremove};
pub use report::{Report, Tally};
pub use source_paths::sources_of;
pub use sources::Source;
pub use status::status;
pub use verify::verify;
pub use write_session::Session;
