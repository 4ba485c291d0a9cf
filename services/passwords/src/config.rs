//! The service's settings.

use shell::Switch;

use crate::model::Kind;

/// This service's settings, in addition to the shell's.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ranges")]
pub struct Settings {
    /// Comma-separated hash kinds to serve: sha1, ntlm. Requests for a kind without an active
    /// corpus get a 503
    #[arg(long, env, global = true, value_delimiter = ',', default_value = "sha1,ntlm")]
    pub kinds: Vec<Kind>,
    /// Cache lifetime of unpadded responses in seconds, 0 to 31536000
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 2_678_400, value_parser = clap::value_parser!(u32).range(..=31_536_000))]
    pub max_age: u32,
    /// Compress responses for clients that accept gzip
    #[arg(long, env, global = true, value_enum, default_value = "on")]
    pub gzip: Switch,
    /// Size limit for corpora that are kept in memory, 0 to 1048576 MiB. Larger corpora are read
    /// from disk; 0 disables in-memory corpora
    #[arg(long, env, global = true, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(..=1_048_576))]
    pub in_memory_limit_mb: u64,
    /// Reject requests without a User-Agent header
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub require_user_agent: Switch,
    /// Verify the checksum of each bucket before serving it
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub verify_on_read: Switch,
    /// Seconds between checks for a newly activated corpus, 0 to 86400. 0 disables the checks; use
    /// SIGHUP instead
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub reload_interval: u64,
}

impl Default for Settings {
    /// Returns the command line defaults.
    fn default() -> Self {
        shell::defaults()
    }
}
