//! Lists public buckets repeatedly.
//!
//! A process claims a crawl, stores each page of its listing in the database, and publishes the
//! pages once the listing has ended. As a result, a kill costs only one page, another process can
//! take over, and other loads do not disturb a listing.

mod held_crawl;
mod list;
mod manage;
mod options;
mod publish;
mod run;

pub use crate::store::crawls::Crawl;
pub use manage::{CrawlRequest, add_crawls, list_crawls, pause_crawl, remove_crawl};
pub use options::{CrawlOptions, KeyLimits};
pub use run::{CrawlOutcome, crawl_next, run_crawls};
