//! Crawl options.

use std::time::Duration;

use crate::engine::RemovalLimit;
use crate::jobs::remote::RemoteOptions;
use crate::model::CrawlLists;

/// How to run crawls.
#[derive(Clone, Debug)]
pub struct CrawlOptions {
    /// How to list buckets.
    pub remote: RemoteOptions,
    /// Limit on removed files, or `None` with `--accept-removals`.
    pub removal_limit: Option<RemovalLimit>,
    /// Number of seconds without a heartbeat before another process takes over a crawl.
    pub lease_seconds: u64,
    /// The buckets that we are allowed to crawl.
    pub lists: CrawlLists,
    /// Maximum compressed size of an operator's stored listing, in bytes.
    pub listing_bytes: i64,
    /// After this time, an operator's crawl yields to other crawls that are due. `None` for
    /// `crawl run`.
    pub turn: Option<Duration>,
    /// Limits for crawls that belong to a key.
    pub of_keys: KeyLimits,
}

impl CrawlOptions {
    /// Default for `listing_bytes`. The largest listings, with 100 million files, take a few GiB.
    pub const LISTING_BYTES: i64 = 64 << 30;

    /// Returns the time after which a crawl yields to others.
    pub(super) fn turn(&self, is_of_key: bool) -> Option<Duration> {
        if is_of_key { Some(self.of_keys.turn) } else { self.turn }
    }
}

/// Limits for crawls that belong to a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyLimits {
    /// After this time, a crawl yields to others.
    pub turn: Duration,
    /// Maximum total compressed size of a key's stored listings, in bytes.
    pub bytes: i64,
    /// Maximum number of files in a listing.
    pub files: u64,
    /// Whether private addresses are allowed. Tests need this for loopback; the command line never
    /// sets it.
    pub allows_private: bool,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self {
            turn: Duration::from_secs(300),
            bytes: 4 << 30,
            files: 10_000_000,
            allows_private: false,
        }
    }
}
