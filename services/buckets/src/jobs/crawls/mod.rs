//! Lists public buckets at regular intervals.
//!
//! A process claims a crawl, stores the pages of its listing in the database, and publishes them
//! when the listing is complete. If it is killed, only one page is lost and another process can
//! take over. Other loads can run during a listing.

mod etags;
mod held_crawl;
mod list;
mod manage;
mod options;
mod publish;
mod removed_names;
mod run;

pub use crate::store::crawls::Crawl;
pub use manage::{CrawlRequest, add_crawls, list_crawls, pause_crawl, remove_crawl};
pub use options::{CrawlOptions, KeyLimits};
pub use run::{CrawlOutcome, crawl_next, run_crawls};
