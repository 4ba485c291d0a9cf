//! Settings specific to this service.

use shell::Switch;

/// Limits for callers.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Callers")]
pub struct Settings {
    /// Answer requests without a key
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub anonymous: Switch,
    /// Requests per minute for an address without a key, 0 for no limit; also applies to rejected
    /// keys
    #[arg(long, env, global = true, value_name = "N", default_value_t = 60)]
    pub anonymous_rpm: u32,
    /// Burst for an address without a key, 1 or more
    #[arg(long, env, global = true, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub anonymous_burst: u32,
    /// Concurrent long texts for an address without a key, 1 or more
    #[arg(long, env, global = true, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub anonymous_streams: u32,
    /// Concurrent long texts for a key, 1 or more
    #[arg(long, env, global = true, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub key_streams: u32,
    /// Seconds without progress after which a long text is cut off, 1 to 3600; WRITE_TIMEOUT also
    /// applies
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub stream_idle_timeout: u64,
    /// Maximum seconds for a long text, 0 for no limit
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 0)]
    pub stream_max_time: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            anonymous: Switch::On,
            anonymous_rpm: 60,
            anonymous_burst: 30,
            anonymous_streams: 2,
            key_streams: 8,
            stream_idle_timeout: 60,
            stream_max_time: 0,
        }
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
