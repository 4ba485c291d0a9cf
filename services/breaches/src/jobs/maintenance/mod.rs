//! Checks, repairs, and background work on stored data.

mod background;
mod clean;
mod cluster_watch;
pub(super) mod compaction;
mod doctor;
mod domain_counts;
pub(super) mod domain_index;
mod leased_round;
mod measurements;
mod monthly_reports;
mod purge;
mod removal_check;

pub use background::maintain;
pub use clean::{Cleaned, clean};
pub use cluster_watch::watch_cluster;
pub use doctor::{Findings, examine};
pub use domain_counts::{count_new_domains, recount_domains};
pub use domain_index::{index_domains, resume_index};
pub use measurements::{measure_accounts, measure_queues, measure_regularly};
pub use monthly_reports::{MonthlyMails, Pass, write_monthly_mails};
pub use purge::{resume_purge, retire};
pub use removal_check::{Remains, find_remains};
