//! Options of crawls.

use std::time::Duration;

use crate::engine::RemovalLimit;
use crate::jobs::remote::RemoteOptions;
use crate::model::CrawlLists;

/// Options that determine how crawls run.
#[derive(Clone, Debug)]
pub struct CrawlOptions {
    /// Options for listing buckets.
    pub remote: RemoteOptions,
    /// The limit on removed files; `None` if `--accept-removals` was given.
    pub removal_limit: Option<RemovalLimit>,
    /// Seconds without a heartbeat after which another process takes over a crawl.
    pub lease_seconds: u64,
    /// The buckets that may be crawled.
    pub lists: CrawlLists,
    /// Limits of the crawls of keys.
    pub of_keys: KeyLimits,
}

/// Limits of the crawls of keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyLimits {
    /// Time after which other crawls have their turn.
    pub turn: Duration,
    /// Maximum stored bytes of a listing, compressed.
    pub bytes: i64,
    /// Whether they may reach private addresses, for tests on loopback. The command line never sets it.
    pub allows_private: bool,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self { turn: Duration::from_secs(300), bytes: 4 << 30, allows_private: false }
    }
}
