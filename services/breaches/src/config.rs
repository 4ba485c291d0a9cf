//! Settings specific to this service. The shared ones are in the shell.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use domain::DomainName;
use shell::Switch;

/// Settings of breach lookup.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Breaches")]
pub struct Settings {
    /// Number of bytes of the SQLite file to memory-map, 0 to 2^46
    #[arg(long, env, global = true, default_value_t = 268_435_456, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..=1 << 46))]
    pub sqlite_mmap: u64,
    /// Comma-separated request headers that can carry the API key. Error messages mention the first
    /// one
    #[arg(
        long,
        env,
        global = true,
        value_delimiter = ',',
        default_value = "breach-api-key",
        value_parser = header_name,
        value_name = "NAMES"
    )]
    pub api_key_headers: Vec<String>,
    /// Let any well-formed unknown key access the test accounts
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub test_keys: Switch,
    /// Maximum requests per minute and client address with test keys, 1 to 1000000000
    #[arg(long, env, global = true, default_value_t = 600, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub test_keys_rpm: u32,
    /// Domain of the test accounts
    #[arg(long, env, global = true, default_value = "breach-integration-tests.example", value_parser = domain, value_name = "DOMAIN")]
    pub test_email_domain: DomainName,
    /// Add the test accounts to a new database
    #[arg(long, env, global = true, default_value_t = true, action = clap::ArgAction::Set, value_parser = BoolishValueParser::new(), value_name = "BOOLEAN")]
    pub seed_test_data: bool,
    /// Cost of a range request in searches, 1 to 1000, for plans that do not set their own. Place
    /// this option before the subcommand, because `plans set` has an option of the same name
    #[arg(long, env, default_value_t = 1, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub kanon_cost: u32,
    /// Maximum requests per minute and client address without a key, 0 to 1000000000; 0 means
    /// unlimited
    #[arg(long, env, global = true, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000_000))]
    pub keyless_rpm_per_ip: u32,
    /// Number of replicas that share the traffic, 1 to 10000. Each replica refills quotas at an
    /// equal share of the rate
    #[arg(long, env, global = true, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rate_replicas: u32,
    /// Milliseconds between checks for changes to the catalogue and opt-outs, 10 to 3600000
    #[arg(long, env, global = true, default_value_t = 5_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    pub catalogue_poll_ms: u64,
    /// Maximum number of opt-outs to keep in memory, 0 to 1000000000. If there are more, the
    /// database is queried
    #[arg(long, env, global = true, default_value_t = 10_000_000, value_name = "HASHES", value_parser = clap::value_parser!(i64).range(0..=1_000_000_000))]
    pub optout_memory_max: i64,
    /// Memory limit for loads, 1 to 1048576 MiB
    #[arg(long, env, global = true, default_value_t = 256, value_name = "MIB", value_parser = memory)]
    pub load_memory_mb: usize,
    /// Folder for temporary files of loads [default: the system's temporary folder]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub load_tmp: Option<PathBuf>,
    /// Run maintenance on this replica: count domains after loads, and create and deliver notices
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub maintenance: Switch,
    #[command(flatten)]
    pub verification: VerificationSettings,
    #[command(flatten)]
    pub mail: MailSettings,
}

/// Parses a header name. Surrounding whitespace is ignored.
fn header_name(text: &str) -> Result<String, String> {
    let name = text.trim().to_ascii_lowercase();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("must be header names, separated by commas".to_owned());
    }
    Ok(name)
}

fn memory(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(mib @ 1..=1_048_576) => Ok(mib),
        _ => Err("must be a number from 1 to 1048576".to_owned()),
    }
}

fn domain(text: &str) -> Result<DomainName, String> {
    DomainName::parse(text).map_err(|error| error.to_string())
}

impl Settings {
    /// Returns the default settings for tests.
    pub fn for_tests() -> Self {
        Self { catalogue_poll_ms: 20, maintenance: Switch::Off, ..shell::defaults() }
    }

    /// Returns the key header to mention in error messages.
    pub fn key_header(&self) -> &str {
        self.api_key_headers.first().map_or("breach-api-key", String::as_str)
    }

