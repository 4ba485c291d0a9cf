//! Options of crawls.

use crate::engine::RemovalLimit;
use crate::jobs::remote::RemoteOptions;

/// How crawls run.
#[derive(Clone, Debug)]
pub struct CrawlOptions {
    /// Options for listing buckets.
    pub remote: RemoteOptions,
    /// The limit on removed files.
    pub removal_limit: RemovalLimit,
    /// Seconds without a sign of life after which another process takes over a crawl.
    pub lease_seconds: u64,
}
