//! Long-running work: loads, maintenance, notices, and test data.

mod context;
mod error;
mod heartbeat;
mod job;
mod load;
mod maintenance;
mod notices;
mod retry;
mod seed;

pub use context::JobContext;
pub use error::JobError;
pub use load::*;
pub use maintenance::{
    Cleaned, Findings, MonthlyMails, Pass, Remains, clean, count_new_domains, examine,
    find_remains, index_domains, maintain, measure_accounts, measure_queues, measure_regularly,
    recount_domains, resume_index, resume_purge, retire, watch_cluster, write_monthly_mails,
};
pub use notices::{deliver_due, deliver_mails, deliver_webhooks, notify_listeners};
pub use seed::{first_start, remove_test, seed_test};
