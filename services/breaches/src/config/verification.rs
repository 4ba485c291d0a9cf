//! Settings of domain verification.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;

/// How control of domains is verified.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Domain verification")]
pub struct VerificationSettings {
    /// Prefix in the names of proofs: PREFIX-verify, PREFIX-verification.txt; 1 to 32 of a-z, 0-9,
    /// -
    #[arg(long, env, global = true, default_value = "breach", value_parser = prefix, value_name = "PREFIX")]
    pub verify_prefix: String,
    /// File with domains that cannot be verified, one a line [default: mail providers and public
    /// suffixes]
    #[arg(long, env, global = true, value_name = "FILE")]
    pub verify_deny: Option<PathBuf>,
    /// Whether websites and webhooks may be at private addresses, and at any port
    #[arg(long, env, global = true, default_value_t = false, action = clap::ArgAction::Set, value_parser = BoolishValueParser::new(), value_name = "BOOLEAN")]
    pub verify_allow_private: bool,
    /// Resolver of domain names [default: the system's]
    #[arg(long, env, global = true, value_name = "ADDRESS:PORT")]
    pub dns_resolver: Option<SocketAddr>,
}

fn prefix(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match (1..=32).contains(&text.len()) && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("must be 1 to 32 characters of a-z, 0-9 and -".to_owned()),
    }
}
