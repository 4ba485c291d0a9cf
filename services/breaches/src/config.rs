//! Settings of this service beside the shared ones.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use domain::DomainName;
use shell::Switch;

/// Settings of breach lookup.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Breaches")]
pub struct Settings {
    /// Bytes of the SQLite file that are mapped into memory
    #[arg(long, env, global = true, default_value_t = 268_435_456, value_name = "BYTES")]
    pub sqlite_mmap: u64,
    /// Headers that may carry the key, as a comma list; messages quote the first
    #[arg(
        long,
        env,
        global = true,
        value_delimiter = ',',
        default_value = "breach-api-key",
        value_name = "NAMES"
    )]
    pub api_key_headers: Vec<String>,
    /// Whether a well-formed key that is not on file may ask for the test accounts
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub test_keys: Switch,
    /// Requests with test keys per minute and client address
    #[arg(long, env, global = true, default_value_t = 600, value_name = "N")]
    pub test_keys_rpm: u32,
    /// Domain of the test accounts
    #[arg(long, env, global = true, default_value = "breach-integration-tests.example", value_parser = domain, value_name = "DOMAIN")]
    pub test_email_domain: DomainName,
    /// Whether a new database gets the test accounts
    #[arg(long, env, global = true, default_value_t = true, action = clap::ArgAction::Set, value_parser = BoolishValueParser::new(), value_name = "BOOLEAN")]
    pub seed_test_data: bool,
    /// Price of a range request in searches, for plans that name none; a flag before the
    /// subcommand, because `plans set` has a flag of the same name
    #[arg(long, env, default_value_t = 1, value_name = "TOKENS")]
    pub kanon_cost: u32,
    /// Requests without a key per minute and client address; 0 means any number
    #[arg(long, env, global = true, default_value_t = 0, value_name = "N")]
    pub keyless_rpm_per_ip: u32,
    /// Replicas that share the load: each refills its buckets by that share
    #[arg(long, env, global = true, default_value_t = 1, value_name = "N")]
    pub rate_replicas: u32,
    /// Milliseconds between looks at the versions of catalogue and opt-outs
    #[arg(long, env, global = true, default_value_t = 5_000, value_name = "MS")]
    pub catalogue_poll_ms: u64,
    /// Opt-outs held in memory; more are looked up in the database
    #[arg(long, env, global = true, default_value_t = 10_000_000, value_name = "HASHES")]
    pub optout_memory_max: i64,
    /// Memory that a load may take, in MiB
    #[arg(long, env, global = true, default_value_t = 256, value_name = "MIB")]
    pub load_memory_mb: usize,
    /// Folder of a load's temporary files [default: the system's]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub load_tmp: Option<PathBuf>,
}

fn domain(text: &str) -> Result<DomainName, String> {
    DomainName::parse(text).map_err(|error| error.to_string())
}

impl Settings {
    /// The defaults, for tests.
    pub fn for_tests() -> Self {
        Self { catalogue_poll_ms: 20, ..shell::defaults() }
    }

    /// The name of the key header that messages quote.
    pub fn key_header(&self) -> &str {
        self.api_key_headers.first().map_or("breach-api-key", String::as_str)
    }

    /// The folder of temporary files.
    pub fn temporary_folder(&self) -> PathBuf {
        self.load_tmp.clone().unwrap_or_else(std::env::temp_dir)
    }
}
