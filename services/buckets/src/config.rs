//! Settings specific to this service.

use std::path::{Path, PathBuf};

use clap::builder::RangedU64ValueParser;
use outbound::Reach;
use shell::Switch;

use crate::model::{BucketPattern, CrawlLists};

/// The engine that stores the file index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Store the index as files in INDEX_DIR
    Embedded,
    /// Store the index in the ClickHouse cluster at CLUSTER_URL
    Cluster,
}

impl Engine {
    /// Name in settings and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Cluster => "cluster",
        }
    }
}

/// Settings of bucket search.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Buckets")]
pub struct Settings {
    /// Storage engine for the file index
    #[arg(long, env, global = true, value_enum, default_value_t = Engine::Embedded)]
    pub engine: Engine,
    /// URL of the ClickHouse HTTP interface, including user and password
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub cluster_url: Option<String>,
    /// Name of the ClickHouse cluster for the distributed table [default: a single server]
    #[arg(long, env, global = true, value_name = "NAME")]
    pub cluster_name: Option<String>,
    /// Folder for the file index of the embedded engine [default: DATA_DIR/index]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub index_dir: Option<PathBuf>,
    /// Search timeout in seconds, 1 to 3600
    #[arg(long, env, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub search_timeout: u64,
    /// Maximum number of concurrent regular-expression searches, 1 to 1024
    #[arg(long, env, global = true, default_value_t = cores(), value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub regexp_running: usize,
    /// Maximum number of queued regular-expression searches, 0 to 10000. Further searches get a 503
    #[arg(long, env, global = true, default_value_t = 16, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(..=10_000))]
    pub regexp_waiting: usize,
    /// Maximum number of concurrent downloads, 1 to 1024. Further downloads get a 503
    #[arg(long, env, global = true, default_value_t = 8, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub downloads_running: usize,
    /// Number of files between two checkpoints of a load, 1 to 1000000000
    #[arg(long, env, global = true, default_value_t = 1_000_000, value_name = "FILES", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub checkpoint_files: u64,
    /// Allow alert webhooks at private IP addresses
    #[arg(long, env, global = true, default_value = "off")]
    pub webhook_allow_private: Switch,
    /// Crawl lease in seconds, 2 to 3600. If a process does not renew its lease in time, another
    /// process takes over the crawl
    #[arg(long, env, global = true, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(2..=3_600))]
    pub crawl_lease: u64,
    /// Maximum requests per second to each crawled bucket, 0.001 to 1000
    #[arg(long, env, global = true, default_value_t = 2.0, value_name = "N", value_parser = rate)]
    pub crawl_rate: f64,
    /// Maximum requests per second across all crawled buckets of a provider, 0.001 to 1000
    #[arg(long, env, global = true, default_value_t = 10.0, value_name = "N", value_parser = rate)]
    pub crawl_provider_rate: f64,
    /// Comma-separated buckets that may be crawled: addresses, hosts and *.DOMAIN patterns
    /// [default: all]
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "LIST")]
    pub crawl_allow: Vec<BucketPattern>,
    /// Comma-separated buckets that must not be crawled: addresses, hosts and *.DOMAIN patterns.
    /// Takes precedence over CRAWL_ALLOW
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "LIST")]
    pub crawl_deny: Vec<BucketPattern>,
    /// Seconds before a crawl yields to other crawls, 1 to 86400. `crawl run` only interrupts crawls
    /// of keys
    #[arg(long, env, global = true, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub crawl_key_seconds: u64,
    /// Maximum total size of the compressed listings stored for a key's crawls, 1 to 1048576 MiB
    #[arg(long, env, global = true, default_value_t = 4_096, value_name = "MIB", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub crawl_key_mb: i64,
    /// Maximum number of files in a listing of a key's crawl, 1 to 1000000000. Larger listings are
    /// not published
    #[arg(long, env, global = true, default_value_t = 10_000_000, value_name = "FILES", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub crawl_key_files: u64,
    /// Number of seconds between two checkpoints of a load, 0 to 86400
    #[arg(long, env, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub checkpoint_seconds: u64,
    /// Buckets with more than this number of files are protected against mass removal, 0 to
    /// 1000000000
    #[arg(long, env, global = true, default_value_t = 1_000, value_name = "FILES", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub protected_files: u64,
    /// Percentage of a protected bucket's files that a load may remove, 0 to 100
    #[arg(long, env, global = true, default_value_t = 50, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(..=100))]
    pub protected_percent: u64,
    /// Milliseconds between checks for a newly published index, 1 to 3600000
    #[arg(long, env, global = true, default_value_t = 1_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub reload_ms: u64,
    /// Memory limit for loads, 32 to 1048576 MiB
    #[arg(long, env, global = true, default_value_t = 512, value_name = "MIB", value_parser = RangedU64ValueParser::<usize>::new().range(32..=1_048_576))]
    pub load_memory_mb: usize,
}

/// Parses a request rate, in requests per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=1_000.0).contains(rate));
    rate.ok_or_else(|| "must be a number from 0.001 to 1000".to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Settings {
    /// Returns the addresses that webhooks may connect to.
    pub fn webhook_reach(&self) -> Reach {
        if self.webhook_allow_private.is_on() { Reach::anywhere() } else { Reach::public() }
    }

    /// Returns the lists of buckets that we are allowed to crawl.
    pub fn crawl_lists(&self) -> CrawlLists {
        CrawlLists { allow: self.crawl_allow.clone(), deny: self.crawl_deny.clone() }
    }

    /// Returns the index folder, which defaults to a subfolder of `data_dir`.
    pub fn index_dir(&self, data_dir: &Path) -> PathBuf {
        self.index_dir.clone().unwrap_or_else(|| data_dir.join("index"))
    }

    /// Default settings for tests, with frequent reloads.
    pub fn for_tests() -> Self {
        Self { reload_ms: 20, load_memory_mb: 64, ..shell::defaults() }
    }
}
