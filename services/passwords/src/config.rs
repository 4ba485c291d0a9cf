//! The service's settings.

use shell::Switch;

use crate::model::Kind;

/// The settings of this service, in addition to those of the shell.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ranges")]
pub struct Settings {
    /// Kinds to serve; those that have a corpus are loaded
    #[arg(long, env, global = true, value_delimiter = ',', default_value = "sha1,ntlm")]
    pub kinds: Vec<Kind>,
    /// How long responses without padding may be cached, 0 to 31536000 seconds
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 2_678_400, value_parser = clap::value_parser!(u32).range(..=31_536_000))]
    pub max_age: u32,
    /// Whether answers are compressed for clients that take gzip
    #[arg(long, env, global = true, value_enum, default_value = "on")]
    pub gzip: Switch,
    /// Corpora up to this size are held in memory, 0 to 1048576 MiB; 0 reads always from disk
    #[arg(long, env, global = true, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(..=1_048_576))]
    pub in_memory_limit_mb: u64,
    /// Whether requests without a user agent are refused
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub require_user_agent: Switch,
    /// Whether each bucket is compared with its digest before it is served
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub verify_on_read: Switch,
    /// Seconds between checks for a newly activated corpus, 0 to 86400; 0 checks on SIGHUP only
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub reload_interval: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kinds: Kind::ALL.to_vec(),
            max_age: 2_678_400,
            gzip: Switch::On,
            in_memory_limit_mb: 1024,
            require_user_agent: Switch::Off,
            verify_on_read: Switch::Off,
            reload_interval: 30,
        }
    }
}
