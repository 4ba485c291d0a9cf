//! Settings specific to this service.

use shell::Switch;

/// Limits for callers.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Callers")]
pub struct Settings {
    /// Accept requests without a key. If `off`, they get 401
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub anonymous: Switch,
    /// Maximum requests per minute for each client address without a valid key; 0 disables the
    /// limit
    #[arg(long, env, global = true, value_name = "N", default_value_t = 60)]
    pub anonymous_rpm: u32,
    /// Number of requests that a client address without a valid key can send at once, at least 1
    #[arg(long, env, global = true, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub anonymous_burst: u32,
    /// Maximum concurrent long responses for each client address without a key, at least 1
    #[arg(long, env, global = true, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub anonymous_streams: u32,
    /// Maximum concurrent long responses for each key, at least 1
    #[arg(long, env, global = true, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub key_streams: u32,
    /// Seconds after which a long response is aborted if the client stops reading, or reads so
    /// slowly that its system accepts nothing in this time, 1 to 3600. The lower of this setting
    /// and WRITE_TIMEOUT applies
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub stream_idle_timeout: u64,
    /// Maximum duration of a long response in seconds; 0 disables the limit
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 0)]
    pub stream_max_time: u64,
}

impl Default for Settings {
    /// Returns the command line defaults.
    fn default() -> Self {
        shell::defaults()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        settings: Settings,
    }

    #[test]
    fn numbers_out_of_their_range_are_refused() {
        let parsed = |flag: &str| Program::try_parse_from(["generator", flag]);
        assert_eq!(parsed("--anonymous-burst=1").unwrap().settings.anonymous_burst, 1);
        for flag in [
            "--anonymous-burst=0",
            "--anonymous-burst=-1",
            "--anonymous-rpm=-1",
            "--anonymous-streams=0",
            "--key-streams=0",
            "--stream-idle-timeout=0",
        ] {
            assert!(parsed(flag).is_err(), "{flag}");
        }
    }
}
