//! Settings specific to this service.

use std::path::{Path, PathBuf};

use clap::builder::RangedU64ValueParser;
use outbound::Reach;
use shell::Switch;

use crate::model::{BucketPattern, CrawlLists};

/// The engine that stores the file index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Files in INDEX_DIR
    Embedded,
    /// ClickHouse at CLUSTER_URL
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
    /// Engine that stores the file index
    #[arg(long, env, global = true, value_enum, default_value_t = Engine::Embedded)]
    pub engine: Engine,
    /// HTTP interface of the cluster, with user and password
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub cluster_url: Option<String>,
    /// Cluster of the distributed table [default: one server]
    #[arg(long, env, global = true, value_name = "NAME")]
    pub cluster_name: Option<String>,
    /// Folder of the file index [default: DATA_DIR/index]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub index_dir: Option<PathBuf>,
    /// Seconds after which a search is stopped, 1 to 3600
    #[arg(long, env, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub search_timeout: u64,
    /// Regular-expression searches that run at once, 1 to 1024
    #[arg(long, env, global = true, default_value_t = cores(), value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub regexp_running: usize,
    /// Regular-expression searches that wait, 0 to 10000
    #[arg(long, env, global = true, default_value_t = 16, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(..=10_000))]
    pub regexp_waiting: usize,
    /// Downloads that run at once, 1 to 1024
    #[arg(long, env, global = true, default_value_t = 8, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub downloads_running: usize,
    /// Files between two checkpoints of a load, 1 to 1000000000
    #[arg(long, env, global = true, default_value_t = 1_000_000, value_name = "FILES", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub checkpoint_files: u64,
    /// Permit webhooks of alerts at private addresses
    #[arg(long, env, global = true, default_value = "off")]
    pub webhook_allow_private: Switch,
    /// Seconds without a sign of life after which another process takes over a crawl, 2 to 3600
    #[arg(long, env, global = true, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(2..=3_600))]
    pub crawl_lease: u64,
    /// Requests per second to one bucket that is crawled, 0.001 to 1000
    #[arg(long, env, global = true, default_value_t = 2.0, value_name = "N", value_parser = rate)]
    pub crawl_rate: f64,
    /// Requests per second to all crawled buckets of one provider, 0.001 to 1000
    #[arg(long, env, global = true, default_value_t = 10.0, value_name = "N", value_parser = rate)]
    pub crawl_provider_rate: f64,
    /// Crawl only these buckets: addresses, hosts and *.DOMAIN, separated by commas [default: all]
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "LIST")]
    pub crawl_allow: Vec<BucketPattern>,
    /// Do not crawl these buckets: addresses, hosts and *.DOMAIN, separated by commas
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "LIST")]
    pub crawl_deny: Vec<BucketPattern>,
    /// Seconds after which the crawl of a key waits for other crawls, 1 to 86400
    #[arg(long, env, global = true, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub crawl_key_seconds: u64,
    /// Largest stored listing of a key's crawl, compressed, 1 to 1048576 MiB
    #[arg(long, env, global = true, default_value_t = 4_096, value_name = "MIB", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub crawl_key_mb: i64,
    /// Seconds between two checkpoints of a load, 0 to 86400
    #[arg(long, env, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub checkpoint_seconds: u64,
    /// Files above which a bucket is protected against loads that remove most of them, 0 to 1000000000
    #[arg(long, env, global = true, default_value_t = 1_000, value_name = "FILES", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub protected_files: u64,
    /// Percentage of the files of a protected bucket that a load may remove, 0 to 100
    #[arg(long, env, global = true, default_value_t = 50, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(..=100))]
    pub protected_percent: u64,
    /// Milliseconds between checks for a publish, 1 to 3600000
    #[arg(long, env, global = true, default_value_t = 1_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub reload_ms: u64,
    /// Memory that a load may take, 32 to 1048576 MiB
    #[arg(long, env, global = true, default_value_t = 512, value_name = "MIB", value_parser = RangedU64ValueParser::<usize>::new().range(32..=1_048_576))]
    pub load_memory_mb: usize,
}

/// Parses a request rate, in requests per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=1_000.0).contains(rate));
    rate.ok_or_else(|| "give a number from 0.001 to 1000".to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Settings {
    /// Returns which addresses webhooks may connect to.
    pub fn webhook_reach(&self) -> Reach {
        if self.webhook_allow_private.is_on() { Reach::anywhere() } else { Reach::public() }
    }

    /// Returns which buckets may be crawled.
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