    /// Returns the folder for temporary files.
    pub fn temporary_folder(&self) -> PathBuf {
        self.load_tmp.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// Settings for outgoing email.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Mail")]
pub struct MailSettings {
    /// URL of the mail server: smtps://user:password@host or smtp://host:587?tls=required [default:
    /// none; emails are written to MAIL_DIR]
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub smtp_url: Option<String>,
    /// Sender address of emails [default: no-reply at the host of PUBLIC_URL]
    #[arg(long, env, global = true, value_name = "ADDRESS")]
    pub mail_from: Option<String>,
    /// Folder where outgoing emails are written if SMTP_URL is not set [default: DATA_DIR/mail]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub mail_dir: Option<PathBuf>,
}

impl MailSettings {
    /// Returns the From address of outgoing emails. `public_url` is the service's own URL.
    pub fn sender(&self, public_url: &str) -> String {
        let host =
            url::Url::parse(public_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let default = || format!("no-reply@{}", host.as_deref().unwrap_or("localhost"));
        self.mail_from.clone().unwrap_or_else(default)
    }

    /// Returns the folder that emails are written to if there is no mail server.
    pub fn folder(&self, data_dir: &Path) -> PathBuf {
        self.mail_dir.clone().unwrap_or_else(|| data_dir.join("mail"))
    }
}

/// How control of domains is verified.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Domain verification")]
pub struct VerificationSettings {
    /// Prefix of verification record and file names, as in PREFIX-verify and
    /// PREFIX-verification.txt; 1 to 32 characters from a-z, 0-9 and -
    #[arg(long, env, global = true, default_value = "breach", value_parser = verify_prefix, value_name = "PREFIX")]
    pub verify_prefix: String,
    /// File with domains that cannot be verified, one per line [default: built-in list of email
    /// providers and public suffixes]
    #[arg(long, env, global = true, value_name = "FILE")]
    pub verify_deny: Option<PathBuf>,
    /// Allow websites and webhooks at private IP addresses and on any port
    #[arg(long, env, global = true, default_value_t = false, action = clap::ArgAction::Set, value_parser = BoolishValueParser::new(), value_name = "BOOLEAN")]
    pub verify_allow_private: bool,
    /// DNS resolver to use [default: the system's resolver]
    #[arg(long, env, global = true, value_name = "ADDRESS:PORT", value_parser = resolver)]
    pub dns_resolver: Option<SocketAddr>,
}

fn resolver(text: &str) -> Result<SocketAddr, String> {
    let example = "must be an IP address and a port, as in DNS_RESOLVER=192.0.2.53:53";
    text.parse().map_err(|_| example.to_owned())
}

fn verify_prefix(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match (1..=32).contains(&text.len()) && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("must be 1 to 32 characters of a-z, 0-9 and -".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Program {
        #[command(flatten)]
        database: database::DatabaseSettings,
        #[command(flatten)]
        settings: Settings,
    }

    fn parse(flag: &str) -> Result<Settings, clap::Error> {
        let parsed: Result<Program, _> = clap::Parser::try_parse_from(["x", flag]);
        parsed.map(|program| program.settings)
    }

    #[test]
    fn key_headers_are_parsed_with_and_without_blanks() {
        let headers = parse("--api-key-headers= breach-api-key, HIBP-Api-Key ").unwrap();
        assert_eq!(headers.api_key_headers, ["breach-api-key", "hibp-api-key"]);
        for wrong in ["", " ", "a,,b", "a,", "a b", "a:b", "\u{fc}"] {
            assert!(parse(&format!("--api-key-headers={wrong}")).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn resolver_without_a_port_is_refused_with_an_example() {
        let parsed = parse("--dns-resolver=[2001:db8::53]:53").unwrap();
        assert_eq!(parsed.verification.dns_resolver.unwrap().port(), 53);
        for wrong in ["192.0.2.53", "dns.example:53", "2001:db8::53"] {
            let error = parse(&format!("--dns-resolver={wrong}")).unwrap_err().to_string();
            assert!(error.contains("as in DNS_RESOLVER=192.0.2.53:53"), "{error}");
        }
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        for flag in [
            "--kanon-cost=0",
            "--kanon-cost=-1",
            "--kanon-cost=1001",
            "--kanon-cost=",
            "--catalogue-poll-ms=0",
            "--catalogue-poll-ms=3600001",
            "--rate-replicas=0",
            "--rate-replicas=",
            "--test-keys-rpm=0",
            "--keyless-rpm-per-ip=-1",
            "--optout-memory-max=-1",
            "--load-memory-mb=0",
            "--load-memory-mb=-1",
            "--load-memory-mb=",
            "--load-tmp=",
            "--sqlite-mmap=-1",
            "--test-email-domain=",
            "--db-pool=0",
            "--db-pool=1001",
            "--db-wait-ms=0",
        ] {
            assert!(parse(flag).is_err(), "{flag}");
        }
        for flag in ["--kanon-cost=1000", "--catalogue-poll-ms=10", "--load-memory-mb=1"] {
            assert!(parse(flag).is_ok(), "{flag}");
        }
    }
}
